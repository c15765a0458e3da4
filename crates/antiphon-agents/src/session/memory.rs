//! Sessions in memory.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use antiphon::Item;
use antiphon::item::CallKey;
use async_trait::async_trait;

use super::{SessionContent, SessionError, SessionStore};

/// Sessions in memory, for tests and for conversations that end with the process. Clones share
/// them.
#[derive(Clone, Debug, Default)]
pub struct MemorySessions {
    sessions: Arc<Mutex<HashMap<String, Session>>>,
}

#[derive(Debug, Default)]
struct Session {
    content: SessionContent,
    run: Option<String>,
}

impl MemorySessions {
    /// Creates a store without sessions.
    pub fn new() -> Self {
        Self::default()
    }

    fn sessions(&self) -> MutexGuard<'_, HashMap<String, Session>> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn change<T>(&self, key: &str, change: impl FnOnce(&mut Session) -> T) -> T {
        change(self.sessions().entry(key.to_owned()).or_default())
    }
}

#[async_trait]
impl SessionStore for MemorySessions {
    async fn load(&self, key: &str) -> Result<SessionContent, SessionError> {
        let sessions = self.sessions();
        Ok(sessions.get(key).map(|session| session.content.clone()).unwrap_or_default())
    }

    async fn append(
        &self,
        key: &str,
        items: &[Item],
        started: &[CallKey],
    ) -> Result<(), SessionError> {
        self.change(key, |Session { content, .. }| {
            content.items.extend_from_slice(items);
            content.started.extend_from_slice(started);
        });
        Ok(())
    }

    async fn replace(&self, key: &str, old: usize, new: &[Item]) -> Result<(), SessionError> {
        self.change(key, |Session { content, .. }| {
            if content.items.len() < old {
                return Err(SessionError::Changed(key.to_owned()));
            }
            content.items.splice(..old, new.iter().cloned());
            Ok(())
        })
    }

    async fn pop(&self, key: &str, tail: &[Item]) -> Result<bool, SessionError> {
        Ok(self.change(key, |Session { content, .. }| {
            let count = crate::rules::count_tail_to_pop(&content.items, tail);
            let left = count.map(|count| content.items.len() - count);
            left.map(|left| content.items.truncate(left)).is_some()
        }))
    }

    async fn clear(&self, key: &str) -> Result<(), SessionError> {
        self.change(key, |session| session.content = SessionContent::default());
        Ok(())
    }

    async fn save_run(&self, key: &str, state: Option<&str>) -> Result<(), SessionError> {
        self.change(key, |session| session.run = state.map(str::to_owned));
        Ok(())
    }

    async fn run(&self, key: &str) -> Result<Option<String>, SessionError> {
        Ok(self.sessions().get(key).and_then(|session| session.run.clone()))
    }
}
