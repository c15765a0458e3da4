//! What a snapshot shows.

use std::collections::BTreeMap;

use antiphon_store::{
    ConversationId, Cursor, DataCounts, Destination, ResponseId, Seq, Shard, Snapshot, Tenant,
    ThreadId, ThreadRecord,
};

use super::World;
use super::ledgers::{of_conversation, of_response};
use super::world::{item, names, saying};

/// A snapshot of a world, as one tenant's.
struct Seen {
    snapshot: Box<dyn Snapshot>,
    tenant: Tenant,
}

impl World {
    async fn seen(&self) -> Seen {
        Seen { snapshot: self.snapshot().await, tenant: self.tenant.clone() }
    }
}

impl Seen {
    async fn count_data(&mut self) -> DataCounts {
        self.snapshot.count_data(&self.tenant).await.unwrap()
    }

    async fn conversations(&mut self) -> Vec<(ConversationId, Cursor)> {
        let mut all: Vec<(ConversationId, Cursor)> = Vec::new();
        loop {
            let after = all.last().map(|(id, _)| id.clone());
            let page = self.snapshot.conversations(&self.tenant, after.as_ref()).await.unwrap();
            if page.is_empty() {
                return all;
            }
            all.extend(page.into_iter().map(|it| (it.conversation.id, it.end)));
        }
    }

    async fn responses(&mut self) -> Vec<ResponseId> {
        let mut all: Vec<ResponseId> = Vec::new();
        loop {
            let after = all.last().cloned();
            let page = self.snapshot.responses(&self.tenant, after.as_ref()).await.unwrap();
            if page.is_empty() {
                return all;
            }
            all.extend(page);
        }
    }

    /// The items of a thread up to here, by name.
    async fn items(&mut self, shard: Shard, thread: ThreadId, end: Seq) -> Vec<String> {
        let (mut all, mut start) = (Vec::new(), 0);
        loop {
            let page = self.snapshot.items(&self.tenant, (shard, thread), start..end).await;
            let (places, page): (Vec<Seq>, Vec<_>) = page.unwrap().into_iter().unzip();
            let Some(last) = places.last() else { return all };
            start = last + 1;
            all.extend(names(&page));
        }
    }

    async fn loose(&mut self) -> Vec<String> {
        let (mut all, mut after) = (Vec::new(), None);
        loop {
            let (page, last) = self.snapshot.loose_items(&self.tenant, after).await.unwrap();
            let items: Vec<_> = page.into_iter().map(|(_, item)| item).collect();
            all.extend(names(&items));
            if last.is_none() {
                all.sort();
                return all;
            }
            after = last;
        }
    }
}

pub(crate) async fn snapshot_shows_the_state_at_its_start(world: World) {
    world.has_everything().await;
    let mut seen = world.seen().await;

    world.first(&["x"], &["y"]).await;
    world.erase(1000).await;

    let expected = DataCounts {
        conversations: 2,
        responses: 4,
        pending_turns: 1,
        ledgers: 1,
        items: 9,
        deleted_items: 1,
        others: 0,
    };
    assert_eq!(DataCounts { others: 0, ..seen.count_data().await }, expected);
    let conversations = seen.conversations().await;
    let [(_, end), (_, ledger)] = &conversations[..] else { panic!("{conversations:?}") };
    assert_eq!(seen.items(end.shard, end.thread, end.end).await, ["a", "†b", "c", "d"]);
    assert_eq!(ledger.end, 0);
    assert_eq!(seen.loose().await, [""; 0]);
    let mut outputs = Vec::new();
    for id in seen.responses().await {
        let record = seen.snapshot.response(&seen.tenant, &id).await.unwrap().unwrap();
        let Cursor { shard, thread, end } = record.cursor;
        outputs.extend(seen.items(shard, thread, end).await.pop());
    }
    outputs.sort();
    assert_eq!(outputs, ["d", "f", "h", "j"]);
}

pub(crate) async fn snapshot_shows_pending_turns(world: World) {
    let first = world.first(&["a"], &["b"]).await;
    let (id, turn) = world.turn(world.destination_after(world.end(&first).await), &["c"], &[]);
    world.record_pending(&turn).await;
    let mut seen = world.seen().await;

    let open = seen.snapshot.pending_turns(&seen.tenant, None).await.unwrap();
    assert_eq!(open, std::slice::from_ref(&id));
    assert_eq!(seen.snapshot.pending_turns(&seen.tenant, Some(&id)).await, Ok(Vec::new()));
    let shown = seen.snapshot.pending_turn(&seen.tenant, &id).await.unwrap().unwrap();
    assert_eq!((names(&shown.input), shown.response), (vec!["c".to_owned()], turn.response));
}

pub(crate) async fn loose_items_are_shown(world: World) {
    let first = world.first(&["a"], &["b"]).await;
    let second = world.after(&first, &["c"], &["d"]).await;
    let third = world.after(&second, &["e"], &["f"]).await;
    let fork = world.after(&second, &["g"], &["h"]).await;
    let conversation = world.conversation(&["i"]).await;
    let within = world.within(&conversation, &["j"], &["k"]).await;
    world.delete_response(&second).await;
    assert_eq!(world.seen().await.loose().await, ["c", "d"]);

    world.delete_response(&first).await;
    world.delete_response(&third).await;
    world.delete_conversation(&conversation).await;

    assert_eq!(world.seen().await.loose().await, ["a", "b", "c", "d", "i"]);
    world.delete_response(&fork).await;
    world.delete_response(&within).await;
    assert_eq!(world.seen().await.count_data().await, DataCounts::default());
}

pub(crate) async fn thread_of_a_fork_is_shown(world: World) {
    let first = world.first(&["a"], &["b"]).await;
    world.after(&first, &["c"], &["d"]).await;
    let fork = world.after(&first, &["e"], &["f"]).await;
    let (root, end) = (world.end(&first).await, world.end(&fork).await);
    let mut seen = world.seen().await;

    let shown = seen.snapshot.thread(&seen.tenant, (end.shard, end.thread)).await.unwrap();

    let expected = ThreadRecord {
        shard: end.shard,
        thread: end.thread,
        lineage: vec![(root.thread, 2)],
        tip: 4,
        is_named: false,
    };
    assert_eq!(shown, Some(expected));
    let none = seen.snapshot.thread(&seen.tenant, (end.shard, world.thread())).await;
    assert_eq!(none, Ok(None));
}

pub(crate) async fn conversation_without_upstream_is_shown(world: World) {
    let conversation = world.new_conversation();
    let ledgers = world.store.ledgers();
    ledgers
        .create_unbound(&world.tenant, conversation.clone(), world.thread(), Vec::new())
        .await
        .unwrap();

    let listed = world.snapshot().await.conversations(&world.tenant, None).await.unwrap();

    let [shown] = &listed[..] else { panic!("{listed:?}") };
    assert_eq!((&shown.conversation, shown.binds_late), (&conversation, true));
}

pub(crate) async fn ledgers_are_shown_page_by_page(world: World) {
    let mut expected = BTreeMap::new();
    for number in 0..300 {
        let name = format!("conv_{number}");
        let id = world.adopted(&name).await;
        expected.insert(name, of_conversation(&id, true));
    }
    let response = world.kept_as("resp_x", &["a"], &["b"]).await;
    expected.insert("resp_x".into(), of_response(&response, false));
    let mut seen = world.seen().await;
    world.forget("resp_x").await;

    let (mut shown, mut last) = (BTreeMap::new(), None);
    loop {
        let page = seen.snapshot.ledgers(&seen.tenant, last.as_deref()).await.unwrap();
        let Some((name, _)) = page.last() else { break };
        last = Some(name.clone());
        let page_size = page.len();
        assert!(page_size < 300, "they do not come at once");
        shown.extend(page);
    }

    assert_eq!(shown, expected);
    assert_eq!(seen.count_data().await.ledgers, 301);
}

pub(crate) async fn long_thread_is_shown_page_by_page(world: World) {
    let all: Vec<String> = (0..600).map(|number| format!("{number:03}")).collect();
    let id = world.conversation(&[]).await;
    for some in all.chunks(50) {
        let some: Vec<&str> = some.iter().map(String::as_str).collect();
        world.append(&id, &some).await.unwrap();
    }
    let mut seen = world.seen().await;

    let Cursor { shard, thread, end } = world.tip(&id).await;
    assert_eq!(seen.items(shard, thread, end).await, all);
}

/// A page has a few megabytes, or one item.
pub(crate) async fn large_items_are_shown_one_by_one(world: World) {
    let large = "word ".repeat(1 << 20);
    let id = world.conversation(&[]).await;
    let items = vec![saying("a", &large), item("b"), saying("c", &large)];
    world.store.append_items(&world.tenant, &id, items.clone()).await.unwrap();
    let mut seen = world.seen().await;

    let Cursor { shard, thread, end } = world.tip(&id).await;
    let mut pages = Vec::new();
    let mut start = 0;
    while start < end {
        let page = seen.snapshot.items(&seen.tenant, (shard, thread), start..end).await.unwrap();
        start = page.last().unwrap().0 + 1;
        pages.push(page.into_iter().map(|(_, item)| item).collect::<Vec<_>>());
    }
    assert!(pages.len() > 1, "they do not come at once");
    assert_eq!(pages.concat(), items);
}

pub(crate) async fn tenants_are_listed_by_name(world: World) {
    for tenant in ["carol", "alice", "bob"] {
        world.seen_by(tenant).first(&["a"], &["b"]).await;
    }
    let dave = world.seen_by("dave");
    let destination = Destination::New { shard: dave.shard(), thread: dave.thread() };
    dave.record_pending(&dave.turn(destination, &["a"], &[]).1).await;
    let mut snapshot = world.snapshot().await;

    let mut found: Vec<Tenant> = Vec::new();
    while let Some(tenant) = snapshot.next_tenant(found.last()).await.unwrap() {
        found.push(tenant);
    }

    assert_eq!(found, ["alice", "bob", "carol", "dave"].map(Tenant::new));
    let of_eve = snapshot.count_data(&Tenant::new("eve")).await;
    assert_eq!(of_eve, Ok(DataCounts::default()));
}

pub(crate) async fn named_value_is_shown(world: World) {
    assert_eq!(world.snapshot().await.value("key").await, Ok(None));
    world.store.value_or_insert("key", "value".into()).await.unwrap();
    assert_eq!(world.snapshot().await.value("key").await, Ok(Some("value".into())));
}
