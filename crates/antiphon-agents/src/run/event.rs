//! The events of a run.

use std::time::Duration;

use antiphon::Item;
use antiphon::dialect::Omission;
use antiphon::repair::ReportedRepair;
use antiphon::tracker::Continuation;

use crate::machine::{End, Pause};
use crate::model::{AnswerEvent, EventKind, ModelError};
use crate::tool::CallRef;

/// An event of a run, in the order in which it happens.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum RunEvent {
    /// An agent is asked.
    Asked {
        /// The agent.
        agent: String,
        /// The changes that were made so that a provider accepts the items.
        repairs: Vec<ReportedRepair>,
    },
    /// These changes let the conversation continue. A call that another process left without an
    /// output got one, for example, or the request lacks reasoning that another server encrypted.
    Repaired(Vec<ReportedRepair>),
    /// The API of the server cannot carry these parts of the request, so they were left out.
    Omitted(Vec<Omission>),
    /// An event of the model's answer: its text, for example, as it comes.
    Answer(AnswerEvent),
    /// A request failed, and is repeated after this time.
    Retrying {
        /// The error.
        error: ModelError,
        /// The delay.
        delay: Duration,
    },
    /// A tool starts to run a call.
    ToolStarted(Item),
    /// A call has an output.
    ToolEnded {
        /// The call.
        call: Item,
        /// The output, or the error that the model reads.
        output: Option<Item>,
    },
    /// These calls wait for decisions: approve or reject each of them, or suspend the run.
    Waiting(Vec<Pause>),
    /// Another agent continues the run.
    HandedOff {
        /// The agent before.
        from: String,
        /// The agent that continues.
        to: String,
    },
    /// The history was compacted.
    Compacted {
        /// The number of items before.
        old: usize,
        /// The number of items that replace them.
        new: usize,
        /// The new state of the server, if a server owns the items. Keep it for the next run.
        continuation: Option<Continuation>,
    },
    /// The compaction failed, and changed nothing; the reason.
    NotCompacted(String),
    /// The run has ended.
    Ended(End),
}

impl RunEvent {
    /// The call that starts or has ended, if the event is about one.
    ///
    /// ```
    /// # fn print(event: &antiphon_agents::RunEvent) {
    /// if let Some(call) = event.call() {
    ///     println!("{}({})", call.tool(), call.arguments());
    /// }
    /// # }
    /// ```
    pub fn call(&self) -> Option<CallRef<'_>> {
        match self {
            Self::ToolStarted(call) | Self::ToolEnded { call, .. } => Some(CallRef::new(call)),
            _ => None,
        }
    }

    /// The part of the model's text, if the event has one.
    pub fn text(&self) -> Option<&str> {
        match self {
            Self::Answer(event) => match event.kind() {
                EventKind::TextDelta(_, text) => Some(text),
                _ => None,
            },
            _ => None,
        }
    }
}
