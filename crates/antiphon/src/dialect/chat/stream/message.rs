//! The one message of an answer.

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
}

impl Message {
    /// A piece of its text, or of its refusal.
    pub(super) fn say(&mut self, spoken: Spoken, raw: &str, teller: &mut Teller<'_>) {
        let (index, part) = (self.index(teller), self.part(spoken));
        teller.delta(index, spoken, part, raw);
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
