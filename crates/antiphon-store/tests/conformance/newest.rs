//! Lists of a tenant's data, newest first.

use antiphon_store::{
    ConversationId, Destination, LedgerSubject, ListedSegment, Recency, ResponseId, TurnRecord,
    UpstreamId,
};

use super::World;

/// The ids of all listed responses, newest first.
async fn newest_responses(world: &World) -> Vec<ResponseId> {
    let listings = world.store.listings();
    let (mut ids, mut before) = (Vec::new(), None);
    loop {
        let page = listings.newest_responses(&world.tenant, before).await.unwrap();
        ids.extend(page.entries.into_iter().map(|entry| entry.id));
        match page.next {
            Some(next) => before = Some(next),
            None => return ids,
        }
    }
}

/// The ids of all listed conversations, newest first, read in pages of two.
async fn newest_conversations(world: &World) -> Vec<ConversationId> {
    let listings = world.store.listings();
    let (mut ids, mut before) = (Vec::new(), None);
    loop {
        let page = listings.newest_conversations(&world.tenant, before, 2).await.unwrap();
        let Some(last) = page.last() else { return ids };
        before = Some((last.created_at, last.id.clone()));
        ids.extend(page.into_iter().map(|conversation| conversation.id));
    }
}

async fn commit_at(world: &World, created_at: i64) -> ResponseId {
    let destination = Destination::New { shard: world.shard(), thread: world.thread() };
    let (id, mut turn) = world.turn(destination, &["a"], &["b"]);
    turn.response.as_mut().unwrap().created_at = created_at;
    world.commit(turn).await.unwrap();
    id
}

pub(crate) async fn newest_responses_come_first(world: World) {
    let mut expected = Vec::new();
    for created_at in [5, 7, 7, 9] {
        expected.insert(0, commit_at(&world, created_at).await);
    }
    let earliest = commit_at(&world, 1).await;
    expected.push(earliest.clone());
    assert_eq!(newest_responses(&world).await, expected);

    world.store.delete_response(&world.tenant, &earliest).await.unwrap();
    expected.pop();
    assert_eq!(newest_responses(&world).await, expected);
}

pub(crate) async fn newest_responses_continue_at_a_position(world: World) {
    let older = commit_at(&world, 3).await;
    commit_at(&world, 4).await;
    let listings = world.store.listings();
    let all = listings.newest_responses(&world.tenant, None).await.unwrap().entries;
    let rest = listings.newest_responses(&world.tenant, Some(all[0].recency)).await.unwrap();
    assert_eq!(rest.entries, all[1..]);
    assert_eq!(rest.entries[0].id, older);
    let none = Recency { created_at: 0, number: 0 };
    assert!(listings.newest_responses(&world.tenant, Some(none)).await.unwrap().entries.is_empty());
}

/// The list examines a bounded number of responses, also those of other tenants.
pub(crate) async fn many_responses_are_listed_in_pages(world: World) {
    let other = world.seen_by("bob");
    let own = world.first(&["a"], &["b"]).await;
    let mut last = other.first(&["a"], &[]).await;
    for _ in 0..1100 {
        last = other.after(&last, &[], &[]).await;
    }
    let page = world.store.listings().newest_responses(&world.tenant, None).await.unwrap();
    assert_eq!((page.entries.len(), page.next.is_some()), (0, true));
    assert_eq!(newest_responses(&world).await, [own]);
    assert_eq!(newest_responses(&other).await.len(), 1101);
}

pub(crate) async fn newest_conversations_come_first(world: World) {
    let mut created = Vec::new();
    for created_at in [3, 1, 2] {
        let conversation = world.new_conversation();
        created.push((created_at, conversation.id.clone()));
        let conversation = antiphon_store::Conversation { created_at, ..conversation };
        world
            .store
            .create_conversation(&world.tenant, conversation, world.thread(), Vec::new())
            .await
            .unwrap();
    }
    created.sort_by_key(|(created_at, _)| std::cmp::Reverse(*created_at));
    let expected: Vec<_> = created.into_iter().map(|(_, id)| id).collect();
    assert_eq!(newest_conversations(&world).await, expected);
}

pub(crate) async fn tree_has_forks_and_names(world: World) {
    let conversation = world.conversation(&["a"]).await;
    let first = world.within(&conversation, &["b"], &["c"]).await;
    let second = world.within(&conversation, &["d"], &["e"]).await;
    let fork = world.after(&first, &["f"], &["g", "h"]).await;

    let listings = world.store.listings();
    let tree = listings.tree(&world.tenant, conversation.shard()).await.unwrap();
    assert!(tree.is_whole);
    let [named] =
        &tree.threads.iter().filter(|it| it.conversation.is_some()).collect::<Vec<_>>()[..]
    else {
        panic!("one thread has a name");
    };
    assert_eq!(named.conversation.as_ref().unwrap().id, conversation);
    let turn = |id: &ResponseId| {
        let found =
            |it: &&ListedSegment| it.response.as_ref().is_some_and(|it| it.listed.id == *id);
        tree.segments.iter().find(found).unwrap()
    };
    assert_eq!(turn(&first).thread, named.record.thread);
    assert_eq!((turn(&first).first, turn(&first).held, turn(&first).live.items), (1, 2, 2));
    assert_eq!(turn(&second).response.as_ref().unwrap().end, 5);
    let forked = tree.threads.iter().find(|it| it.record.thread == turn(&fork).thread).unwrap();
    assert_eq!(forked.record.lineage, [(named.record.thread, 3)]);
    assert_eq!(turn(&fork).response.as_ref().unwrap().output_from, 4);
    let order: Vec<_> = tree.segments.iter().map(|it| (it.thread, it.first)).collect();
    let mut threads = order.chunk_by(|one, next| one.0 == next.0);
    assert!(threads.all(|thread| thread.is_sorted_by_key(|(_, first)| *first)));
}

pub(crate) async fn responses_of_a_thread_are_in_order(world: World) {
    let conversation = world.conversation(&["a"]).await;
    let mut ids = Vec::new();
    for _ in 0..3 {
        ids.push(world.within(&conversation, &[], &[]).await);
    }
    for name in ["b", "c"] {
        ids.push(world.within(&conversation, &[name], &[]).await);
    }
    let end = world.store.conversation(&world.tenant, &conversation).await.unwrap().unwrap().1;
    let of = (end.shard, end.thread);
    let listings = world.store.listings();
    let listed = async |range, limit| {
        let found = listings.thread_responses(&world.tenant, of, range, limit).await.unwrap();
        found.into_iter().map(|record| record.response.id).collect::<Vec<_>>()
    };
    assert_eq!(listed((0, 2), 10).await, ids);
    assert_eq!(listed((0, 1), 10).await, ids[..4]);
    assert_eq!(listed((2, 2), 10).await, ids[4..]);
    assert_eq!(listed((0, 2), 2).await, ids[..2]);
    let items = listings.thread_items(&world.tenant, of, (1, 3)).await.unwrap();
    let items: Vec<_> = items.iter().map(|(seq, item)| (*seq, item.id.as_str())).collect();
    assert_eq!(items, [(1, "msg_b"), (2, "msg_c")]);
}

pub(crate) async fn tree_has_open_turns_and_ledgers(world: World) {
    let conversation = world.conversation(&["a"]).await;
    let (id, turn) = world.turn(Destination::Conversation(conversation.clone()), &["b"], &[]);
    let pending = TurnRecord { output: Vec::new(), ..turn };
    world.store.record_pending_turn(&world.tenant, pending).await.unwrap();
    let listings = world.store.listings();
    let tree = listings.tree(&world.tenant, conversation.shard()).await.unwrap();
    assert_eq!(tree.open_turns.len(), 1);
    assert_eq!(tree.open_turns[0].response, id);
    assert_eq!(tree.open_turns[0].conversation.as_ref(), Some(&conversation));

    let named = UpstreamId { upstream: "openai".into(), id: "conv_theirs".into() };
    let adopted = world.new_conversation();
    let (ours, thread) = (adopted.id.clone(), world.thread());
    world.store.ledgers().adopt(&world.tenant, named, adopted, thread).await.unwrap();
    let tree = listings.tree(&world.tenant, ours.shard()).await.unwrap();
    let [(name, entry)] = &tree.ledgers[..] else { panic!("one ledger") };
    assert_eq!((&**name, entry.is_stale), ("conv_theirs", true));
    assert_eq!(entry.subject, LedgerSubject::Conversation(ours));
    assert_eq!(listings.ledgers_after(&world.tenant, None).await.unwrap(), tree.ledgers);
    assert_eq!(listings.ledger(&world.tenant, "conv_theirs").await.unwrap().as_ref(), Some(entry));
}

pub(crate) async fn other_tenants_are_not_listed(world: World) {
    let conversation = world.conversation(&["a"]).await;
    let response = world.within(&conversation, &["b"], &["c"]).await;
    let other = world.seen_by("bob");
    assert_eq!(newest_responses(&other).await, []);
    assert_eq!(newest_conversations(&other).await, []);
    let end = world.end(&response).await;
    let listings = other.store.listings();
    let tree = listings.tree(&other.tenant, end.shard).await.unwrap();
    assert!(tree.threads.is_empty() && tree.segments.is_empty() && tree.open_turns.is_empty());
    let of = (end.shard, end.thread);
    assert_eq!(listings.thread_responses(&other.tenant, of, (0, 9), 9).await.unwrap(), []);
    assert_eq!(listings.thread_items(&other.tenant, of, (0, 9)).await.unwrap(), []);
    assert_eq!(listings.response_record(&other.tenant, &response).await.unwrap(), None);
}
