//! The result of a run.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use antiphon::Item;
use antiphon::repair::ReportedRepair;
use antiphon::tracker::Continuation;
use antiphon_client::text_of;
use serde::de::DeserializeOwned;

use crate::machine::{End, NewOwner, RunState};
use crate::session::SessionStore;
use crate::state::State;
use crate::usage::RunUsage;

/// The result of a run that has ended.
#[derive(Clone)]
pub struct RunResult {
    pub(super) state: RunState,
    pub(super) end: End,
    pub(super) held: Vec<Item>,
    pub(super) unsent: Vec<Item>,
    pub(super) sessions: Option<Arc<dyn SessionStore>>,
    pub(super) repairs: Vec<ReportedRepair>,
}

impl RunResult {
    /// The reason for the end.
    pub fn end(&self) -> &End {
        &self.end
    }

    /// The agent that gave the last answer.
    pub fn agent(&self) -> &str {
        self.state.agent()
    }

    /// The text of the last answer.
    pub fn text(&self) -> String {
        let items = self.state.items();
        let is_the_models = |item: &&Item| item.head().is_model_made();
        let start = items.len() - items.iter().rev().take_while(is_the_models).count();
        text_of(&items[start..])
    }

    /// The last answer as a value of the agent's output type.
    pub fn output<T: DeserializeOwned>(&self) -> Result<T, serde_json::Error> {
        serde_json::from_str(&self.text())
    }

    /// The items of the run, in order.
    pub fn items(&self) -> &[Item] {
        self.state.items()
    }

    /// All items so far, for the next [`State::replay`]. Empty if another party owns the state.
    pub fn next_input(&self) -> Vec<Item> {
        self.held.clone()
    }

    /// The owner of the state, for the next run.
    ///
    /// Outputs that a chain of responses has not got yet are sent with the next run's first
    /// request.
    pub fn next_state(&self) -> State {
        match self.state.continuation() {
            Some(from) => {
                let unsent = self.unsent.clone();
                State { unsent, ..State::new(NewOwner::Server(from.clone())) }
            }
            None => match (self.state.session(), &self.sessions) {
                (Some(key), Some(store)) => State::shared_session(Arc::clone(store), key),
                _ => State::replay(self.held.clone()),
            },
        }
    }

    /// The server's state after the run.
    pub fn continuation(&self) -> Option<&Continuation> {
        self.state.continuation()
    }

    /// The tokens of all answers.
    pub fn usage(&self) -> RunUsage {
        self.state.usage()
    }

    /// The tokens of the answers of each agent, by its name.
    pub fn usage_by_agent(&self) -> BTreeMap<&str, RunUsage> {
        self.state.usage_by_agent()
    }

    /// The changes that let the conversation continue, each once: repaired items
    /// of requests, and calls without an output that got one. [`RunEvent`](super::RunEvent) has
    /// them as they happen.
    pub fn repairs(&self) -> &[ReportedRepair] {
        &self.repairs
    }

    /// The state of the run.
    pub fn state(&self) -> &RunState {
        &self.state
    }
}

impl fmt::Debug for RunResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut result = f.debug_struct("RunResult");
        result.field("end", &self.end).field("agent", &self.agent());
        result.field("items", &self.items().len()).finish_non_exhaustive()
    }
}
