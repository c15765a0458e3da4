//! The one message of an answer.

use super::logprobs;
use super::teller::Teller;
use crate::json::Object;
use crate::stream::Spoken;

/// The message, as far as it has begun. Its parts are numbered in the order in which they begin:
/// one of text, one of refusal.
///
/// ```text
///   Silent ── text, refusal or annotation ──> Speaking, to the answer's end
/// ```
#[derive(Debug, Default)]
pub(super) struct Message {
    index: Option<u64>,
    output: Option<u64>,
    refusal: Option<u64>,
    annotations: u64,
    /// How likely the pieces of text were that are said next: raw tokens, between commas.
    logprobs: String,
}

impl Message {
    /// A piece of its text, or of its refusal.
    pub(super) fn say(&mut self, spoken: Spoken, raw: &str, teller: &mut Teller<'_>) {
        let (index, part) = (self.index(teller), self.part(spoken));
        if spoken == Spoken::Output && !self.logprobs.is_empty() {
            let logprobs = format!("[{}]", std::mem::take(&mut self.logprobs));
            teller.delta_with_logprobs(index, part, raw, &logprobs);
        } else {
            teller.delta(index, spoken, part, raw);
        }
    }

    /// How likely the pieces of its text were that are said next. Some servers send them ahead, with an
    /// empty piece.
    pub(super) fn hear_logprobs(&mut self, logprobs: &Object<'_>) {
        let tokens = logprobs::in_responses_form(logprobs);
        if !tokens.is_empty() && !self.logprobs.is_empty() {
            self.logprobs.push(',');
        }
        self.logprobs.push_str(&tokens);
    }

    /// A note on its text.
    pub(super) fn annotate(&mut self, annotation: &str, teller: &mut Teller<'_>) {
        let (index, part) = (self.index(teller), self.part(Spoken::Output));
        teller.annotation(index, part, self.annotations, annotation);
        self.annotations += 1;
    }

    fn index(&mut self, teller: &mut Teller<'_>) -> u64 {
        let message = || [("type", r#""message""#), ("role", r#""assistant""#)];
        let begin = || teller.announce(&message().into_iter().collect::<Object<'_>>());
        *self.index.get_or_insert_with(begin)
    }

    fn part(&mut self, spoken: Spoken) -> u64 {
        let begun = u64::from(self.output.is_some()) + u64::from(self.refusal.is_some());
        let part = if spoken == Spoken::Refusal { &mut self.refusal } else { &mut self.output };
        *part.get_or_insert(begun)
    }
}
