//! Scripted answers and their delivery.

use crate::{Answer, Exchange, Reply};

mod file;

/// A scripted answer and its delivery.
///
/// The provider issues the ids of the answer's items, except those that the answer sets.
#[derive(Clone, Debug)]
pub struct Script {
    pub(crate) play: Play,
    free: Option<usize>,
    head_withheld: bool,
    cut: Option<usize>,
}

/// The content of a scripted answer.
#[derive(Clone, Debug)]
pub(crate) enum Play {
    /// A model's answer: the turn runs normally.
    Answer(Answer),
    /// A reply in place of a turn, for example an error of the provider. Nothing is stored.
    Reply(Reply),
}

impl From<Answer> for Script {
    fn from(answer: Answer) -> Self {
        Self::new(Play::Answer(answer))
    }
}

impl From<Reply> for Script {
    fn from(reply: Reply) -> Self {
        Self::new(Play::Reply(reply))
    }
}

impl Script {
    /// Parses a list of answers, in the order of their use. The JSON is an array; each entry is one
    /// of
    ///
    /// - `{"answer": [ITEM, ...]}`. An item is `{"reasoning": SUMMARY}`, `{"message": TEXT}`,
    ///   `{"refusal": TEXT}`, `{"call": {"name", "arguments", "call_id"}}`,
    ///   `{"custom_call": {"name", "input", "call_id"}}` or `{"item": {...}}`, which is sent
    ///   unchanged. Call ids are optional;
    /// - `{"status": CODE, "body": ...}`: a reply in place of an answer.
    ///
    /// Next to `answer`, an entry may have `"incomplete": true`, `"failed": {"code", "message"}`,
    /// `"stop_after": N`, which withholds every event after the first N, and `"break_after": N`,
    /// which breaks the connection after them.
    pub fn read_all(json: &str) -> Result<Vec<Self>, serde_json::Error> {
        file::read(json)
    }

    /// Withholds every event until the [`Exchange`] releases it.
    #[must_use]
    pub fn gated(self) -> Self {
        self.hang_after(0)
    }

    /// Withholds every event after the first `count` until it is released.
    #[must_use]
    pub fn hang_after(mut self, count: usize) -> Self {
        self.free = Some(count);
        self
    }

    /// Withholds the status and the headers too, until the first release.
    #[must_use]
    pub fn withhold_head(mut self) -> Self {
        self.head_withheld = true;
        self
    }

    /// Breaks the connection after the first `count` events.
    #[must_use]
    pub fn break_after(mut self, count: usize) -> Self {
        self.cut = Some(count);
        self
    }

    fn new(play: Play) -> Self {
        Self { play, free: None, head_withheld: false, cut: None }
    }

    /// Applies the script's delivery options to a reply.
    pub(crate) fn deliver(&self, mut reply: Reply) -> Reply {
        if let Some(count) = self.free {
            reply = reply.hang_after(count);
        }
        if self.head_withheld {
            reply = reply.withhold_head();
        }
        match self.cut {
            Some(count) => reply.break_after(count),
            None => reply,
        }
    }

    /// A handle for the delivery.
    pub(crate) fn exchange(&self) -> Exchange {
        self.deliver(Reply::sse([])).exchange()
    }
}
