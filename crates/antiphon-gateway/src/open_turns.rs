//! The open turns of conversations, so that deleting one ends its turn.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use antiphon_store::{ConversationId, Tenant};
use tokio_util::sync::CancellationToken;

type Key = (Tenant, ConversationId);

/// The turns of conversations that are open in this process: at most one of each, because a turn
/// enters with the conversation's lease. A turn that another process runs is not among them; it
/// finds out when it is committed.
#[derive(Clone, Default)]
pub(crate) struct OpenTurns(Arc<Mutex<HashMap<Key, CancellationToken>>>);

/// A conversation's open turn, until it is dropped.
pub(crate) struct OpenTurn {
    of: Key,
    turns: OpenTurns,
    deletion: CancellationToken,
}

impl OpenTurns {
    /// Enters a turn. To be done before the conversation is looked up: who finds it then will hear
    /// of its deletion.
    pub(crate) fn enter(&self, tenant: &Tenant, id: &ConversationId) -> OpenTurn {
        let of = (tenant.clone(), id.clone());
        let deletion = CancellationToken::new();
        self.entered(|turns| turns.insert(of.clone(), deletion.clone()));
        OpenTurn { of, turns: self.clone(), deletion }
    }

    /// Tells the conversation's open turn, if there is one, that the conversation was deleted.
    pub(crate) fn conversation_deleted(&self, tenant: &Tenant, id: &ConversationId) {
        let turn = self.entered(|turns| turns.remove(&(tenant.clone(), id.clone())));
        if let Some(deletion) = turn {
            deletion.cancel();
        }
    }

    fn entered<T>(&self, change: impl FnOnce(&mut HashMap<Key, CancellationToken>) -> T) -> T {
        change(&mut self.0.lock().expect("no holder of this lock panics"))
    }
}

impl OpenTurn {
    /// Waits until the conversation is deleted.
    pub(crate) async fn conversation_deleted(&self) {
        self.deletion.cancelled().await;
    }
}

impl Drop for OpenTurn {
    fn drop(&mut self) {
        self.turns.entered(|turns| turns.remove(&self.of));
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
    async fn a_deletion_is_told_to_the_turn_of_that_conversation_and_tenant_alone() {
        let turns = OpenTurns::default();
        let (acme, other) = (Tenant::new("acme"), Tenant::new("other"));
        let (one, two) = (new_conversation(), new_conversation());
        let told = turns.enter(&acme, &one);
        let untold = [turns.enter(&acme, &two), turns.enter(&other, &one)];

        turns.conversation_deleted(&acme, &one);

        told.conversation_deleted().await;
        assert!(untold.iter().all(|turn| !turn.deletion.is_cancelled()));
    }

    #[test]
    fn a_turn_that_ended_leaves_nothing() {
        let turns = OpenTurns::default();
        let acme = Tenant::new("acme");
        drop(turns.enter(&acme, &new_conversation()));
        assert!(turns.entered(|turns| turns.is_empty()));
    }
}
