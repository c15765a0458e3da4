//! What outlives the process.

use std::collections::BTreeSet;

use antiphon_store::{Destination, PriorTurn, RETRY_WINDOW, RequestDigest, TurnRecord};
use bytes::Bytes;
use tokio::task::JoinSet;

use super::World;
use super::background::{accepted, background, end, events, page};
pub(crate) use super::copies::settled_turn_keeps_its_copy;
use super::ledgers::{elsewhere, of_conversation, of_response};
pub(crate) use super::notices::notices_of_a_settled_turn_become_due;
use super::requests::{first_attempt, shard_of_retry};
use super::world::items;

pub(crate) async fn acknowledged_writes_outlive_the_process(world: World) {
    let conversation = world.conversation(&["a"]).await;
    let within = world.within(&conversation, &["b"], &["c"]).await;
    let fork = world.after(&within, &["d"], &["e"]).await;
    world.delete_item(&conversation, "a").await;

    let world = world.reopened().await;

    assert_eq!(world.listed(&conversation).await, ["b", "c"]);
    assert_eq!(world.transcript(&fork).await, ["†a", "b", "c", "d", "e"]);
    let next = world.after(&fork, &["f"], &["g"]).await;
    assert_eq!(world.end(&next).await.thread, world.end(&fork).await.thread);
}

pub(crate) async fn closed_store_has_written_acknowledged_writes(world: World) {
    let conversation = world.conversation(&[]).await;
    let mut tasks = JoinSet::new();
    for task in 0..64 {
        let (world, conversation) = (world.clone(), conversation.clone());
        tasks.spawn(async move {
            let name = task.to_string();
            let answer = world.append(&conversation, &[&name]).await;
            answer.is_ok().then_some(name)
        });
    }
    world.store.close().await;
    let answered: BTreeSet<String> = tasks.join_all().await.into_iter().flatten().collect();

    let world = world.reopened().await;

    let listed = world.listed(&conversation).await;
    assert_eq!(listed.into_iter().collect::<BTreeSet<_>>(), answered);
}

pub(crate) async fn named_value_outlives_the_process(world: World) {
    let [one, two, three] = [b"one", b"two", b"333"].map(|text| Bytes::from_static(text));
    assert_eq!(world.store.value_or_insert("key", one.clone()).await, Ok(one.clone()));
    assert_eq!(world.store.value_or_insert("key", two.clone()).await, Ok(one.clone()));

    let world = world.reopened().await;

    assert_eq!(world.store.value_or_insert("key", three.clone()).await, Ok(one.clone()));
    assert_eq!(world.store.replace_value("key", two.clone(), three.clone()).await, Ok(false));
    assert_eq!(world.store.replace_value("key", one, two.clone()).await, Ok(true));
    assert_eq!(world.store.value_or_insert("key", three.clone()).await, Ok(two));
    assert_eq!(world.store.value_or_insert("another key", three.clone()).await, Ok(three));
}

pub(crate) async fn settled_turn_can_be_retracted(world: World) {
    let asked = RequestDigest([0xa5; 16]);
    let conversation = world.conversation(&["a"]).await;
    let (response, turn) = world.turn(Destination::Conversation(conversation.clone()), &["b"], &[]);
    world.record_pending(&TurnRecord { request: Some(asked), ..turn }).await;

    let world = world.reopened().await;
    assert_eq!(world.store.settle_pending_turns().await, Ok(1));

    let found =
        world.store.find_prior_turns(&world.tenant, response.shard(), &asked, 1).await.unwrap();
    assert!(matches!(&found[..], [PriorTurn::Ended(record)] if record.response.id == response));
    let fork = world.thread();
    let taken = world.store.retract(&world.tenant, &conversation, &asked, fork, None).await;
    assert_eq!(taken, Ok(true));
    assert_eq!(world.listed(&conversation).await, ["a"]);
}

pub(crate) async fn first_attempts_are_found_after_a_restart(world: World) {
    let request = |number: u8| RequestDigest([number; 16]);
    let mut firsts = Vec::new();
    for number in 0..100 {
        let (first, turn) = first_attempt(&world, request(number), &["a"]).await;
        world.commit(turn).await.unwrap();
        firsts.push(first.shard());
    }
    let (open, turn) = first_attempt(&world, request(100), &["a"]).await;
    world.record_pending(&turn).await;
    firsts.push(open.shard());

    let world = world.reopened().await;

    for (number, first) in (0..).zip(firsts) {
        assert_eq!(shard_of_retry(&world, request(number), RETRY_WINDOW).await, first);
    }
}

pub(crate) async fn lookup_settles_a_turn_of_a_dead_process(world: World) {
    let conversation = world.conversation(&["a"]).await;
    let (response, turn) = world.turn(Destination::Conversation(conversation.clone()), &["b"], &[]);
    world.record_pending(&turn).await;

    let world = world.reopened().await;

    assert_eq!(world.store.is_open(&world.tenant, &response).await, Ok(false));
    assert!(world.exists(&response).await);
    assert_eq!(world.listed(&conversation).await, ["a", "b"]);
}

pub(crate) async fn pending_turns_are_settled_in_order(world: World) {
    let conversation = world.conversation(&["a"]).await;
    let mut announced = Vec::new();
    for name in ["z", "b", "y", "c"] {
        let (response, turn) =
            world.turn(Destination::Conversation(conversation.clone()), &[name], &[]);
        world.record_pending(&turn).await;
        announced.push((response, turn));
    }

    let world = world.reopened().await;
    assert_eq!(world.store.settle_pending_turns().await, Ok(4));

    assert_eq!(world.listed(&conversation).await, ["a", "z", "b", "y", "c"]);
    for (response, turn) in announced {
        let record = world.store.response(&world.tenant, &response).await;
        let record = record.unwrap().unwrap();
        assert_eq!(Some(record.response), turn.response);
        assert_eq!(record.output, record.cursor.end..record.cursor.end);
    }
    assert_eq!(world.store.settle_pending_turns().await, Ok(0));
}

pub(crate) async fn committed_turn_is_not_settled_again(world: World) {
    let conversation = world.conversation(&[]).await;
    let (response, mut turn) =
        world.turn(Destination::Conversation(conversation.clone()), &["a"], &[]);
    world.record_pending(&turn).await;
    turn.output = items(&["b"]);
    world.commit(turn).await.unwrap();
    let (dropped, turn) = world.turn(Destination::Conversation(conversation.clone()), &["c"], &[]);
    world.record_pending(&turn).await;
    let drop = world.store.drop_pending_turn(&world.tenant, &dropped).await;
    assert_eq!(drop, Ok(()));

    let world = world.reopened().await;
    assert_eq!(world.store.settle_pending_turns().await, Ok(0));

    assert_eq!(world.listed(&conversation).await, ["a", "b"]);
    assert_eq!(world.output(&response).await, ["b"]);
    assert!(!world.exists(&dropped).await);
}

pub(crate) async fn uncommittable_pending_turn_is_dropped(world: World) {
    let gone = world.conversation(&[]).await;
    let full = world.conversation(&["a"]).await;
    let (in_gone, turn) = world.turn(Destination::Conversation(gone.clone()), &["b"], &[]);
    world.record_pending(&turn).await;
    world.announce("resp_x", &in_gone).await;
    let (in_full, turn) = world.turn(Destination::Conversation(full.clone()), &["c", "a"], &[]);
    world.record_pending(&turn).await;
    let (subject, turn) = world.turn(Destination::Conversation(full.clone()), &["d"], &[]);
    world.record_pending(&turn).await;
    world.delete_conversation(&gone).await;

    let world = world.reopened().await;
    assert_eq!(world.store.settle_pending_turns().await, Ok(1));

    assert_eq!(world.listed(&full).await, ["a", "d"]);
    assert!(world.exists(&subject).await);
    for refused in [in_gone, in_full] {
        assert!(!world.exists(&refused).await);
    }
    assert_eq!(world.entry("resp_x").await, None);
    let world = world.reopened().await;
    assert_eq!(world.store.settle_pending_turns().await, Ok(0));
}

pub(crate) async fn pending_turn_is_settled_at_its_cursor(world: World) {
    let new = Destination::New { shard: world.shard(), thread: world.thread() };
    let (alone, turn) = world.turn(new, &["x"], &[]);
    world.record_pending(&turn).await;
    let first = world.first(&["a"], &["b"]).await;
    let (at_tip, turn) = world.turn(world.destination_after(world.end(&first).await), &["c"], &[]);
    world.record_pending(&turn).await;
    let (forked, turn) = world.turn(world.destination_after(world.end(&first).await), &["d"], &[]);
    world.record_pending(&turn).await;
    world.delete_response(&first).await;

    let world = world.reopened().await;
    assert_eq!(world.store.settle_pending_turns().await, Ok(3));

    assert_eq!(world.transcript(&alone).await, ["x"]);
    assert_eq!(world.transcript(&at_tip).await, ["a", "b", "c"]);
    assert_eq!(world.transcript(&forked).await, ["a", "b", "d"]);
}

pub(crate) async fn pending_turns_of_every_tenant_are_settled(world: World) {
    let first = world.seen_by("alice");
    let second = world.seen_by("bob");
    for tenant in [&first, &second] {
        let conversation = tenant.conversation(&[]).await;
        let (_, turn) = tenant.turn(Destination::Conversation(conversation), &["a"], &[]);
        tenant.record_pending(&turn).await;
    }
    drop((first, second));

    let world = world.reopened().await;

    assert_eq!(world.store.settle_pending_turns().await, Ok(2));
    for tenant in ["alice", "bob"] {
        assert_eq!(world.seen_by(tenant).held(&["a"]).await, ["a"]);
    }
}

pub(crate) async fn new_pending_turns_are_not_settled(world: World) {
    let conversation = world.conversation(&[]).await;
    let destination = Destination::Conversation(conversation.clone());
    let (old, turn) = world.turn(destination.clone(), &["a"], &[]);
    world.record_pending(&turn).await;
    let world = world.reopened().await;
    let dropped = world.store.drop_pending_turn(&world.tenant, &old).await;
    assert_eq!(dropped, Ok(()));

    let (_, turn) = world.turn(destination, &["b"], &[]);
    world.record_pending(&turn).await;

    assert_eq!(world.store.settle_pending_turns().await, Ok(0));
    assert_eq!(world.listed(&conversation).await, [""; 0]);
}

pub(crate) async fn open_job_of_a_dead_process_is_claimed(world: World) {
    let (id, turn) = accepted(&world).await;
    background(&world).append(&world.tenant, &id, events(2..3)).await.unwrap();

    let world = world.reopened().await;

    assert_eq!(world.store.settle_pending_turns().await, Ok(0));
    let left = background(&world).claim_next().await.unwrap().unwrap();
    assert_eq!((left.id, left.event_count), (id.clone(), 3));
    assert_eq!(background(&world).claim_next().await, Ok(None));
    end(&world, turn, 3).await.unwrap();

    let world = world.reopened().await;
    assert_eq!(background(&world).claim_next().await, Ok(None));
    assert_eq!(page(&world, &id, 0).await.unwrap().events, events(0..4));
}

pub(crate) async fn ledgers_outlive_the_process(world: World) {
    let conversation = world.adopted("conv_x").await;
    world.resync(&conversation, elsewhere(&["a"])).await.unwrap();
    let response = world.kept_as("resp_x", &["b"], &["c"]).await;
    let (announced, _) = world.turn(world.anew(), &[], &[]);
    world.announce("resp_y", &announced).await;

    let world = world.reopened().await;

    assert_eq!(world.entry("conv_x").await, Some(of_conversation(&conversation, false)));
    assert_eq!(world.listed(&conversation).await, ["a"]);
    assert_eq!(world.entry("resp_x").await, Some(of_response(&response, false)));
    assert_eq!(world.entry("resp_y").await, Some(of_response(&announced, true)));
}

/// Whatever was learned before it was settled: the provider may call the items otherwise.
pub(crate) async fn settled_turn_leaves_its_ledgers_stale(world: World) {
    let conversation = world.adopted("conv_x").await;
    let (id, turn) = world.turn(Destination::Conversation(conversation.clone()), &["a"], &[]);
    world.record_pending(&turn).await;
    world.announce("resp_x", &id).await;
    world.resync(&conversation, elsewhere(&["b"])).await.unwrap();

    let world = world.reopened().await;
    assert_eq!(world.store.settle_pending_turns().await, Ok(1));

    assert_eq!(world.entry("resp_x").await, Some(of_response(&id, true)));
    assert_eq!(world.entry("conv_x").await, Some(of_conversation(&conversation, true)));
    assert_eq!(world.transcript(&id).await, ["b", "a"]);
}
