//! What the model is to answer, and how that is delivered.

mod file;

use antiphon_testkit::{Answer, Exchange, Reply};

/// One scripted answer, and how much of it is delivered when.
///
/// The ids of the answer's items are the provider's, except where the answer gives one itself.
#[derive(Clone, Debug)]
pub struct Script {
    pub(crate) play: Play,
    free: Option<usize>,
    head_withheld: bool,
    cut: Option<usize>,
}

/// What is answered.
#[derive(Clone, Debug)]
pub(crate) enum Play {
    /// A model's answer: a turn like any other.
    Answer(Answer),
    /// Any reply in place of a turn, as of a provider in trouble: nothing is stored.
    Reply(Reply),
}

impl From<Answer> for Script {
    fn from(answer: Answer) -> Self {
        Self::playing(Play::Answer(answer))
    }
}

impl From<Reply> for Script {
    fn from(reply: Reply) -> Self {
        Self::playing(Play::Reply(reply))
    }
}

impl Script {
    /// Reads a list of answers, to be given in this order: JSON, an array of which each entry is one
    /// of
    ///
    /// - `{"answer": [ITEM, ...]}`, an item being `{"reasoning": SUMMARY}`, `{"message": TEXT}`,
    ///   `{"refusal": TEXT}`, `{"call": {"name", "arguments", "call_id"}}`,
    ///   `{"custom_call": {"name", "input", "call_id"}}` or `{"item": {...}}`, which is given as it
    ///   is; ids of calls may be left out;
    /// - `{"status": CODE, "body": ...}`, any reply in place of an answer.
    ///
    /// Beside `answer` may stand `"incomplete": true`, `"failed": {"code", "message"}`,
    /// `"stop_after": N`, which says no more after so many events of a stream, and
    /// `"break_after": N`, which then breaks the connection.
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

    /// Withholds status and headers too, until the first release.
    #[must_use]
    pub fn withhold_head(mut self) -> Self {
        self.head_withheld = true;
        self
    }

    /// Breaks the connection right after the first `count` events.
    #[must_use]
    pub fn abort_after(mut self, count: usize) -> Self {
        self.cut = Some(count);
        self
    }

    fn playing(play: Play) -> Self {
        Self { play, free: None, head_withheld: false, cut: None }
    }

    /// The reply, delivered as this script has it.
    pub(crate) fn deliver(&self, mut reply: Reply) -> Reply {
        if let Some(count) = self.free {
            reply = reply.hang_after(count);
        }
        if self.head_withheld {
            reply = reply.withhold_head();
        }
        match self.cut {
            Some(count) => reply.abort_after(count),
            None => reply,
        }
    }

    /// A handle on its delivery.
    pub(crate) fn exchange(&self) -> Exchange {
        self.deliver(Reply::sse([])).exchange()
    }
}
