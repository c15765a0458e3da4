//! Sessions in conversations of a server.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use antiphon::Item;
use antiphon::item::{CallKey, IdSource, ItemId};
use antiphon::tracker::ConversationId;
use antiphon_client::{Client, Error};
use async_trait::async_trait;
use tokio::sync::OnceCell;

use super::batch::{Batch, Content};
use super::log::{Change, appended, apply, fold};
use super::random::Random;
use super::{SessionContent, SessionError, SessionStore};

/// Sessions that a server stores through its Conversations API.
///
/// The key of a session is the id of its conversation (`conv_…`), or a name. The first write to a
/// name creates a conversation; [`id`](Self::id) returns its id, which is the key in other
/// processes.
///
/// Each write is one message of the conversation, whose text has the items byte for byte, the
/// started calls, or the state of a run. So a write of any number of items is atomic, and the
/// server's own form of items loses nothing. Items that other programs added to the conversation
/// are items of the session in the server's form.
///
/// Limits:
///
/// - The server cannot give these items to its model itself; for that, use
///   [`State::conversation`](crate::State::conversation).
/// - A write may have as many characters as the server accepts in one text: 10,485,760 at OpenAI.
/// - A compaction is one more message: the replaced items stay in the conversation, and
///   [`load`](SessionStore::load) lists all of it.
/// - If the connection breaks during a write, the conversation is listed to find out the outcome.
///   If that fails too, the write returns an error although the server may have it.
///
/// ```
/// use antiphon_agents::session::{ConversationSessions, SessionStore};
/// use antiphon_client::Client;
/// use antiphon_mock::StrictProvider;
///
/// # tokio::runtime::Runtime::new()?.block_on(async {
/// let provider = StrictProvider::start().await;
/// let client = Client::new(provider.base_url()).with_key("sk-1");
/// let sessions = ConversationSessions::new(client.clone());
/// sessions.append("user-7", &[antiphon_agents::user("Hello")], &[]).await.unwrap();
///
/// let id = sessions.id("user-7").unwrap();
/// let elsewhere = ConversationSessions::new(client);
/// assert_eq!(elsewhere.load(id.as_str()).await.unwrap().items.len(), 1);
/// # });
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone)]
pub struct ConversationSessions {
    client: Client,
    slots: Arc<Mutex<HashMap<String, Arc<Slot>>>>,
}

/// The conversation of a session.
#[derive(Default)]
struct Slot {
    id: OnceCell<ConversationId>,
    /// The ids of the messages with states of runs; `None` before they are listed.
    runs: tokio::sync::Mutex<Option<Vec<ItemId>>>,
}

/// The beginning of the ids of conversations.
const ID_PREFIX: &str = "conv_";

/// A message of the conversation, as this library reads it.
struct Entry {
    id: Option<ItemId>,
    batch: Batch,
}

impl ConversationSessions {
    /// Sessions in the conversations of this client's server.
    pub fn new(client: Client) -> Self {
        Self { client, slots: Arc::default() }
    }

    /// The id of the session's conversation; `None` if this process has not written to its name.
    pub fn id(&self, key: &str) -> Option<ConversationId> {
        self.slot(key).id.get().cloned()
    }

    fn slot(&self, key: &str) -> Arc<Slot> {
        let mut slots = self.slots.lock().unwrap_or_else(PoisonError::into_inner);
        let new = || {
            let id = key.starts_with(ID_PREFIX).then(|| ConversationId::from(key));
            Arc::new(Slot { id: OnceCell::new_with(id), ..Slot::default() })
        };
        Arc::clone(slots.entry(key.to_owned()).or_insert_with(new))
    }

    /// Adds one message. Returns its id.
    async fn write(&self, key: &str, content: Content) -> Result<Option<ItemId>, SessionError> {
        let slot = self.slot(key);
        let create = || self.client.conversations().create(&[]);
        let id = slot.id.get_or_try_init(create).await.map_err(|error| unavailable(&error))?;
        let batch = Batch::new(Random.issue("batch_"), content);
        match self.client.conversations().add_items(id, &[batch.to_message()]).await {
            Ok(added) => Ok(added.first().and_then(|item| item.head().id.clone())),
            Err(error) if error.may_have_arrived() => {
                let entries = self.entries(key).await.map_err(|_| unavailable(&error))?;
                let stored = entries.into_iter().find(|entry| entry.batch.id == batch.id);
                stored.map(|entry| entry.id).ok_or_else(|| unavailable(&error))
            }
            Err(error) => Err(unavailable(&error)),
        }
    }

    async fn entries(&self, key: &str) -> Result<Vec<Entry>, SessionError> {
        let Some(id) = self.id(key) else { return Ok(Vec::new()) };
        let items = self.client.conversations().items(&id).await;
        let items = items.map_err(|error| unavailable(&error))?;
        let entry = |item: Item| {
            let batch = Batch::from_item(&item).map_err(|error| damaged(key, &error))?;
            Ok(Entry { id: item.head().id.clone(), batch })
        };
        items.into_iter().map(entry).collect()
    }

    async fn change(&self, key: &str, change: Change) -> Result<(), SessionError> {
        self.write(key, Content::Entries(vec![change.into_item()])).await.map(drop)
    }

    /// Deletes the messages with earlier states of runs. They have no effect, so a failure may
    /// leave them.
    async fn delete_runs(&self, key: &str, old: Vec<ItemId>) {
        let Some(conversation) = self.id(key) else { return };
        for id in old {
            let deleted = self.client.conversations().delete_item(&conversation, id.as_str());
            if let Err(error) = deleted.await {
                tracing::warn!(%error, %id, "an earlier state of a run was not deleted");
            }
        }
    }
}

#[async_trait]
impl SessionStore for ConversationSessions {
    async fn load(&self, key: &str) -> Result<SessionContent, SessionError> {
        let entries = self.entries(key).await?.into_iter();
        let items = entries.filter_map(|entry| match entry.batch.content {
            Content::Entries(entries) => Some(entries),
            Content::Run(_) => None,
        });
        fold(items.flatten()).map_err(|error| damaged(key, &error))
    }

    async fn append(
        &self,
        key: &str,
        items: &[Item],
        started: &[CallKey],
    ) -> Result<(), SessionError> {
        let entries = appended(items, started);
        if entries.is_empty() {
            return Ok(());
        }
        self.write(key, Content::Entries(entries)).await.map(drop)
    }

    async fn replace(&self, key: &str, old: usize, new: &[Item]) -> Result<(), SessionError> {
        let change = || Change::Replaced { old, new: new.to_vec() };
        if !apply(&mut self.load(key).await?, change()) {
            return Err(SessionError::Changed(key.to_owned()));
        }
        self.change(key, change()).await
    }

    async fn pop(&self, key: &str, tail: &[Item]) -> Result<bool, SessionError> {
        let change = || Change::Popped { tail: tail.to_vec() };
        let fits = apply(&mut self.load(key).await?, change());
        if fits {
            self.change(key, change()).await?;
        }
        Ok(fits)
    }

    async fn clear(&self, key: &str) -> Result<(), SessionError> {
        self.change(key, Change::Cleared).await
    }

    async fn save_run(&self, key: &str, state: Option<&str>) -> Result<(), SessionError> {
        let state = state.map(serde_json::from_str).transpose();
        let state = state.map_err(|error| damaged(key, &error))?;
        let slot = self.slot(key);
        let mut runs = slot.runs.lock().await;
        if runs.is_none() {
            let is_run = |entry: &Entry| matches!(entry.batch.content, Content::Run(_));
            let earlier = self.entries(key).await?.into_iter().filter(is_run);
            *runs = Some(earlier.filter_map(|entry| entry.id).collect());
        }
        let id = self.write(key, Content::Run(state)).await?;
        let old = runs.replace(id.into_iter().collect()).unwrap_or_default();
        self.delete_runs(key, old).await;
        Ok(())
    }

    async fn run(&self, key: &str) -> Result<Option<String>, SessionError> {
        let mut entries = self.entries(key).await?.into_iter().rev();
        let latest = entries.find_map(|entry| match entry.batch.content {
            Content::Run(state) => Some(state),
            Content::Entries(_) => None,
        });
        Ok(latest.flatten().map(|state| state.get().to_owned()))
    }
}

impl fmt::Debug for ConversationSessions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ConversationSessions").field("client", &self.client).finish_non_exhaustive()
    }
}

fn unavailable(error: &Error) -> SessionError {
    SessionError::Unavailable(error.to_string())
}

fn damaged(key: &str, error: &serde_json::Error) -> SessionError {
    SessionError::Damaged { key: key.to_owned(), reason: error.to_string() }
}
