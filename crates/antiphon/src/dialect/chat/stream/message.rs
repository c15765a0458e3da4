//! The message of an answer.

use super::item_emitter::ItemEmitter;
use super::text_metadata::convert_logprobs;
use crate::json::Object;
use crate::stream::DeltaKind;

/// The message of an answer. Its parts are numbered in the order in which they begin: one for text,
/// one for refusal.
///
/// ```text
///   Empty ── text, refusal or annotation ──> Open, until the end of the answer
/// ```
#[derive(Debug, Default)]
pub(super) struct Message {
    index: Option<u64>,
    output: Option<u64>,
    refusal: Option<u64>,
    annotations: u64,
    /// Log probabilities of the text that follows: raw tokens, separated by commas.
    logprobs: String,
}

impl Message {
    /// Appends a piece of the text or of the refusal.
    pub(super) fn append(&mut self, spoken: DeltaKind, raw: &str, emitter: &mut ItemEmitter<'_>) {
        let (index, part) = (self.index(emitter), self.part(spoken));
        if spoken == DeltaKind::Output && !self.logprobs.is_empty() {
            let logprobs = format!("[{}]", std::mem::take(&mut self.logprobs));
            emitter.delta_with_logprobs(index, part, raw, &logprobs);
        } else {
            emitter.delta(index, spoken, part, raw);
        }
    }

    /// Adds log probabilities of the text that follows. Some servers send them ahead of the text,
    /// with an empty delta.
    pub(super) fn apply_logprobs(&mut self, logprobs: &Object<'_>) {
        let tokens = convert_logprobs(logprobs);
        if !tokens.is_empty() && !self.logprobs.is_empty() {
            self.logprobs.push(',');
        }
        self.logprobs.push_str(&tokens);
    }

    /// Adds an annotation of the text.
    pub(super) fn annotate(&mut self, annotation: &str, emitter: &mut ItemEmitter<'_>) {
        let (index, part) = (self.index(emitter), self.part(DeltaKind::Output));
        emitter.annotation(index, part, self.annotations, annotation);
        self.annotations += 1;
    }

    fn index(&mut self, emitter: &mut ItemEmitter<'_>) -> u64 {
        let message = || [("type", r#""message""#), ("role", r#""assistant""#)];
        let begin = || emitter.announce(&message().into_iter().collect::<Object<'_>>());
        *self.index.get_or_insert_with(begin)
    }

    fn part(&mut self, spoken: DeltaKind) -> u64 {
        let begun = u64::from(self.output.is_some()) + u64::from(self.refusal.is_some());
        let part = if spoken == DeltaKind::Refusal { &mut self.refusal } else { &mut self.output };
        *part.get_or_insert(begun)
    }
}
