//! Tracks the open turns of this process, so that a request can end them.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex};

use antiphon_store::{ConversationId, ResponseId, Tenant};
use tokio_util::sync::{CancellationToken, WaitForCancellationFuture};

/// The open turns of this process, by conversation and by response. A conversation has at most one,
/// because a turn registers under the conversation's lease. Turns of other processes are not
/// included; they detect a deletion when they commit.
#[derive(Clone, Default)]
pub(crate) struct OpenTurns {
    conversations: Registry<ConversationId>,
    responses: Registry<ResponseId>,
}

/// A conversation's open turn, until it is dropped.
pub(crate) type OpenTurn = Registration<ConversationId>;
/// The open turn of a response, until it is dropped.
pub(crate) type OpenResponse = Registration<ResponseId>;

impl OpenTurns {
    /// Registers a turn of a conversation. This must happen before the conversation is looked up,
    /// so that a later deletion reaches the turn.
    pub(crate) fn register(&self, tenant: &Tenant, id: &ConversationId) -> OpenTurn {
        self.conversations.register(tenant, id)
    }

    /// Registers the turn of a response.
    pub(crate) fn register_response(&self, tenant: &Tenant, id: &ResponseId) -> OpenResponse {
        self.responses.register(tenant, id)
    }

    /// Whether this process runs a turn of the conversation.
    pub(crate) fn is_open(&self, tenant: &Tenant, id: &ConversationId) -> bool {
        self.conversations.with(|turns| turns.contains_key(&(tenant.clone(), id.clone())))
    }

    /// The response of the conversation's turn, if this process runs one and it has begun.
    pub(crate) fn response_of(&self, tenant: &Tenant, id: &ConversationId) -> Option<ResponseId> {
        let key = (tenant.clone(), id.clone());
        self.conversations.with(|turns| turns.get(&key)?.response.clone())
    }

    /// Notifies the conversation's open turn, if any, that the conversation was deleted.
    pub(crate) fn notify_deleted(&self, tenant: &Tenant, id: &ConversationId) {
        self.conversations.cancel(tenant, id);
    }

    /// Ends the open turn of a response. Returns whether this process runs it.
    pub(crate) fn end(&self, tenant: &Tenant, id: &ResponseId) -> bool {
        self.responses.cancel(tenant, id)
    }
}

type Entries<Id> = HashMap<(Tenant, Id), Entry>;

/// An open turn.
#[derive(Clone, Default)]
struct Entry {
    cancelled: CancellationToken,
    /// The response of a conversation's turn, once it has an id.
    response: Option<ResponseId>,
}

/// Open turns by an id of a tenant.
struct Registry<Id>(Arc<Mutex<Entries<Id>>>);

/// An entry of a registry, until it is dropped.
pub(crate) struct Registration<Id: Eq + Hash> {
    key: (Tenant, Id),
    registry: Registry<Id>,
    cancelled: CancellationToken,
}

impl<Id: Eq + Hash + Clone> Registry<Id> {
    fn register(&self, tenant: &Tenant, id: &Id) -> Registration<Id> {
        let key = (tenant.clone(), id.clone());
        let entry = Entry::default();
        let cancelled = entry.cancelled.clone();
        self.with(|turns| turns.insert(key.clone(), entry));
        Registration { key, registry: self.clone(), cancelled }
    }

    /// Notifies a turn. Returns whether it is registered.
    fn cancel(&self, tenant: &Tenant, id: &Id) -> bool {
        let turn = self.with(|turns| turns.remove(&(tenant.clone(), id.clone())));
        turn.is_some_and(|turn| {
            turn.cancelled.cancel();
            true
        })
    }
}

impl<Id> Registry<Id> {
    fn with<T>(&self, change: impl FnOnce(&mut Entries<Id>) -> T) -> T {
        change(&mut self.0.lock().expect("no holder of this lock panics"))
    }
}

impl<Id> Clone for Registry<Id> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<Id> Default for Registry<Id> {
    fn default() -> Self {
        Self(Arc::default())
    }
}

impl<Id: Eq + Hash> Registration<Id> {
    /// Waits until the turn must end.
    pub(crate) fn cancelled(&self) -> WaitForCancellationFuture<'_> {
        self.cancelled.cancelled()
    }
}

impl OpenTurn {
    /// Sets the response of the turn.
    pub(crate) fn set_response(&self, response: &ResponseId) {
        self.registry.with(|turns| {
            if let Some(turn) = turns.get_mut(&self.key) {
                turn.response = Some(response.clone());
            }
        });
    }
}

impl<Id: Eq + Hash> Drop for Registration<Id> {
    fn drop(&mut self) {
        self.registry.with(|turns| turns.remove(&self.key));
    }
}

#[cfg(test)]
mod tests {
    use antiphon_store::Shard;

    use super::*;
    use crate::entropy::RandomIds;

    fn new_conversation() -> ConversationId {
        ConversationId::issue(Shard::issue(&mut RandomIds), &mut RandomIds)
    }

    #[tokio::test]
    async fn deletion_notifies_only_the_turn_of_its_conversation() {
        let turns = OpenTurns::default();
        let (acme, other) = (Tenant::new("acme"), Tenant::new("other"));
        let (one, two) = (new_conversation(), new_conversation());
        let told = turns.register(&acme, &one);
        let untold = [turns.register(&acme, &two), turns.register(&other, &one)];

        turns.notify_deleted(&acme, &one);

        told.cancelled().await;
        assert!(untold.iter().all(|turn| !turn.cancelled.is_cancelled()));
    }

    #[tokio::test]
    async fn only_the_tenant_of_a_response_ends_its_turn() {
        let turns = OpenTurns::default();
        let (acme, other) = (Tenant::new("acme"), Tenant::new("other"));
        let id = ResponseId::issue(Shard::issue(&mut RandomIds), &mut RandomIds);
        let turn = turns.register_response(&acme, &id);

        assert!(!turns.end(&other, &id));
        assert!(!turn.cancelled.is_cancelled());
        assert!(turns.end(&acme, &id));
        turn.cancelled().await;
    }

    #[test]
    fn ended_turn_is_unregistered() {
        let turns = OpenTurns::default();
        let acme = Tenant::new("acme");
        drop(turns.register(&acme, &new_conversation()));
        assert!(turns.conversations.with(|turns| turns.is_empty()));
    }
}
