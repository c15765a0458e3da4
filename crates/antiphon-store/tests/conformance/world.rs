//! A store with one tenant, and the steps of the conformance tests.
//!
//! Items go by short names: `"a"` is a user's message that says `a` and is held under `msg_a`. A
//! deleted one reads `"†a"`.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use antiphon::{FingerprintKey, HeldItem, IdSource, Item, ItemId};
use antiphon_store::{
    Conversation, ConversationId, Cursor, Destination, ListScope, NewResponse, Order, PageRequest,
    ResponseId, Shard, Snapshot, Store, StoreError, Tenant, ThreadId, TurnRecord,
};
use async_trait::async_trait;
use bytes::Bytes;

/// The location of a store: a store that is opened again has the same data.
#[async_trait]
pub(crate) trait StoreLocation: Send + Sync + 'static {
    async fn open(&self) -> Arc<dyn Store>;

    /// Its URL, if more than one store can be opened at it.
    fn url(&self) -> Option<String> {
        None
    }
}

#[derive(Clone)]
pub(crate) struct World {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) tenant: Tenant,
    place: Arc<dyn StoreLocation>,
    issued: Arc<AtomicU64>,
}

impl World {
    pub(crate) async fn at(place: impl StoreLocation) -> Self {
        Self {
            store: place.open().await,
            tenant: Tenant::new("alice"),
            place: Arc::new(place),
            issued: Arc::default(),
        }
    }

    /// The same store, as another tenant sees it.
    pub(crate) fn seen_by(&self, tenant: &str) -> Self {
        let tenant = Tenant::new(tenant);
        Self { tenant, ..self.clone() }
    }

    /// The same location after the process died: nothing was closed.
    pub(crate) async fn reopened(self) -> Self {
        let Self { store, tenant, place, issued } = self;
        drop(store);
        Self { store: place.open().await, tenant, place, issued }
    }

    /// The data at the location now.
    pub(crate) async fn snapshot(&self) -> Box<dyn Snapshot> {
        let url = self.place.url().expect("the place has a name");
        antiphon_store::snapshot(&url).await.unwrap()
    }

    pub(crate) fn shard(&self) -> Shard {
        Shard::issue(&mut self.ids())
    }

    pub(crate) fn thread(&self) -> ThreadId {
        ThreadId::issue(&mut self.ids())
    }

    pub(crate) fn response_id(&self, shard: Shard) -> ResponseId {
        ResponseId::issue(shard, &mut self.ids())
    }

    pub(crate) fn conversation_id(&self, shard: Shard) -> ConversationId {
        ConversationId::issue(shard, &mut self.ids())
    }

    fn ids(&self) -> Counting<'_> {
        Counting(&self.issued)
    }
}

/// Ids that count up. The highest bit is set too, as it is in half of all random ids.
struct Counting<'a>(&'a AtomicU64);

impl IdSource for Counting<'_> {
    fn fill(&mut self, bytes: &mut [u8]) {
        let next = self.0.fetch_add(1, Ordering::Relaxed);
        bytes.fill(0);
        let low = bytes.len() - 8;
        bytes[low..].copy_from_slice(&next.to_be_bytes());
        bytes[0] |= 0x80;
    }
}

/// What may be done.
impl World {
    /// A conversation that begins with these items.
    pub(crate) async fn conversation(&self, names: &[&str]) -> ConversationId {
        let conversation = self.new_conversation();
        let id = conversation.id.clone();
        self.store
            .create_conversation(&self.tenant, conversation, self.thread(), items(names))
            .await
            .unwrap();
        id
    }

    pub(crate) fn new_conversation(&self) -> Conversation {
        Conversation {
            id: self.conversation_id(self.shard()),
            created_at: 1_767_225_600,
            metadata: Bytes::from_static(br#"{"topic":"tea"}"#),
        }
    }

    pub(crate) async fn append(
        &self,
        id: &ConversationId,
        names: &[&str],
    ) -> Result<(), StoreError> {
        self.store.append_items(&self.tenant, id, items(names)).await
    }

    /// The first turn of a chain.
    pub(crate) async fn first(&self, input: &[&str], output: &[&str]) -> ResponseId {
        let destination = Destination::New { shard: self.shard(), thread: self.thread() };
        self.committed(destination, input, output).await
    }

    /// A turn that names `previous`.
    pub(crate) async fn after(
        &self,
        previous: &ResponseId,
        input: &[&str],
        output: &[&str],
    ) -> ResponseId {
        let destination = self.destination_after(self.end(previous).await);
        self.committed(destination, input, output).await
    }

    /// A turn in a conversation.
    pub(crate) async fn within(
        &self,
        conversation: &ConversationId,
        input: &[&str],
        output: &[&str],
    ) -> ResponseId {
        let destination = Destination::Conversation(conversation.clone());
        self.committed(destination, input, output).await
    }

    async fn committed(
        &self,
        destination: Destination,
        input: &[&str],
        output: &[&str],
    ) -> ResponseId {
        let (id, turn) = self.turn(destination, input, output);
        self.commit(turn).await.unwrap();
        id
    }

    /// A turn that is not committed yet, and the id of its response.
    pub(crate) fn turn(
        &self,
        destination: Destination,
        input: &[&str],
        output: &[&str],
    ) -> (ResponseId, TurnRecord) {
        let (shard, conversation) = match &destination {
            Destination::New { shard, .. } => (*shard, None),
            Destination::After { cursor, .. } => (cursor.shard, None),
            Destination::Conversation(id) => (id.shard(), Some(id.clone())),
        };
        let response = NewResponse {
            id: self.response_id(shard),
            conversation,
            created_at: 1_767_225_601,
            envelope: Bytes::from_static(br#"{"object": "response","temperature":1e0}"#),
            report: Bytes::from_static(b"[]"),
            copy: None,
        };
        let turn = TurnRecord {
            destination,
            input: items(input),
            output: items(output),
            response: Some(response.clone()),
            request: None,
            place: None,
            notices: Vec::new(),
            ledger: None,
        };
        (response.id, turn)
    }

    pub(crate) fn destination_after(&self, cursor: Cursor) -> Destination {
        Destination::After { cursor, fork: self.thread(), end_of: None }
    }

    pub(crate) async fn commit(&self, turn: TurnRecord) -> Result<(), StoreError> {
        self.store.commit_turn(&self.tenant, turn).await
    }

    pub(crate) async fn record_pending(&self, turn: &TurnRecord) {
        self.store.record_pending_turn(&self.tenant, turn.clone()).await.unwrap();
    }

    pub(crate) async fn delete_response(&self, id: &ResponseId) -> bool {
        self.store.delete_response(&self.tenant, id).await.unwrap()
    }

    pub(crate) async fn delete_conversation(&self, id: &ConversationId) -> bool {
        self.store.delete_conversation(&self.tenant, id).await.unwrap()
    }

    pub(crate) async fn delete_item(&self, id: &ConversationId, name: &str) -> bool {
        self.store.delete_item(&self.tenant, id, &item_id(name)).await.unwrap()
    }
}

/// What may be seen.
impl World {
    /// Where a response ends.
    pub(crate) async fn end(&self, id: &ResponseId) -> Cursor {
        let record = self.store.response(&self.tenant, id).await.unwrap();
        record.unwrap().cursor
    }

    pub(crate) async fn exists(&self, id: &ResponseId) -> bool {
        let record = self.store.response(&self.tenant, id).await.unwrap();
        record.is_some()
    }

    /// The tip of a conversation.
    pub(crate) async fn tip(&self, id: &ConversationId) -> Cursor {
        let found = self.store.conversation(&self.tenant, id).await.unwrap();
        found.unwrap().1
    }

    /// Everything up to a response's end.
    pub(crate) async fn transcript(&self, id: &ResponseId) -> Vec<String> {
        self.before(self.end(id).await).await
    }

    pub(crate) async fn before(&self, cursor: Cursor) -> Vec<String> {
        let held = self.store.transcript(&self.tenant, cursor).await.unwrap();
        names(&held)
    }

    /// A response's input.
    pub(crate) async fn input(&self, id: &ResponseId) -> Vec<String> {
        self.all(&ListScope::Input(id.clone())).await
    }

    /// A response's output.
    pub(crate) async fn output(&self, id: &ResponseId) -> Vec<String> {
        let held = self.store.output_items(&self.tenant, id).await.unwrap();
        names(&held)
    }

    /// All live items of a conversation.
    pub(crate) async fn listed(&self, id: &ConversationId) -> Vec<String> {
        self.all(&ListScope::Conversation(id.clone())).await
    }

    async fn all(&self, scope: &ListScope) -> Vec<String> {
        let page = PageRequest {
            after: None,
            limit: usize::MAX,
            max_bytes: usize::MAX,
            order: Order::Ascending,
        };
        let listing = self.store.list_items(&self.tenant, scope, &page).await;
        let listing = listing.unwrap().unwrap();
        assert!(!listing.has_more, "nothing follows the last item");
        names(&listing.items)
    }

    /// Which of the named items are held live anywhere.
    pub(crate) async fn held(&self, named: &[&str]) -> Vec<String> {
        let ids: Vec<_> = named.iter().map(|name| item_id(name)).collect();
        let held = self.store.locate(&self.tenant, &ids).await.unwrap();
        let live: Vec<_> = held.into_iter().filter(|item| !item.is_tombstone()).collect();
        let mut held = names(&live);
        held.sort();
        held
    }
}

pub(crate) fn item_id(name: &str) -> ItemId {
    ItemId::from(format!("msg_{name}"))
}

pub(crate) fn item(name: &str) -> HeldItem {
    saying(name, name)
}

/// The item of this name with a text of its own.
pub(crate) fn saying(name: &str, text: &str) -> HeldItem {
    held(
        &format!("msg_{name}"),
        &format!(r#"{{"type":"message","id":"msg_{name}","role":"user","content":"{text}"}}"#),
    )
}

/// An item of these bytes under this id.
pub(crate) fn held(id: &str, json: &str) -> HeldItem {
    let item = Item::parse(Bytes::copy_from_slice(json.as_bytes())).unwrap();
    HeldItem::new(ItemId::from(id), &item, FingerprintKey::new([7; 16]), None)
}

pub(crate) fn items(names: &[&str]) -> Vec<HeldItem> {
    names.iter().map(|name| item(name)).collect()
}

pub(crate) fn names(items: &[HeldItem]) -> Vec<String> {
    items.iter().map(name).collect()
}

fn name(item: &HeldItem) -> String {
    let name = item.id.as_str().trim_start_matches("msg_");
    let mark = if item.is_tombstone() { "†" } else { "" };
    format!("{mark}{name}")
}
