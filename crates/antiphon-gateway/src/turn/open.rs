//! Opening a turn: where it goes on from, and the right to do so.

use antiphon::Transcript;
use antiphon_store::{Base, ConversationId, Cursor, ResponseId, Shard, ThreadId};

use super::Turn;
use crate::entropy::{RandomIds, unix_now};
use crate::error::ApiError;
use crate::lease::Lease;
use crate::request::Continues;

/// An open turn.
pub(super) struct Opened {
    /// The id that the response has from its first event on.
    pub(super) response_id: ResponseId,
    /// Unix seconds.
    pub(super) created_at: i64,
    /// The conversation that it is a turn of.
    pub(super) conversation: Option<ConversationId>,
    /// Where the transcript ends that it goes on from; `None` for a new thread.
    pub(super) cursor: Option<Cursor>,
    /// Where its items go.
    pub(super) base: Base,
    /// Held until the turn is committed.
    _lease: Option<Lease>,
}

impl Opened {
    /// Where the items of a turn go that failed: not into the conversation.
    pub(super) fn base_apart(&self) -> Base {
        match (&self.base, self.cursor) {
            (Base::Conversation(_), Some(cursor)) => {
                Base::After { cursor, fork: ThreadId::issue(&mut RandomIds) }
            }
            (base, _) => base.clone(),
        }
    }
}

impl Turn<'_> {
    /// Opens the turn where the request says that it goes on.
    pub(super) async fn open(&self) -> Result<Opened, ApiError> {
        match &self.request.continues {
            Continues::Nothing => Ok(new_thread()),
            Continues::Response(id) => self.open_after(id).await,
            Continues::Conversation(id) => self.open_conversation(id).await,
        }
    }

    async fn open_after(&self, text: &str) -> Result<Opened, ApiError> {
        let unknown = || ApiError::previous_response_not_found(text);
        let id = ResponseId::parse(text).ok_or_else(unknown)?;
        let store = &self.gateway.store;
        let record = store.response(&self.caller.tenant, &id).await?.ok_or_else(unknown)?;
        let fork = ThreadId::issue(&mut RandomIds);
        let base = Base::After { cursor: record.cursor, fork };
        Ok(opened(record.cursor.shard, None, Some(record.cursor), base, None))
    }

    async fn open_conversation(&self, text: &str) -> Result<Opened, ApiError> {
        let unknown = || ApiError::conversation_not_found(text);
        let id = ConversationId::parse(text).ok_or_else(unknown)?;
        let lease = self.gateway.lease(&self.caller.tenant, &id).await?;
        let store = &self.gateway.store;
        let (_, cursor) =
            store.conversation(&self.caller.tenant, &id).await?.ok_or_else(unknown)?;
        let base = Base::Conversation(id.clone());
        Ok(opened(cursor.shard, Some(id), Some(cursor), base, Some(lease)))
    }

    /// The transcript that the turn goes on from.
    pub(super) async fn load(&self, opened: &Opened) -> Result<Transcript, ApiError> {
        match opened.cursor {
            None => Ok(Transcript::default()),
            Some(cursor) => {
                let held = self.gateway.store.transcript(&self.caller.tenant, cursor).await?;
                Ok(held.into_iter().collect())
            }
        }
    }
}

fn new_thread() -> Opened {
    let shard = Shard::issue(&mut RandomIds);
    let thread = ThreadId::issue(&mut RandomIds);
    opened(shard, None, None, Base::New { shard, thread }, None)
}

fn opened(
    shard: Shard,
    conversation: Option<ConversationId>,
    cursor: Option<Cursor>,
    base: Base,
    lease: Option<Lease>,
) -> Opened {
    Opened {
        response_id: ResponseId::issue(shard, &mut RandomIds),
        created_at: unix_now(),
        conversation,
        cursor,
        base,
        _lease: lease,
    }
}
