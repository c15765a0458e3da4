//! Ledgers: what is known of the conversations and responses that a provider keeps.
//!
//! A ledger is a thread like any other whose items have no bodies here
//! ([`Body::Elsewhere`](antiphon::Body::Elsewhere)). Its conversation or response has an id of ours,
//! which nobody outside is told; what is kept beside is how the provider calls it.

use antiphon::{HeldItem, ItemId};
use async_trait::async_trait;

use crate::error::StoreError;
use crate::ids::{ConversationId, ResponseId, Tenant, ThreadId};
use crate::ledger_records::{Binding, Kept, LedgerEntry, Named};
use crate::records::{Conversation, Place};

type Result<T> = std::result::Result<T, StoreError>;

/// Keeps the ledgers of what providers keep.
///
/// ```text
///   adopt, announce ──> in doubt ── commit of a whole turn, relearn, trust ──> sure
///                          ↑                                                   │
///                          └──────────────── doubt ────────────────────────────┘
/// ```
///
/// A name stands for one conversation or response, and of several that it was given to, for the last.
/// What it stood for before is deleted as [`Store`](crate::Store) deletes it, and so is a ledger's name
/// where its conversation or response is deleted, by whomever.
///
/// Each call is atomic. What `adopt`, `relearn` and `forget` wrote survives a power cut, what `announce` and
/// `doubt` wrote survives the process.
#[async_trait]
pub trait Ledgers: Send + Sync {
    /// The ledger of what a provider calls so.
    async fn entry(&self, tenant: &Tenant, provider_id: &str) -> Result<Option<LedgerEntry>>;

    /// What a provider calls this response, where that was announced or committed.
    async fn name_of(&self, tenant: &Tenant, response: &ResponseId) -> Result<Option<Named>>;

    /// Begins the ledger of a provider's conversation, empty and in doubt, unless the name stands for
    /// something. Says what it stands for now: the same to all of several that adopt one at once.
    async fn adopt(
        &self,
        tenant: &Tenant,
        named: Named,
        conversation: Conversation,
        thread: ThreadId,
    ) -> Result<LedgerEntry>;

    /// Takes note of what a provider calls the response of a turn that is open and will leave a record.
    /// It is in doubt until the turn is committed; where its opening is dropped, nothing is left of it. A
    /// response that has a name already has the later one only.
    async fn announce(&self, tenant: &Tenant, named: Named, response: &ResponseId) -> Result<()>;

    /// A request is on its way that may change the conversation at its provider. Nothing happens where
    /// there is no ledger of it.
    async fn doubt(&self, tenant: &Tenant, conversation: &ConversationId) -> Result<()>;

    /// The request that was on its way has changed nothing. To be called by whoever was sure before.
    async fn trust(&self, tenant: &Tenant, conversation: &ConversationId) -> Result<()>;

    /// Puts what the provider says that its conversation holds in the place of what was known: in a
    /// thread of its own, so that responses still end where they did. What nobody reaches any more goes.
    /// Refused where there is no ledger of such a conversation, where an item is given twice, and from a
    /// `place` that is not first in the conversation's line any more: who was taken for dead may have
    /// asked long ago.
    async fn relearn(
        &self,
        tenant: &Tenant,
        conversation: &ConversationId,
        thread: ThreadId,
        items: Vec<HeldItem>,
        place: Option<Place>,
    ) -> Result<()>;

    /// Creates a conversation without an upstream, with its first items. Its first turn decides which
    /// upstream keeps it ([`bind`](Ledgers::bind)), or that none does ([`keep_here`](Ledgers::keep_here)).
    async fn create_unbound(
        &self,
        tenant: &Tenant,
        conversation: Conversation,
        thread: ThreadId,
        items: Vec<HeldItem>,
    ) -> Result<()>;

    /// The binding of a conversation that began without an upstream. `None` for any other, and for one
    /// that stays here.
    async fn binding(
        &self,
        tenant: &Tenant,
        conversation: &ConversationId,
    ) -> Result<Option<Binding>>;

    /// Binds a conversation to the provider's copy of it, for good. Its items and metadata are the
    /// provider's from then on: nothing of them stays here, and its ledger begins in doubt, in `thread`.
    /// Returns false, and changes nothing, if the conversation is not [`Binding::Pending`] or was
    /// deleted. Fails from a `place` that is not the first in the conversation's line any more.
    async fn bind(
        &self,
        tenant: &Tenant,
        conversation: &ConversationId,
        named: Named,
        thread: ThreadId,
        place: Option<Place>,
    ) -> Result<bool>;

    /// Decides that a conversation without an upstream stays here, for good. Returns false, and changes
    /// nothing, if the conversation is not [`Binding::Pending`] or was deleted.
    async fn keep_here(&self, tenant: &Tenant, conversation: &ConversationId) -> Result<bool>;

    /// Whether there is any, whosever it is.
    async fn any(&self) -> Result<bool>;

    /// Whether this is a ledger, which nobody outside knows by this id.
    async fn is_ledger(&self, tenant: &Tenant, kept: &Kept) -> Result<bool>;

    /// Those of these items that the tenant holds live anywhere and that a model made, in the order that
    /// they are asked for.
    async fn made(&self, tenant: &Tenant, ids: &[ItemId]) -> Result<Vec<ItemId>>;

    /// Forgets what a provider calls so, and its ledger: the conversation, or the record and opening of
    /// the response. Says whether there was one.
    async fn forget(&self, tenant: &Tenant, provider_id: &str) -> Result<bool>;
}
