//! The effects that a machine asks for, and the end of a run.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use antiphon::Item;
use antiphon::item::CallKey;
use antiphon::repair::ReportedRepair;
use antiphon::tracker::{Continuation, Occurrence, Returned};
use serde::{Deserialize, Serialize};

use crate::tool::CallRef;

/// The next effect of a run. It stays the same until its result is recorded, so an effect can be
/// performed again after an interruption.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// Read the items that the owner of the state holds; see [`Machine::loaded`].
    ///
    /// [`Machine::loaded`]: super::Machine::loaded
    Load(Load),
    /// Store this; see [`Machine::saved`](super::Machine::saved).
    Save(Save),
    /// Ask the tool of each call whether it needs an approval; see
    /// [`Machine::reviewed`](super::Machine::reviewed).
    Review(Vec<Item>),
    /// Run the tools of these calls, at the same time; see
    /// [`Machine::call_ended`](super::Machine::call_ended). Some may be running already.
    Call(Vec<Item>),
    /// Cancel the tools of these calls, because the run ends, and record how each of them ended.
    Cancel(Vec<Item>),
    /// Nothing can happen before a decision; see [`Machine::approve`](super::Machine::approve).
    Wait(Vec<Pause>),
    /// Apply a handoff's filter to these items; see [`Machine::viewed`](super::Machine::viewed).
    View {
        /// The agent before.
        agent: String,
        /// The name of the handoff's tool.
        handoff: String,
        /// All items so far.
        items: Vec<Item>,
    },
    /// Create a conversation with these items; see [`Machine::forked`](super::Machine::forked).
    Fork(Vec<Item>),
    /// Check the last answer of the run; see [`Machine::checked`](super::Machine::checked).
    Check(Vec<Item>),
    /// Remove these items from the server's conversation: the check rejected them, or they are
    /// reasoning of an answer that broke off. See [`Machine::removed`](super::Machine::removed).
    Remove(Vec<Item>),
    /// Post these outputs to the server's conversation, without a turn of the model; see
    /// [`Machine::delivered`](super::Machine::delivered).
    Deliver(Vec<Item>),
    /// Ask the model; see [`Machine::ask`](super::Machine::ask).
    Ask(Ask),
    /// Nothing: the run has ended.
    Done(End),
}

/// Items to read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Load {
    /// The items of the session, and the calls that were started.
    Session(String),
    /// The items of the conversation or of the chain of responses, in order.
    Server(Continuation),
}

/// Data to store before the next effect. A session stores the items and the started calls. Without
/// a session, the state of the run has both.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Save {
    /// New items, in order.
    pub items: Vec<Item>,
    /// The calls whose tools run next.
    pub started: Vec<CallKey>,
    /// The calls with runs inside that wait for decisions. The state of the run has them.
    pub paused: Vec<CallKey>,
}

/// A request to the model.
#[derive(Clone, Debug, PartialEq)]
pub struct Ask {
    /// The agent.
    pub agent: String,
    /// The items to send: all that the model reads, or, with `continuation`, those that the server
    /// does not have. They are shared with the machine, so that a request does not copy a history.
    pub items: Arc<Vec<Item>>,
    /// The occurrences of these items, if a server owns the state.
    pub occurrences: Vec<Occurrence>,
    /// The server's state that the request continues.
    pub continuation: Option<Continuation>,
    /// The time to wait first.
    pub delay: Option<Duration>,
    /// The changes that were made so that a provider accepts the items.
    pub repairs: Vec<ReportedRepair>,
}

/// A call that waits for a decision: of the run, or of the run of an agent inside another call.
#[derive(Clone, Debug, PartialEq)]
pub enum Pause {
    /// It needs an approval.
    Approval(Item),
    /// Its tool was started, and the process died: the tool may have had its effect.
    UnknownOutcome(Item),
}

impl Ask {
    /// The items with their occurrences, for a filter. Give its result to
    /// [`Machine::ask`](super::Machine::ask) if a server owns the state.
    pub fn returned(&self) -> Vec<Returned> {
        let occurrence = |position: usize| self.occurrences.get(position).copied();
        let items = self.items.iter().cloned().enumerate();
        items.map(|(at, item)| Returned { occurrence: occurrence(at), item }).collect()
    }
}

impl Pause {
    /// The call.
    pub fn call(&self) -> &Item {
        match self {
            Self::Approval(call) | Self::UnknownOutcome(call) => call,
        }
    }

    /// The name of the tool that is called.
    pub fn tool(&self) -> String {
        CallRef::new(self.call()).tool()
    }

    /// The arguments of the call: the text that the model wrote, usually JSON.
    pub fn arguments(&self) -> String {
        CallRef::new(self.call()).arguments()
    }

    /// The id of the call, by which a decision names it.
    pub fn call_id(&self) -> &str {
        CallRef::new(self.call()).call_id()
    }
}

/// The reason for the end of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "reason", rename_all = "snake_case")]
pub enum End {
    /// The agent gave its last answer.
    Answered {
        /// The agent.
        agent: String,
    },
    /// A tool had its output, and the agent's [`StopRule`](crate::roster::StopRule) ends the run
    /// there.
    StoppedAtTool {
        /// The agent.
        agent: String,
    },
    /// The model answered as often as the run allows.
    TurnLimit {
        /// The limit.
        turns: u64,
    },
    /// A guardrail rejected the input or the answer.
    Tripped {
        /// The name of the guardrail.
        guardrail: String,
    },
    /// A tool, a model or a rule failed.
    Failed {
        /// A sentence.
        error: String,
    },
    /// The application cancelled the run.
    Cancelled,
}

impl fmt::Display for End {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Answered { agent } => write!(f, "answered by {agent}"),
            Self::StoppedAtTool { agent } => write!(f, "stopped at a tool of {agent}"),
            Self::TurnLimit { turns } => write!(f, "stopped after {turns} turns"),
            Self::Tripped { guardrail } => write!(f, "rejected by the guardrail {guardrail}"),
            Self::Failed { error } => write!(f, "failed: {error}"),
            Self::Cancelled => f.write_str("cancelled"),
        }
    }
}

/// The result of the check of the last answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Check {
    /// It is the result of the run.
    Passed,
    /// The model answers once more, after this message.
    Again(String),
    /// It does not have the form that the agent promises; a sentence.
    Failed(String),
    /// The guardrail with this name rejects it.
    Tripped(String),
}
