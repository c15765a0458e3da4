//! What both stores show.

use std::collections::BTreeSet;

use antiphon::HeldItem;
use antiphon_store::{ConversationId, ListScope, Order, PageRequest, Usage};

use super::history::{Conversation, History, Nth, Response};

impl History {
    /// Compares everything that a caller may see.
    pub(super) async fn compare(&self) {
        for response in &self.responses {
            self.compare_response(response).await;
        }
        for Conversation { id, held, .. } in &self.conversations {
            self.compare_conversation(id, held).await;
        }
        self.compare_places().await;
        self.compare_usage().await;
        self.compare_names().await;
    }

    async fn compare_response(&self, response: &Response) {
        let (store, tenant) = (&self.world.store, &self.world.tenant);
        let record = store.response(tenant, &response.id).await.unwrap().unwrap();
        let held = store.transcript(tenant, record.cursor).await;
        let expected: Vec<_> = response.transcript.iter().map(|nth| self.left(*nth)).collect();
        assert_eq!(held, Ok(expected));

        let output = store.output_items(tenant, &response.id).await;
        assert_eq!(output, Ok(self.live(&response.transcript[response.input.end..])));
        let input = &response.transcript[response.input.clone()];
        let scope = ListScope::Input(response.id.clone());
        assert_eq!(self.listed(&scope).await, self.live(input));
    }

    async fn compare_conversation(&self, id: &ConversationId, held: &[Nth]) {
        let scope = ListScope::Conversation(id.clone());
        assert_eq!(self.listed(&scope).await, self.live(held));
    }

    /// An item is located if a copy of it is reachable: the newest live copy with a body here, or,
    /// if none is live elsewhere, the remainder of the newest one.
    async fn compare_places(&self) {
        let reached = self.reached();
        let ids: BTreeSet<_> = self.copies.iter().map(|copy| &copy.item.id).collect();
        for id in ids {
            let copies = || reached.iter().filter(|nth| self.copies[**nth].item.id == *id);
            let here = copies().rfind(|nth| self.left(**nth).body.bytes().is_some());
            let erased =
                copies().next_back().filter(|_| copies().all(|nth| self.copies[*nth].erased));
            let newest = here.or(erased).map(|nth| self.left(*nth));
            let expected: Vec<_> = newest.into_iter().collect();
            let (store, tenant) = (&self.world.store, &self.world.tenant);
            let found = store.locate(tenant, std::slice::from_ref(id)).await;
            assert_eq!(found, Ok(expected));
        }
    }

    /// The copies that somebody reaches.
    fn reached(&self) -> BTreeSet<Nth> {
        self.responses
            .iter()
            .map(|response| &response.transcript)
            .chain(self.conversations.iter().map(|conversation| &conversation.held))
            .chain(self.pending_turns.iter().map(|pending| &pending.base))
            .flatten()
            .copied()
            .collect()
    }

    /// Each live copy that somebody reaches counts once.
    async fn compare_usage(&self) {
        let (store, tenant) = (&self.world.store, &self.world.tenant);
        let reached: Vec<Nth> = self.reached().into_iter().collect();
        assert_eq!(store.usage(tenant).await, Ok(Usage::from_items(&self.live(&reached))));
        for Conversation { id, held, .. } in &self.conversations {
            let expected = Usage::from_items(&self.live(held));
            assert_eq!(store.conversation_usage(tenant, id).await, Ok(expected));
        }
    }

    async fn listed(&self, scope: &ListScope) -> Vec<HeldItem> {
        let page = PageRequest {
            after: None,
            limit: 1000,
            max_bytes: usize::MAX,
            order: Order::Ascending,
        };
        let listing = self.world.store.list_items(&self.world.tenant, scope, &page);
        listing.await.unwrap().unwrap().items
    }

    fn live(&self, held: &[Nth]) -> Vec<HeldItem> {
        held.iter().map(|nth| self.left(*nth)).filter(|item| !item.is_tombstone()).collect()
    }

    /// What is left of a copy.
    fn left(&self, nth: Nth) -> HeldItem {
        let copy = &self.copies[nth];
        let mut item = copy.item.clone();
        if copy.erased {
            item.body = antiphon::Body::Erased;
        }
        item
    }
}
