//! What the restoration of an export does.

use antiphon::HeldItem;
use antiphon_store::{
    Binding, Conversation, ConversationId, Cursor, LedgerSubject, NewResponse, ResponseRecord,
    Restored, RestoredObject, Seq, StoreError, ThreadRecord, UpstreamId, Usage, item_feed,
};

use super::World;
use super::world::{items, names};

/// A conversation as an export has it: items at these positions of a thread.
#[derive(Clone)]
struct Exported {
    conversation: Conversation,
    thread: ThreadRecord,
    binds_late: bool,
}

impl Exported {
    fn new(world: &World, tip: Seq) -> Self {
        let conversation = world.new_conversation();
        let thread = ThreadRecord {
            shard: conversation.id.shard(),
            thread: world.thread(),
            lineage: Vec::new(),
            tip,
            is_named: true,
        };
        Self { conversation, thread, binds_late: false }
    }

    fn id(&self) -> &ConversationId {
        &self.conversation.id
    }

    fn object(&self) -> RestoredObject {
        let (conversation, binds_late) = (self.conversation.clone(), self.binds_late);
        RestoredObject::Conversation { conversation, binds_late }
    }
}

/// Items by name, each at its position. A deleted one reads `"†a"`.
fn placed(named: &[(Seq, &str)]) -> Vec<(Seq, HeldItem)> {
    let item = |name: &str| items(&[name.trim_start_matches('†')]).remove(0);
    let erased = |name: &str| HeldItem { body: antiphon::Body::Erased, ..item(name) };
    let one = |name: &str| if name.starts_with('†') { erased(name) } else { item(name) };
    named.iter().map(|(seq, name)| (*seq, one(name))).collect()
}

impl World {
    async fn restore(
        &self,
        thread: &ThreadRecord,
        object: RestoredObject,
        items: Vec<(Seq, HeldItem)>,
    ) -> Result<Restored, StoreError> {
        self.restore_within(Usage::UNLIMITED, thread, object, items).await
    }

    async fn restore_within(
        &self,
        room: Usage,
        thread: &ThreadRecord,
        object: RestoredObject,
        items: Vec<(Seq, HeldItem)>,
    ) -> Result<Restored, StoreError> {
        let (sender, feed) = item_feed(room);
        let sending = async {
            for item in items {
                sender.send(vec![item]).await;
            }
            sender.finish().await;
        };
        let restoring = self.store.restorer().restore(&self.tenant, thread.clone(), object, feed);
        tokio::join!(restoring, sending).0
    }

    async fn transcript_of(&self, id: &ConversationId) -> Vec<String> {
        let (_, end) = self.store.conversation(&self.tenant, id).await.unwrap().unwrap();
        names(&self.store.transcript(&self.tenant, end).await.unwrap())
    }
}

const ITEMS: &[(Seq, &str)] = &[(0, "a"), (1, "†b"), (5, "c")];

pub(crate) async fn conversation_is_restored_at_its_positions(world: World) {
    let exported = Exported::new(&world, 7);

    let restored = world.restore(&exported.thread, exported.object(), placed(ITEMS)).await;

    assert_eq!(restored, Ok(Restored::Created));
    let found = world.store.conversation(&world.tenant, exported.id()).await.unwrap();
    let (conversation, end) = found.unwrap();
    assert_eq!((conversation, end.end), (exported.conversation.clone(), 7));
    assert_eq!(world.transcript_of(exported.id()).await, ["a", "†b", "c"]);
    world.append(exported.id(), &["d"]).await.unwrap();
    assert_eq!(world.transcript_of(exported.id()).await, ["a", "†b", "c", "d"]);
}

pub(crate) async fn restored_conversation_exists(world: World) {
    let exported = Exported::new(&world, 6);
    world.restore(&exported.thread, exported.object(), placed(ITEMS)).await.unwrap();
    let usage = world.store.usage(&world.tenant).await.unwrap();

    let again = world.restore(&exported.thread, exported.object(), placed(ITEMS)).await;

    assert_eq!(again, Ok(Restored::Exists));
    assert_eq!(world.store.usage(&world.tenant).await.unwrap(), usage);
}

pub(crate) async fn fork_is_restored_with_its_lineage(world: World) {
    let exported = Exported::new(&world, 6);
    world.restore(&exported.thread, exported.object(), placed(ITEMS)).await.unwrap();
    let fork = ThreadRecord {
        shard: exported.thread.shard,
        thread: world.thread(),
        lineage: vec![(exported.thread.thread, 1)],
        tip: 3,
        is_named: false,
    };
    let id = world.response_id(fork.shard);
    let record = ResponseRecord {
        response: NewResponse {
            id: id.clone(),
            conversation: None,
            created_at: 1_767_225_600,
            envelope: "{}".into(),
            report: "{}".into(),
            copy: None,
        },
        cursor: Cursor { shard: fork.shard, thread: fork.thread, end: 3 },
        input: 1..2,
        output: 2..3,
    };
    let object = RestoredObject::Response(record.clone());

    let restored = world.restore(&fork, object, placed(&[(1, "x"), (2, "y")])).await;

    assert_eq!(restored, Ok(Restored::Created));
    let found = world.store.response(&world.tenant, &id).await.unwrap().unwrap();
    assert_eq!(found, record);
    let transcript = world.store.transcript(&world.tenant, found.cursor).await.unwrap();
    assert_eq!(names(&transcript), ["a", "x", "y"]);
}

pub(crate) async fn cancelled_restoration_changes_nothing(world: World) {
    let exported = Exported::new(&world, 6);
    let (sender, feed) = item_feed(Usage::UNLIMITED);
    let restorer = world.store.restorer();
    let restoring =
        restorer.restore(&world.tenant, exported.thread.clone(), exported.object(), feed);
    let sending = async move {
        sender.send(placed(ITEMS)).await;
        drop(sender);
    };

    let (restored, ()) = tokio::join!(restoring, sending);

    assert_eq!(restored, Err(StoreError::RestoreCancelled));
    assert_eq!(world.store.conversation(&world.tenant, exported.id()).await, Ok(None));
    assert_eq!(world.store.usage(&world.tenant).await.unwrap().items, 0);
    let again = world.restore(&exported.thread, exported.object(), placed(ITEMS)).await;
    assert_eq!(again, Ok(Restored::Created));
}

pub(crate) async fn other_conversation_with_the_id_is_a_conflict(world: World) {
    let exported = Exported::new(&world, 6);
    world.restore(&exported.thread, exported.object(), placed(ITEMS)).await.unwrap();
    let thread = ThreadRecord { thread: world.thread(), ..exported.thread.clone() };

    let other = world.restore(&thread, exported.object(), placed(&[(0, "z")])).await;

    assert!(matches!(other, Err(StoreError::Conflict(_))), "{other:?}");
    assert_eq!(world.transcript_of(exported.id()).await, ["a", "†b", "c"]);
}

pub(crate) async fn item_at_a_taken_position_is_a_conflict(world: World) {
    let exported = Exported::new(&world, 6);
    world.restore(&exported.thread, exported.object(), placed(ITEMS)).await.unwrap();

    let loose = RestoredObject::LooseItems;
    let other = world.restore(&exported.thread, loose.clone(), placed(&[(0, "z")])).await;
    assert!(matches!(other, Err(StoreError::Conflict(_))), "{other:?}");
    let same = world.restore(&exported.thread, loose.clone(), placed(&[(0, "a")])).await;
    assert_eq!(same, Ok(Restored::Created));
    let grown = ThreadRecord { tip: 9, ..exported.thread.clone() };
    let more = world.restore(&grown, loose, placed(&[(8, "z")])).await;
    assert!(matches!(more, Err(StoreError::Conflict(_))), "{more:?}");
    assert_eq!(world.transcript_of(exported.id()).await, ["a", "†b", "c"]);
}

pub(crate) async fn repeated_item_rejects_the_whole_conversation(world: World) {
    reject_repeated(&world, &[(0, "a"), (1, "a")]).await;
}

pub(crate) async fn repeated_item_in_front_rejects_the_whole_conversation(world: World) {
    reject_repeated(&world, &[(2, "a"), (0, "a")]).await;
}

async fn reject_repeated(world: &World, twice: &[(Seq, &str)]) {
    let exported = Exported::new(world, 3);

    let restored = world.restore(&exported.thread, exported.object(), placed(twice)).await;

    assert_eq!(restored, Err(StoreError::DuplicateItem("msg_a".into())));
    assert_eq!(world.store.conversation(&world.tenant, exported.id()).await, Ok(None));
}

pub(crate) async fn items_beyond_the_room_restore_nothing(world: World) {
    let exported = Exported::new(&world, 6);
    let room = |items, bytes| Usage { items, bytes };
    let restore =
        |room| world.restore_within(room, &exported.thread, exported.object(), placed(ITEMS));
    let bytes = Usage::from_items(placed(ITEMS).iter().map(|(_, item)| item)).bytes;

    assert_eq!(restore(room(1, bytes)).await, Err(StoreError::QuotaExceeded("items")));
    assert_eq!(restore(room(2, bytes - 1)).await, Err(StoreError::QuotaExceeded("bytes")));
    assert_eq!(world.store.usage(&world.tenant).await.unwrap(), Usage::default());

    assert_eq!(restore(room(2, bytes)).await, Ok(Restored::Created));
    let loose = RestoredObject::LooseItems;
    let again = world.restore_within(room(0, 0), &exported.thread, loose, placed(ITEMS)).await;
    assert_eq!(again, Ok(Restored::Created), "the store has the items");
}

pub(crate) async fn conversation_of_another_tenant_is_no_conflict(world: World) {
    let exported = Exported::new(&world, 6);
    world.restore(&exported.thread, exported.object(), placed(ITEMS)).await.unwrap();
    let other = world.seen_by("bob");

    let restored = other.restore(&exported.thread, exported.object(), placed(ITEMS)).await;

    assert_eq!(restored, Ok(Restored::Created));
    other.store.delete_conversation(&other.tenant, exported.id()).await.unwrap();
    assert_eq!(world.transcript_of(exported.id()).await, ["a", "†b", "c"]);
}

pub(crate) async fn restored_ledger_is_stale(world: World) {
    let exported = Exported::new(&world, 6);
    let named = UpstreamId { upstream: "https://one.example".into(), id: "conv_theirs".into() };
    let subject = LedgerSubject::Conversation(exported.id().clone());
    let restorer = world.store.restorer();
    let restore = || restorer.restore_ledger(&world.tenant, named.clone(), subject.clone());

    assert_eq!(restore().await, Ok(Restored::Created));
    assert_eq!(restore().await, Ok(Restored::Exists));

    let entry = world.store.ledgers().entry(&world.tenant, "conv_theirs").await.unwrap().unwrap();
    assert_eq!((entry.subject, entry.is_stale), (subject, true));
    let other = LedgerSubject::Conversation(world.conversation_id(exported.thread.shard));
    let taken = restorer.restore_ledger(&world.tenant, named.clone(), other).await;
    assert!(matches!(taken, Err(StoreError::Conflict(_))), "{taken:?}");
}

pub(crate) async fn resynced_ledger_exists(world: World) {
    let exported = Exported::new(&world, 6);
    let named = UpstreamId { upstream: "https://one.example".into(), id: "conv_theirs".into() };
    let subject = LedgerSubject::Conversation(exported.id().clone());
    world.store.restorer().restore_ledger(&world.tenant, named, subject).await.unwrap();
    world.restore(&exported.thread, exported.object(), placed(ITEMS)).await.unwrap();
    let resynced = world.store.ledgers().resync(
        &world.tenant,
        exported.id(),
        world.thread(),
        items(&["z"]),
        None,
    );
    resynced.await.unwrap();

    let again = world.restore(&exported.thread, exported.object(), placed(ITEMS)).await;

    assert_eq!(again, Ok(Restored::Exists));
    assert_eq!(world.transcript_of(exported.id()).await, ["z"]);
}

pub(crate) async fn conversation_without_upstream_is_restored_pending(world: World) {
    let exported = Exported { binds_late: true, ..Exported::new(&world, 6) };
    world.restore(&exported.thread, exported.object(), placed(ITEMS)).await.unwrap();

    let binding = world.store.ledgers().binding(&world.tenant, exported.id()).await;
    assert_eq!(binding, Ok(Some(Binding::Pending)));
}
