//! The journal of a run: its state, stored so that another process can resume it.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use super::effect::answered_by_store;
use crate::machine::RunState;
use crate::session::{SessionError, SessionStore};

/// The place of the state of a run in a store.
#[derive(Clone)]
pub(super) struct Journal {
    store: Arc<dyn SessionStore>,
    key: String,
    /// The state that the store has for certain; `None` while that is unknown.
    stored: Arc<Mutex<Option<String>>>,
}

impl Journal {
    pub(super) fn new(store: Arc<dyn SessionStore>, key: String) -> Self {
        Self { store, key, stored: Arc::default() }
    }

    /// Stores a state, unless the run stored the same one last.
    pub(super) async fn write(
        &self,
        state: &RunState,
        limit: Duration,
    ) -> Result<(), SessionError> {
        let state = state.to_json();
        // A write that is dropped may have happened, so the stored state is unknown meanwhile.
        let stored = self.replace_stored(None);
        if stored.as_ref() != Some(&state) {
            answered_by_store(limit, self.store.save_run(&self.key, Some(&state))).await?;
        }
        self.replace_stored(Some(state));
        Ok(())
    }

    fn replace_stored(&self, state: Option<String>) -> Option<String> {
        let mut stored = self.stored.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::replace(&mut stored, state)
    }
}
