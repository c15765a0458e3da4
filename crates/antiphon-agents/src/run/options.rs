//! The options of a run.

use std::sync::Arc;

use antiphon::tracker::{ReasoningIds, Returned};

use super::Run;
use super::journal::Journal;
use crate::compaction::Compaction;
use crate::hooks::Hooks;
use crate::model::ModelError;
use crate::roster::Limits;
use crate::rules::RetryVerdict;
use crate::session::SessionStore;

/// A function that chooses the items of a request.
pub(super) type InputFilter = Arc<dyn Fn(Vec<Returned>) -> Vec<Returned> + Send + Sync>;

/// A function that decides about a failed request before the rules.
pub(super) type RetryPolicy = Arc<dyn Fn(&ModelError) -> RetryVerdict + Send + Sync>;

/// The options of a run, which are set before its first event.
pub(super) struct Options<C> {
    pub(super) journal: Option<Journal>,
    pub(super) compaction: Option<Compaction>,
    pub(super) filter: Option<InputFilter>,
    pub(super) hooks: Vec<Arc<dyn Hooks<C>>>,
    pub(super) retry_policy: Option<RetryPolicy>,
}

impl<C> Default for Options<C> {
    fn default() -> Self {
        Self {
            journal: None,
            compaction: None,
            filter: None,
            hooks: Vec::new(),
            retry_policy: None,
        }
    }
}

impl<C: Send + Sync + 'static> Run<C> {
    /// Sets the limits. Without a limit of the history, that of [`State::last`] stays.
    ///
    /// [`State::last`]: crate::State::last
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        let history = limits.history.or(self.machine.limits().history);
        self.machine.set_limits(Limits { history, ..limits });
        self
    }

    /// Stores the state of the run before every effect, so that it can be resumed after a crash. A
    /// run with a session needs this only to keep its approvals and its limits.
    #[must_use]
    pub fn journal(mut self, store: Arc<dyn SessionStore>, key: impl Into<String>) -> Self {
        self.options.journal = Some(Journal::new(store, key.into()));
        self
    }

    /// Compacts the history when it becomes long.
    #[must_use]
    pub fn compaction(mut self, compaction: Compaction) -> Self {
        self.options.compaction = Some(compaction);
        self
    }

    /// Chooses the items of each request: all items that the model reads, or, if a server owns the
    /// state, those that it does not have.
    ///
    /// An item that is left out of a server's request stays pending, and is in the next one. Stored
    /// items never change.
    #[must_use]
    pub fn filter_input(
        mut self,
        filter: impl Fn(Vec<Returned>) -> Vec<Returned> + Send + Sync + 'static,
    ) -> Self {
        self.options.filter = Some(Arc::new(filter));
        self
    }

    /// Decides about failed requests before the rules: whether a retry is safe although it repeats
    /// output that the caller of the run has read, or whether there is none.
    ///
    /// Retries that the rules or this function grant still follow the delays of the
    /// [`Limits`]. The items of a server's conversation are listed first if the request may have
    /// had an effect.
    #[must_use]
    pub fn retry_policy(
        mut self,
        policy: impl Fn(&ModelError) -> RetryVerdict + Send + Sync + 'static,
    ) -> Self {
        self.options.retry_policy = Some(Arc::new(policy));
        self
    }

    /// Removes the ids of reasoning from later requests, and from the history of a session or of a
    /// replay. The policy is part of the state of the run.
    #[must_use]
    pub fn reasoning_ids(mut self, policy: ReasoningIds) -> Self {
        self.machine.set_reasoning_ids(policy);
        self
    }

    /// Adds hooks. They run in the order in which they are added.
    #[must_use]
    pub fn hooks(mut self, hooks: impl Hooks<C>) -> Self {
        self.options.hooks.push(Arc::new(hooks));
        self
    }
}
