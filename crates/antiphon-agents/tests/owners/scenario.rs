//! The owners of the state, and the dialogues that each of them has to survive.

use antiphon_mock::Answer;
use serde::{Deserialize, Serialize};

use crate::agents::MODEL;

/// An owner of the state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Owner {
    /// The application, with a journal.
    Replay,
    /// A session, without a journal.
    Session,
    /// A session, with a journal.
    JournaledSession,
    /// A server's conversation, with a journal.
    Conversation,
    /// A server's chain of responses, with a journal.
    Chain,
}

pub(crate) const OWNERS: [Owner; 5] =
    [Owner::Replay, Owner::Session, Owner::JournaledSession, Owner::Conversation, Owner::Chain];

impl Owner {
    /// Whether a store of the application has the items.
    pub(crate) fn has_session(self) -> bool {
        matches!(self, Self::Session | Self::JournaledSession)
    }

    /// Whether the items are at the provider.
    fn has_server_state(self) -> bool {
        matches!(self, Self::Conversation | Self::Chain)
    }

    /// Whether an interrupted run is resumed from its journal. Otherwise another run follows it.
    pub(crate) fn has_journal(self) -> bool {
        self != Self::Session
    }
}

/// A dialogue with the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Scenario {
    Plain,
    Tools,
    ParallelTools,
    Approval,
    Handoff,
    FilteredHandoff,
    /// The history is compacted after the last answer, if the application owns it.
    Compaction,
}

pub(crate) const SCENARIOS: [Scenario; 7] = [
    Scenario::Plain,
    Scenario::Tools,
    Scenario::ParallelTools,
    Scenario::Approval,
    Scenario::Handoff,
    Scenario::FilteredHandoff,
    Scenario::Compaction,
];

impl Scenario {
    /// The answers of the model to a run with this owner.
    pub(crate) fn answers(self, owner: Owner) -> Vec<Answer> {
        let thinks = || answer().reasoning("Think.");
        let call = |id: &str| thinks().call(id, "look_up", "{}");
        let mut answers = match self {
            Self::Plain => vec![],
            Self::Compaction => vec![call("c1")],
            Self::Tools => vec![call("c1"), call("c2")],
            Self::ParallelTools => {
                vec![call("c1").call("c2", "look_up", "{}").call("c3", "look_up", "{}")]
            }
            Self::Approval => vec![call("c1").call("c2", "pay", "{}")],
            Self::Handoff => vec![thinks().call("c1", "transfer_to_expert", "{}"), call("c2")],
            Self::FilteredHandoff => vec![thinks().call("c1", "ask_expert", "{}"), call("c2")],
        };
        answers.push(answer().message("Done."));
        if self == Self::Compaction && !owner.has_server_state() {
            answers.push(answer().message("It is done."));
        }
        answers
    }
}

pub(crate) fn answer() -> Answer {
    Answer::new(MODEL)
}
