//! What the naive store knows of what a provider keeps.

use std::collections::BTreeSet;

use antiphon::HeldItem;
use antiphon_store::{Destination, LedgerEntry, LedgerSubject, StoreError, TurnRecord};

use super::history::{Conversation, History, chosen};
use crate::conformance::ledgers::{of_conversation, of_response, receive};

/// So many names there are.
const NAMES: usize = 4;

fn name(which: usize) -> String {
    format!("theirs_{}", which % NAMES)
}

impl History {
    pub(super) async fn compare_names(&self) {
        for name in (0..NAMES).map(name) {
            assert_eq!(self.world.entry(&name).await.as_ref(), self.names.get(&name));
        }
    }

    pub(super) async fn adopt(&mut self, which: usize) {
        let (name, conversation) = (name(which), self.world.new_conversation());
        let id = conversation.id.clone();
        let adopted = self.world.adopt(&name, conversation).await;
        if !self.names.contains_key(&name) {
            self.names.insert(name.clone(), of_conversation(&id, true));
            self.conversations.push(Conversation { id, held: Vec::new(), last: None });
        }
        assert_eq!(Some(&adopted), self.names.get(&name));
    }

    /// The provider says that a conversation holds items of these ids.
    pub(super) async fn resync(&mut self, conversation: usize, known: &[usize]) {
        let Some(at) = chosen(&self.conversations, conversation) else { return };
        let known = known.iter().filter_map(|which| chosen(&self.copies, *which));
        let items: Vec<_> = known.map(|nth| self.again(nth).without_body()).collect();
        let subject = LedgerSubject::Conversation(self.conversations[at].id.clone());
        let is_ledger = self.names.values().any(|entry| entry.subject == subject);
        let expected = match given_twice(&items) {
            _ if !is_ledger => Err(StoreError::ConversationNotFound),
            Some(item) => Err(StoreError::DuplicateItem(item.id.clone())),
            None => Ok(()),
        };
        let outcome = self.world.resync(&self.conversations[at].id, items.clone()).await;
        assert_eq!(outcome, expected);
        if expected.is_ok() {
            self.conversations[at].held = self.keep(&items);
            self.conversations[at].last = None;
            self.set_stale(&subject, false);
        }
    }

    pub(super) async fn mark_stale(&mut self, conversation: usize) {
        let Some(at) = chosen(&self.conversations, conversation) else { return };
        let id = self.conversations[at].id.clone();
        self.world.mark_stale(&id).await;
        self.set_stale(&LedgerSubject::Conversation(id), true);
    }

    /// A turn whose response has a name at the provider: in a conversation, or after a response.
    pub(super) async fn name_response(&mut self, base: usize, which: usize, is_stale: bool) {
        let within = chosen(&self.conversations, base).filter(|_| base.is_multiple_of(2));
        let (past, destination) = match (within, chosen(&self.responses, base)) {
            (Some(at), _) => {
                let Conversation { id, held, .. } = &self.conversations[at];
                (held.clone(), Destination::Conversation(id.clone()))
            }
            (None, Some(at)) => (
                self.responses[at].transcript.clone(),
                self.world.destination_after(self.end(at).await),
            ),
            (None, None) => (Vec::new(), self.world.anew()),
        };
        let (id, turn) = self.new_turn(destination, 1, 1);
        let output = turn.output.into_iter().map(HeldItem::without_body).collect();
        let turn = receive(TurnRecord { output, ..turn }, &name(which), is_stale);
        let transcript = self.commit(&past, id.clone(), turn).await;
        if let Some(at) = within {
            self.conversations[at].held = transcript;
            self.conversations[at].last = None;
            self.set_stale(
                &LedgerSubject::Conversation(self.conversations[at].id.clone()),
                is_stale,
            );
        }
        self.set_name(name(which), of_response(&id, is_stale));
    }

    pub(super) async fn announce_name(&mut self, pending: usize, which: usize) {
        let Some(at) = chosen(&self.pending_turns, pending) else { return };
        let id = self.pending_turns[at].id.clone();
        self.world.announce(&name(which), &id).await;
        self.set_name(name(which), of_response(&id, true));
    }

    pub(super) async fn forget(&mut self, which: usize) {
        let gone = self.names.remove(&name(which));
        assert_eq!(self.world.forget(&name(which)).await, gone.is_some());
        let Some(LedgerEntry { subject, .. }) = gone else { return };
        self.pending_turns.retain(|pending| LedgerSubject::Response(pending.id.clone()) != subject);
        self.lose(&subject);
    }

    /// Nothing stands for this any more.
    pub(super) fn unname(&mut self, subject: &LedgerSubject) {
        self.names.retain(|_, entry| entry.subject != *subject);
    }

    /// From now on the name refers to this entry; its former subject is gone.
    fn set_name(&mut self, name: String, entry: LedgerEntry) {
        let subject = entry.subject.clone();
        let before = self.names.remove(&name).filter(|before| before.subject != subject);
        self.unname(&subject);
        self.names.insert(name, entry);
        if let Some(before) = before {
            self.lose(&before.subject);
        }
    }

    fn lose(&mut self, subject: &LedgerSubject) {
        match subject {
            LedgerSubject::Conversation(id) => self.conversations.retain(|one| one.id != *id),
            LedgerSubject::Response(id) => self.responses.retain(|one| one.id != *id),
        }
    }

    fn set_stale(&mut self, subject: &LedgerSubject, is_stale: bool) {
        for entry in self.names.values_mut().filter(|entry| entry.subject == *subject) {
            entry.is_stale = is_stale;
        }
    }
}

fn given_twice(items: &[HeldItem]) -> Option<&HeldItem> {
    let mut ids = BTreeSet::new();
    items.iter().find(|item| !ids.insert(&item.id))
}
