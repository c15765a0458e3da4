//! Everything that can be read of a store, as lines of text.

use std::collections::BTreeSet;
use std::fmt::{Debug, Write as _};

use antiphon::{HeldItem, ItemId};
use antiphon_store::{
    ConversationId, ListScope, Order, PageRequest, RequestDigest, ResponseId, Shard, Snapshot,
    Tenant, ThreadId,
};

use crate::conformance::World;

/// The digests of the requests that the histories of the tests contain.
const REQUESTS: [RequestDigest; 2] = [RequestDigest([0xa5; 16]), RequestDigest([0x5a; 16])];

/// Lists the contents of a store for all of its tenants.
pub(crate) async fn contents(world: &World) -> String {
    let mut listing = Listing {
        snapshot: world.snapshot().await,
        world: world.clone(),
        items: BTreeSet::new(),
        threads: BTreeSet::new(),
        lines: String::new(),
    };
    let mut tenant = None;
    while let Some(next) = listing.snapshot.next_tenant(tenant.as_ref()).await.unwrap() {
        listing.tenant(&next).await;
        tenant = Some(next);
    }
    listing.lines
}

struct Listing {
    snapshot: Box<dyn Snapshot>,
    world: World,
    items: BTreeSet<ItemId>,
    threads: BTreeSet<(u64, u64)>,
    lines: String,
}

impl Listing {
    async fn tenant(&mut self, tenant: &Tenant) {
        self.world = self.world.seen_by(tenant.as_str());
        self.items.clear();
        self.threads.clear();
        let mut counts = self.snapshot.count_data(tenant).await.unwrap();
        counts.others = 0;
        let usage = self.snapshot.usage(tenant).await.unwrap();
        assert_eq!(self.world.store.usage(tenant).await, Ok(usage));
        self.line("tenant", (tenant, counts, usage));
        for id in self.conversations(tenant).await {
            self.conversation(tenant, &id).await;
        }
        for id in self.responses(tenant).await {
            self.response(tenant, &id).await;
        }
        self.pending_turns(tenant).await;
        self.threads(tenant).await;
        self.loose_items(tenant).await;
        self.ledgers(tenant).await;
        self.located(tenant).await;
    }

    async fn conversations(&mut self, tenant: &Tenant) -> Vec<ConversationId> {
        let mut ids: Vec<ConversationId> = Vec::new();
        loop {
            let page = self.snapshot.conversations(tenant, ids.last()).await.unwrap();
            if page.is_empty() {
                return ids;
            }
            for listed in page {
                self.line("conversation", &listed);
                self.threads.insert((listed.end.shard.0, listed.end.thread.0));
                ids.push(listed.conversation.id);
            }
        }
    }

    async fn conversation(&mut self, tenant: &Tenant, id: &ConversationId) {
        let store = self.world.store.clone();
        self.line("usage", store.conversation_usage(tenant, id).await.unwrap());
        self.line("binding", store.ledgers().binding(tenant, id).await.unwrap());
        let (_, end) = store.conversation(tenant, id).await.unwrap().unwrap();
        self.items("transcript", store.transcript(tenant, end).await.unwrap());
        self.list(tenant, ListScope::Conversation(id.clone())).await;
    }

    async fn responses(&mut self, tenant: &Tenant) -> BTreeSet<String> {
        let (mut ids, mut after) = (BTreeSet::new(), None);
        loop {
            let page = self.snapshot.responses(tenant, after.as_ref()).await.unwrap();
            after = page.last().cloned();
            ids.extend(page.into_iter().map(|id| id.to_string()));
            if after.is_none() {
                return ids;
            }
        }
    }

    async fn response(&mut self, tenant: &Tenant, id: &str) {
        let (id, store) = (ResponseId::parse(id).unwrap(), self.world.store.clone());
        let record = store.response(tenant, &id).await.unwrap().unwrap();
        assert_eq!(self.snapshot.response(tenant, &id).await.unwrap(), Some(record.clone()));
        self.line("response", &record);
        self.threads.insert((record.cursor.shard.0, record.cursor.thread.0));
        self.items("transcript", store.transcript(tenant, record.cursor).await.unwrap());
        self.items("output", store.output_items(tenant, &id).await.unwrap());
        self.list(tenant, ListScope::Input(id.clone())).await;
        self.line("status", store.background_jobs().status(tenant, &id).await.unwrap());
        self.line("events", store.background_jobs().events(tenant, &id, 0).await.unwrap());
        for request in &REQUESTS {
            let found = store.find_prior_turns(tenant, id.shard(), request, 9).await.unwrap();
            self.line("prior", found);
            let jobs = store.background_jobs();
            self.line("jobs", jobs.open_jobs(tenant, id.shard(), request).await.unwrap());
        }
    }

    async fn list(&mut self, tenant: &Tenant, scope: ListScope) {
        for order in [Order::Ascending, Order::Descending] {
            let mut page = PageRequest { after: None, limit: 3, max_bytes: 500, order };
            loop {
                let listed = self.world.store.list_items(tenant, &scope, &page).await;
                let listed = listed.unwrap().unwrap();
                page.after = listed.items.last().map(|item| item.id.clone());
                self.items("page", listed.items);
                if !listed.has_more {
                    break;
                }
            }
        }
    }

    async fn pending_turns(&mut self, tenant: &Tenant) {
        let (mut ids, mut after) = (BTreeSet::new(), None);
        loop {
            let page = self.snapshot.pending_turns(tenant, after.as_ref()).await.unwrap();
            after = page.last().cloned();
            ids.extend(page.into_iter().map(|id| id.to_string()));
            if after.is_none() {
                break;
            }
        }
        for id in ids {
            let id = ResponseId::parse(&id).unwrap();
            let turn = self.snapshot.pending_turn(tenant, &id).await.unwrap().unwrap();
            self.line("pending", (&turn.destination, &turn.response, turn.request, &turn.notices));
            self.items("input", turn.input);
        }
    }

    async fn threads(&mut self, tenant: &Tenant) {
        let mut left: Vec<_> = self.threads.iter().copied().collect();
        while let Some((shard, thread)) = left.pop() {
            let of = (Shard(shard), ThreadId(thread));
            let record = self.snapshot.thread(tenant, of).await.unwrap();
            self.line("thread", &record);
            let Some(record) = record else { continue };
            for (parent, _) in &record.lineage {
                if self.threads.insert((shard, parent.0)) {
                    left.push((shard, parent.0));
                }
            }
            let mut start = 0;
            loop {
                let page = self.snapshot.items(tenant, of, start..record.tip).await.unwrap();
                let Some((last, _)) = page.last() else { break };
                start = last + 1;
                for (seq, item) in page {
                    self.line("at", seq);
                    self.items("item", vec![item]);
                }
            }
        }
    }

    async fn loose_items(&mut self, tenant: &Tenant) {
        let (mut loose, mut after) = (Vec::new(), None);
        loop {
            let (page, last) = self.snapshot.loose_items(tenant, after).await.unwrap();
            loose.extend(page);
            after = last;
            if last.is_none() {
                break;
            }
        }
        loose.sort_by_key(|(place, _)| (place.shard.0, place.thread.0, place.seq));
        for (place, item) in loose {
            self.line("loose", place);
            self.items("item", vec![item]);
        }
    }

    async fn ledgers(&mut self, tenant: &Tenant) {
        let mut page = self.snapshot.ledgers(tenant, None).await.unwrap();
        page.sort_by(|(one, _), (other, _)| one.cmp(other));
        for ledger in page {
            self.line("ledger", ledger);
        }
    }

    async fn located(&mut self, tenant: &Tenant) {
        let ids: Vec<ItemId> = self.items.iter().cloned().collect();
        let store = self.world.store.clone();
        let mut located = store.locate(tenant, &ids).await.unwrap();
        located.sort_by(|one, other| one.id.cmp(&other.id));
        self.items("located", located);
        let generated = store.ledgers().find_generated(tenant, &ids).await.unwrap();
        self.line("generated", generated);
    }

    fn items(&mut self, name: &str, items: Vec<HeldItem>) {
        for item in items {
            let HeldItem { id, head, fingerprint, origin, supersedes, body } = &item;
            let bytes = body.bytes().map(|bytes| String::from_utf8_lossy(bytes));
            self.line(name, (id, head, fingerprint, origin, supersedes, bytes));
            self.items.insert(item.id);
        }
    }

    fn line(&mut self, name: &str, value: impl Debug) {
        writeln!(self.lines, "{name}: {value:?}").unwrap();
    }
}
