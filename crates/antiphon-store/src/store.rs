//! The contract that every store fulfils; one conformance suite tests them all.

use antiphon::{HeldItem, ItemId};
use async_trait::async_trait;
use bytes::Bytes;

use crate::background::Background;
use crate::error::StoreError;
use crate::ids::{ConversationId, ResponseId, Shard, Tenant};
use crate::ledgers::Ledgers;
use crate::line::Line;
use crate::records::{
    Conversation, Cursor, DueNotice, Earlier, Listing, Page, Place, RequestDigest, ResponseRecord,
    Scope, Turn,
};
use crate::snapshot::Holdings;
use crate::usage::Usage;
use crate::watches::Watches;

type Result<T> = std::result::Result<T, StoreError>;

/// Keeps threads, conversations and responses.
///
/// Each call is atomic: it happens whole or not at all. When a call that writes returns `Ok`, what
/// it wrote survives the process and the machine's power, except [`Store::record_opening`], which
/// survives the process only. Items come back in order with the bytes that were given.
#[async_trait]
pub trait Store: Send + Sync + 'static {
    /// What the store keeps under this name for whoever opens it: that, or `candidate`, which it
    /// keeps from now on.
    async fn keep(&self, name: &'static str, candidate: Bytes) -> Result<Bytes>;

    /// Puts `new` in the place of `old`; says whether `old` was what was kept.
    async fn replace(&self, name: &'static str, old: Bytes, new: Bytes) -> Result<bool>;

    /// Writes and commits something that nobody reads, about as much as a small turn, as durably as a
    /// turn; fails where turns cannot be kept.
    async fn check_writable(&self) -> Result<()>;

    /// Where the turns of a conversation stand in line, if other processes may have this store open
    /// too. `None` where it is of one process, which then needs no line but its own.
    fn line(&self) -> Option<&dyn Line> {
        None
    }

    /// What the store keeps of background responses.
    fn background(&self) -> &dyn Background;

    /// What the store keeps of the conversations and responses of providers.
    fn ledgers(&self) -> &dyn Ledgers;

    /// What the store keeps of responses whose end is awaited.
    fn watches(&self) -> &dyn Watches;

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

    /// Deletes a conversation and the name of its ledger; says whether there was one. Its responses stay
    /// readable; items that no response and no fork reaches go.
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

    /// The turns in `shard` that answer this request, the newest first and open ones before all that
    /// ended; at most `limit`.
    async fn earlier(
        &self,
        tenant: &Tenant,
        shard: Shard,
        request: &RequestDigest,
        limit: usize,
    ) -> Result<Vec<Earlier>>;

    /// Takes a conversation's last turn back, if it answers this request: the conversation returns
    /// to where the turn began. The turn goes to a thread of its own, `fork`, so that its response
    /// can still be read and gone on from. Says whether it did: not where something else came last,
    /// and not where somebody went on from the turn already. Refused from a `place` that is not first in
    /// its line any more, so that who was taken for dead takes nothing of its successor's back.
    async fn take_back(
        &self,
        tenant: &Tenant,
        conversation: &ConversationId,
        request: &RequestDigest,
        fork: crate::ThreadId,
        place: Option<Place>,
    ) -> Result<bool>;

    /// A response's record.
    async fn response(&self, tenant: &Tenant, id: &ResponseId) -> Result<Option<ResponseRecord>>;

    /// The live items that a response put out, in order. Empty where it does not exist.
    async fn output_items(&self, tenant: &Tenant, id: &ResponseId) -> Result<Vec<HeldItem>>;

    /// Deletes a response's record and the name of its ledger; says whether there was one. Its items go
    /// when no live response, conversation or fork reaches them any more.
    async fn delete_response(&self, tenant: &Tenant, id: &ResponseId) -> Result<bool>;

    /// Deletes the oldest responses of all tenants that were created before this time (Unix seconds), at
    /// most `limit`, each as [`Store::delete_response`] does; says how many it deleted. A power cut
    /// may undo that.
    async fn expire_responses(&self, created_before: i64, limit: usize) -> Result<usize>;

    /// All items before `cursor`, its lineage first, tombstones included.
    async fn transcript(&self, tenant: &Tenant, cursor: Cursor) -> Result<Vec<HeldItem>>;

    /// The newest live copy of each of these items whose bytes the tenant holds anywhere; where none
    /// lives, what is left of the newest. In no order. An item that lives only elsewhere is not among
    /// them: there is nothing to send in its place, and it was not deleted.
    async fn locate(&self, tenant: &Tenant, ids: &[ItemId]) -> Result<Vec<HeldItem>>;

    /// Records what to commit should the process die before the turn ends: `turn` has a response
    /// and no output. Survives the process, need not survive a power cut. The commit of a turn with
    /// the same response id replaces it.
    async fn record_opening(&self, tenant: &Tenant, turn: Turn) -> Result<()>;

    /// Whether a turn of this response is recorded as open, or it is an open one in the background.
    /// Of the former, one whose process died is settled first, so that it is open no more.
    async fn is_open(&self, tenant: &Tenant, id: &ResponseId) -> Result<bool>;

    /// Forgets an opening whose turn left nothing behind, and what a provider called its response.
    async fn drop_opening(&self, tenant: &Tenant, id: &ResponseId) -> Result<()>;

    /// Commits every opening that a former process left, in the order that they were recorded; says
    /// how many. One that can no longer be committed (its conversation is gone) is dropped. A ledger that
    /// one is committed to is in doubt.
    async fn settle_openings(&self) -> Result<usize>;

    /// Commits a turn. An item whose id its thread already holds live refuses the whole turn, and so
    /// does a place that is not first in its line any more.
    async fn commit_turn(&self, tenant: &Tenant, turn: Turn) -> Result<()>;

    /// How many live items a tenant has, and their bytes. Reads no item and waits for no writer: calls that
    /// have not returned may be missing.
    async fn usage(&self, tenant: &Tenant) -> Result<Usage>;

    /// The same of a conversation, from its own items; zero if it does not exist.
    async fn conversation_usage(&self, tenant: &Tenant, id: &ConversationId) -> Result<Usage>;

    /// Deletes at most `limit` entries of all that a tenant has, traces of deleted items included; says
    /// what they were, which is nothing at the end. What names the rest goes first, so that nothing is ever
    /// found by half.
    ///
    /// Turns that began before `now` (Unix seconds) and are still open in other processes are refused
    /// with [`StoreError::Erased`] when they are committed.
    async fn erase(&self, tenant: &Tenant, now: i64, limit: usize) -> Result<Holdings>;

    /// Closes the store as [`Store::close`] does, and leaves in its files nothing of what was deleted. A
    /// database of several processes does that by itself, in its own time.
    async fn close_rewritten(&self) -> Result<()> {
        self.close().await;
        Ok(())
    }

    /// Claims notices that are due at `now` until `until`, both in Unix seconds: those that are due for the
    /// longest first, at most `limit`. Of several processes that do so at once, one claims each. What is
    /// not settled until then is due again. A notice of a turn that is still open is not due.
    async fn claim_notices(&self, now: i64, until: i64, limit: usize) -> Result<Vec<DueNotice>>;

    /// Settles a claim: the notice is due again `then`, in Unix seconds, or where that is `None`, is
    /// forgotten. Nothing happens where the claim has run out and somebody else has it.
    async fn settle_notice(&self, claimed: &DueNotice, then: Option<i64>) -> Result<()>;

    /// Waits for what was accepted to be written and closes the files.
    async fn close(&self);
}
