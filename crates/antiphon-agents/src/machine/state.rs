//! The state of a run, which can be stored and continued later.

use std::collections::BTreeMap;
use std::ops::Range;

use antiphon::Item;
use antiphon::tracker::{Attempt, Continuation, ConversationId, ReasoningIds, Tracker};
use serde::{Deserialize, Serialize};

use super::calls::OpenCalls;
use super::decisions::Decision;
use super::step::End;
use crate::item_json;
use crate::model;
use crate::rules::Staging;
use crate::usage::RunUsage;

/// The version of the format that is written.
const VERSION: u32 = 1;

/// The state of a run between two steps. Serialize it as JSON to continue the run in another
/// process.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RunState {
    version: u32,
    /// The agent that answers next.
    pub(super) agent: String,
    pub(super) owner: Owner,
    /// The items of the run, in order: its input, the answers of the models, outputs.
    #[serde(with = "item_json::list")]
    pub(super) items: Vec<Item>,
    /// The number of items that are stored.
    pub(super) saved: usize,
    pub(super) answers: Vec<AnswerRecord>,
    /// The tokens of runs inside calls.
    #[serde(default)]
    pub(super) inner_usage: RunUsage,
    pub(super) calls: OpenCalls,
    pub(super) transfer: Option<Transfer>,
    /// The position of the last answer in `items`, while its check is awaited.
    pub(super) unchecked: Option<usize>,
    /// The state of a chain before its last answer, to which it returns if the check fails.
    pub(super) before_answer: Option<Box<Tracker>>,
    /// Whether the model was asked to correct its last answer.
    pub(super) has_repeated_answer: bool,
    /// The items that the server has and that its conversation must not keep.
    #[serde(with = "item_json::list")]
    pub(super) rejected: Vec<Item>,
    /// Whether a tool has run whose output ends the run.
    pub(super) stops_at_tool: bool,
    /// Whether the server refused the outputs at the end of the run.
    pub(super) has_failed_delivery: bool,
    pub(super) stopping: Option<Stop>,
    /// The decisions about all calls of a tool, by its name.
    #[serde(default)]
    pub(super) standing: BTreeMap<String, Decision>,
    pub(super) end: Option<End>,
    pub(super) staged: Staging,
    /// The conversations and chains that the run left for a fork.
    pub(super) forks: Vec<Fork>,
    /// The treatment of reasoning ids in later requests, and in the history of a client.
    #[serde(default)]
    pub(super) reasoning_ids: ReasoningIds,
}

/// The owner of the conversation's state.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Owner {
    /// The application: it keeps the items of the run for the next one.
    Replay(ClientHistory),
    /// A session of the application's store.
    Session { key: String, history: ClientHistory },
    /// A server.
    Server { tracker: Box<Tracker>, asking: Option<Attempt> },
}

/// The items before the run, if the application owns them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct ClientHistory {
    /// Not written for a session, which has them.
    #[serde(with = "item_json::list")]
    pub(super) held: Vec<Item>,
    /// The number of items that a session has, as far as the run knows.
    pub(super) stored: usize,
    /// The position of the first item of the run that is not in `held`.
    pub(super) run_from: usize,
    /// The items that a handoff's filter chose instead, and the position of the first item of the
    /// run after them.
    pub(super) view: Option<View>,
}

/// The items that replace those before them in requests. The stored history does not change.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct View {
    #[serde(with = "item_json::list")]
    pub(super) items: Vec<Item>,
    pub(super) run_from: usize,
}

/// A handoff whose filter has not been applied yet.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Transfer {
    /// The agent before. Early states do not name it.
    #[serde(default)]
    pub(super) from: String,
    /// The name of its tool.
    pub(super) handoff: String,
    pub(super) stage: TransferStage,
}

/// The progress of a handoff.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum TransferStage {
    /// All calls get an output, and the items of a server are listed.
    Loading,
    /// The filter is applied to the items of the server.
    Filtering {
        #[serde(with = "item_json::list")]
        items: Vec<Item>,
    },
    /// A new conversation is created with `seed`, and `input` is sent to it.
    Forking {
        #[serde(with = "item_json::list")]
        seed: Vec<Item>,
        #[serde(with = "item_json::list")]
        input: Vec<Item>,
    },
}

/// A stop that waits for running calls or for the end of the turn.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Stop {
    /// Running calls are cancelled, and the run ends.
    Now(End),
    /// The calls of this turn end first.
    AfterTurn(End),
}

/// An answer of a model, as a part of the items of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AnswerRecord {
    /// The agent.
    pub agent: String,
    /// The positions of its items.
    pub items: Range<usize>,
    /// The tokens.
    pub usage: model::Usage,
}

/// A state of a server that the run left, at a handoff with a filter or at a compaction.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fork {
    /// The state before.
    pub from: Continuation,
    /// The new conversation; `None` for a new chain.
    pub conversation: Option<ConversationId>,
    /// The agent that answers in the new one.
    pub agent: String,
}

/// The reason why a state cannot be read.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum RunStateError {
    /// It is not the JSON of a run.
    #[error("this is not the state of a run: {0}")]
    Malformed(#[from] serde_json::Error),
    /// It was written by a later version of this library.
    #[error(
        "a later version of antiphon-agents wrote this state of a run: it has version {0}, and \
         this library reads versions up to {VERSION}"
    )]
    Version(u32),
}

debug_as_text!(RunStateError);

impl RunState {
    pub(super) fn new(agent: &str, owner: Owner) -> Self {
        Self {
            version: VERSION,
            agent: agent.to_owned(),
            owner,
            items: Vec::new(),
            saved: 0,
            answers: Vec::new(),
            inner_usage: RunUsage::default(),
            calls: OpenCalls::default(),
            transfer: None,
            unchecked: None,
            before_answer: None,
            has_repeated_answer: false,
            rejected: Vec::new(),
            stops_at_tool: false,
            has_failed_delivery: false,
            stopping: None,
            standing: BTreeMap::new(),
            end: None,
            staged: Staging::default(),
            forks: Vec::new(),
            reasoning_ids: ReasoningIds::default(),
        }
    }

    /// Reads a state from its JSON.
    pub fn read(json: &str) -> Result<Self, RunStateError> {
        #[derive(Deserialize)]
        struct Versioned {
            version: u32,
        }
        let Versioned { version } = serde_json::from_str(json)?;
        if version > VERSION {
            return Err(RunStateError::Version(version));
        }
        let mut state: Self = serde_json::from_str(json)?;
        state.name_agents();
        Ok(state)
    }

    /// Names the agent of calls and of a handoff that an early state does not name: it gave the
    /// last answer.
    fn name_agents(&mut self) {
        let agent = self.answers.last().map_or(&self.agent, |answer| &answer.agent);
        self.calls.name_agents(agent);
        if let Some(transfer) = &mut self.transfer
            && transfer.from.is_empty()
        {
            transfer.from.clone_from(agent);
        }
    }

    /// The state as JSON.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).expect("all keys are text")
    }

    /// The agent that answers next.
    pub fn agent(&self) -> &str {
        &self.agent
    }

    /// The items of the run so far, in order.
    pub fn items(&self) -> &[Item] {
        &self.items
    }

    /// The items of the run, and those that the next request adds to it.
    pub(crate) fn input(&self) -> Vec<Item> {
        [&self.items[..], self.staged.waiting()].concat()
    }

    /// The answers of models so far, in order.
    pub fn answers(&self) -> &[AnswerRecord] {
        &self.answers
    }

    /// The number of answers of models.
    pub fn turns(&self) -> u64 {
        self.answers.len() as u64
    }

    /// The tokens of all answers, with those of runs inside calls.
    pub fn usage(&self) -> RunUsage {
        let mut usage = self.inner_usage;
        for answer in &self.answers {
            usage.add(&answer.usage);
        }
        usage
    }

    /// The tokens of the answers of each agent, by its name.
    pub fn usage_by_agent(&self) -> BTreeMap<&str, RunUsage> {
        let mut usage: BTreeMap<&str, RunUsage> = BTreeMap::new();
        for answer in &self.answers {
            usage.entry(&answer.agent).or_default().add(&answer.usage);
        }
        usage
    }

    /// The reason for the end of the run; `None` while it can continue.
    pub fn end(&self) -> Option<&End> {
        self.end.as_ref()
    }

    /// Whether the model was asked to correct its last answer.
    pub fn has_repeated_answer(&self) -> bool {
        self.has_repeated_answer
    }

    /// The server's states that the run left, at handoffs and compactions.
    pub fn forks(&self) -> &[Fork] {
        &self.forks
    }

    /// The server's state that the next request continues; `None` if the application owns it.
    pub fn continuation(&self) -> Option<&Continuation> {
        match &self.owner {
            Owner::Server { tracker, .. } => Some(tracker.continuation()),
            Owner::Replay(_) | Owner::Session { .. } => None,
        }
    }

    /// The key of the session that stores the items.
    pub fn session(&self) -> Option<&str> {
        match &self.owner {
            Owner::Session { key, .. } => Some(key),
            Owner::Replay(_) | Owner::Server { .. } => None,
        }
    }

    /// The number of items that the session had when the run read or wrote it last.
    pub(crate) fn stored(&self) -> usize {
        self.client_history().map_or(0, |history| history.stored)
    }

    /// The state without the items that its session has.
    pub(super) fn without_held(&self) -> Self {
        let mut state = self.clone();
        if let Owner::Session { history, .. } = &mut state.owner {
            history.held.clear();
        }
        state
    }
}
