//! The contract that every store fulfils; one conformance suite tests them all.

use antiphon::{HeldItem, ItemId};
use async_trait::async_trait;
use bytes::Bytes;

use crate::error::StoreError;
use crate::ids::{ConversationId, ResponseId, Tenant};
use crate::records::{Conversation, Cursor, Listing, Page, ResponseRecord, Scope, Turn};

type Result<T> = std::result::Result<T, StoreError>;

/// Keeps threads, conversations and responses.
///
/// Each call is atomic: it happens whole or not at all. When a call that writes returns `Ok`, what
/// it wrote survives the process and the machine's power, except [`Store::record_opening`], which
/// survives the process only. Items come back in order with the bytes that were given.
#[async_trait]
pub trait Store: Send + Sync + 'static {
    /// The key that this store's hashes are made with: the one it keeps, or `candidate`, which it
    /// keeps from now on.
    async fn secret(&self, candidate: [u8; 32]) -> Result<[u8; 32]>;

    /// Creates a conversation that begins with `items`.
    async fn create_conversation(
        &self,
        tenant: &Tenant,
        conversation: Conversation,
        thread: crate::ThreadId,
        items: Vec<HeldItem>,
    ) -> Result<()>;

    /// The conversation, and where its thread ends now.
    async fn conversation(
        &self,
        tenant: &Tenant,
        id: &ConversationId,
    ) -> Result<Option<(Conversation, Cursor)>>;

    /// Replaces a conversation's metadata. `None` where it does not exist.
    async fn set_metadata(
        &self,
        tenant: &Tenant,
        id: &ConversationId,
        metadata: Bytes,
    ) -> Result<Option<Conversation>>;

    /// Deletes a conversation; says whether there was one. Its responses stay readable; items that
    /// no response and no fork reaches go.
    async fn delete_conversation(&self, tenant: &Tenant, id: &ConversationId) -> Result<bool>;

    /// Appends items to a conversation: all, or none where one of their ids is held there live.
    async fn append_items(
        &self,
        tenant: &Tenant,
        id: &ConversationId,
        items: Vec<HeldItem>,
    ) -> Result<()>;

    /// A page of live items. `None` where the scope does not exist.
    async fn list_items(
        &self,
        tenant: &Tenant,
        scope: &Scope,
        page: &Page,
    ) -> Result<Option<Listing>>;

    /// One live item of a conversation.
    async fn item(
        &self,
        tenant: &Tenant,
        conversation: &ConversationId,
        id: &ItemId,
    ) -> Result<Option<HeldItem>>;

    /// Deletes an item of a conversation; says whether there was one. Its bytes are erased for
    /// every fork that shares it; a tombstone (place, head, fingerprint) stays.
    async fn delete_item(
        &self,
        tenant: &Tenant,
        conversation: &ConversationId,
        id: &ItemId,
    ) -> Result<bool>;

    /// A response's record.
    async fn response(&self, tenant: &Tenant, id: &ResponseId) -> Result<Option<ResponseRecord>>;

    /// The live items that a response put out, in order. Empty where it does not exist.
    async fn output_items(&self, tenant: &Tenant, id: &ResponseId) -> Result<Vec<HeldItem>>;

    /// Deletes a response's record; says whether there was one. Its items go when no live
    /// response, conversation or fork reaches them any more.
    async fn delete_response(&self, tenant: &Tenant, id: &ResponseId) -> Result<bool>;

    /// All items before `cursor`, its lineage first, tombstones included.
    async fn transcript(&self, tenant: &Tenant, cursor: Cursor) -> Result<Vec<HeldItem>>;

    /// The newest live copy of each of these items that the tenant holds anywhere, in no order.
    async fn locate(&self, tenant: &Tenant, ids: &[ItemId]) -> Result<Vec<HeldItem>>;

    /// Records what to commit should the process die before the turn ends: `turn` has a response
    /// and no output. Survives the process, need not survive a power cut. The commit of a turn with
    /// the same response id replaces it.
    async fn record_opening(&self, tenant: &Tenant, turn: Turn) -> Result<()>;

    /// Forgets an opening whose turn left nothing behind.
    async fn drop_opening(&self, tenant: &Tenant, id: &ResponseId) -> Result<()>;

    /// Commits every opening that a former process left, in the order that they were recorded; says
    /// how many. One that can no longer be committed (its conversation is gone) is dropped.
    async fn settle_openings(&self) -> Result<usize>;

    /// Commits a turn. An item whose id its thread already holds live refuses the whole turn.
    async fn commit_turn(&self, tenant: &Tenant, turn: Turn) -> Result<()>;

    /// Waits for what was accepted to be written and closes the files.
    async fn close(&self);
}
