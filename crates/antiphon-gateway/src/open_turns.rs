//! Tracks the open turns of conversations, so that deleting a conversation ends its turn.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use antiphon_store::{ConversationId, Tenant};
use tokio_util::sync::CancellationToken;

type Key = (Tenant, ConversationId);

/// The open turns of conversations in this process. Each conversation has at most one, because a
/// turn registers under the conversation's lease. Turns of other processes are not included; they
/// detect the deletion when they commit.
#[derive(Clone, Default)]
pub(crate) struct OpenTurns(Arc<Mutex<HashMap<Key, CancellationToken>>>);

/// A conversation's open turn, until it is dropped.
pub(crate) struct OpenTurn {
    key: Key,
    turns: OpenTurns,
    deletion: CancellationToken,
}

impl OpenTurns {
    /// Registers a turn. This must happen before the conversation is looked up, so that a later
    /// deletion reaches the turn.
    pub(crate) fn register(&self, tenant: &Tenant, id: &ConversationId) -> OpenTurn {
        let key = (tenant.clone(), id.clone());
        let deletion = CancellationToken::new();
        self.with_turns(|turns| turns.insert(key.clone(), deletion.clone()));
        OpenTurn { key, turns: self.clone(), deletion }
    }

    /// Whether this process runs a turn of the conversation.
    pub(crate) fn is_open(&self, tenant: &Tenant, id: &ConversationId) -> bool {
        self.with_turns(|turns| turns.contains_key(&(tenant.clone(), id.clone())))
    }

    /// Notifies the conversation's open turn, if any, that the conversation was deleted.
    pub(crate) fn notify_deleted(&self, tenant: &Tenant, id: &ConversationId) {
        let turn = self.with_turns(|turns| turns.remove(&(tenant.clone(), id.clone())));
        if let Some(deletion) = turn {
            deletion.cancel();
        }
    }

    fn with_turns<T>(&self, change: impl FnOnce(&mut HashMap<Key, CancellationToken>) -> T) -> T {
        change(&mut self.0.lock().expect("no holder of this lock panics"))
    }
}

impl OpenTurn {
    /// Waits until the conversation is deleted.
    pub(crate) async fn deleted(&self) {
        self.deletion.cancelled().await;
    }
}

impl Drop for OpenTurn {
    fn drop(&mut self) {
        self.turns.with_turns(|turns| turns.remove(&self.key));
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

        told.deleted().await;
        assert!(untold.iter().all(|turn| !turn.deletion.is_cancelled()));
    }

    #[test]
    fn ended_turn_is_unregistered() {
        let turns = OpenTurns::default();
        let acme = Tenant::new("acme");
        drop(turns.register(&acme, &new_conversation()));
        assert!(turns.with_turns(|turns| turns.is_empty()));
    }
}
