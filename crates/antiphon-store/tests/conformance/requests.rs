//! Turns are known by the request that they answer, and a conversation's last one can be taken
//! back.

use antiphon_store::{
    ConversationId, Destination, PriorTurn, RETRY_WINDOW, RequestDigest, ResponseId, Shard,
    StoreError, TurnRecord,
};

use super::World;
use super::world::items;

const ASKED: RequestDigest = RequestDigest([0xa5; 16]);
const OTHER: RequestDigest = RequestDigest([0x5a; 16]);

/// A turn in a conversation that answers a request.
async fn asked(
    world: &World,
    conversation: &ConversationId,
    request: RequestDigest,
    (input, output): (&[&str], &[&str]),
) -> ResponseId {
    let (id, turn) = world.turn(Destination::Conversation(conversation.clone()), input, output);
    world.commit(TurnRecord { request: Some(request), ..turn }).await.unwrap();
    id
}

/// The time of the responses, in Unix seconds.
pub(super) const ASKED_AT: i64 = 1_767_225_601;

/// The shard of a retry of this request, some seconds after its first attempt.
pub(super) async fn shard_of_retry(world: &World, request: RequestDigest, later: i64) -> Shard {
    let now = ASKED_AT + later;
    world.store.shard_of_request(&world.tenant, &request, None, now).await.unwrap()
}

/// The response of a first attempt that begins a thread, and its turn.
pub(super) async fn first_attempt(
    world: &World,
    request: RequestDigest,
    input: &[&str],
) -> (ResponseId, TurnRecord) {
    let candidate = Some(world.shard());
    let placed = world.store.shard_of_request(&world.tenant, &request, candidate, ASKED_AT).await;
    let destination = Destination::New { shard: placed.unwrap(), thread: world.thread() };
    let (id, turn) = world.turn(destination, input, &[]);
    (id, TurnRecord { request: Some(request), ..turn })
}

async fn find_prior_turns(
    world: &World,
    id: &ResponseId,
    request: RequestDigest,
) -> Vec<ResponseId> {
    let found = world.store.find_prior_turns(&world.tenant, id.shard(), &request, 2).await.unwrap();
    let ended = found.into_iter().map(|turn| match turn {
        PriorTurn::Ended(record) => record.response.id,
        PriorTurn::Open(id) => panic!("{id} ended"),
    });
    ended.collect()
}

async fn retract(
    world: &World,
    conversation: &ConversationId,
    request: RequestDigest,
) -> Result<bool, StoreError> {
    world.store.retract(&world.tenant, conversation, &request, world.thread(), None).await
}

pub(crate) async fn newest_turns_of_a_request_are_found(world: World) {
    let conversation = world.conversation(&[]).await;
    let first = asked(&world, &conversation, ASKED, (&["a"], &["b"])).await;
    let second = asked(&world, &conversation, ASKED, (&["c"], &["d"])).await;
    let other = asked(&world, &conversation, OTHER, (&["e"], &["f"])).await;
    let unnamed = world.within(&conversation, &["g"], &["h"]).await;
    let third = asked(&world, &conversation, ASKED, (&["i"], &["j"])).await;

    assert_eq!(find_prior_turns(&world, &first, ASKED).await, [third.clone(), second.clone()]);
    assert_eq!(find_prior_turns(&world, &first, OTHER).await, [other]);
    world.delete_response(&second).await;
    assert_eq!(find_prior_turns(&world, &unnamed, ASKED).await, [third, first]);
}

pub(crate) async fn retry_finds_the_thread_of_its_first_attempt(world: World) {
    let (first, turn) = first_attempt(&world, ASKED, &["a"]).await;
    world.commit(turn).await.unwrap();

    assert_eq!(shard_of_retry(&world, ASKED, RETRY_WINDOW).await, first.shard());
    assert_eq!(find_prior_turns(&world, &first, ASKED).await, [first]);
    assert_eq!(shard_of_retry(&world, OTHER, 0).await, OTHER.shard());
    assert_eq!(shard_of_retry(&world.seen_by("mallory"), ASKED, 0).await, ASKED.shard());
}

pub(crate) async fn request_is_found_in_its_tenant_and_shard_only(world: World) {
    let here = world.conversation(&[]).await;
    let elsewhere = world.first(&["c"], &["d"]).await;
    let response = asked(&world, &here, ASKED, (&["a"], &["b"])).await;

    assert_eq!(find_prior_turns(&world, &elsewhere, ASKED).await, []);
    assert_eq!(find_prior_turns(&world.seen_by("mallory"), &response, ASKED).await, []);
}

pub(crate) async fn pending_turn_is_found_by_its_request(world: World) {
    let conversation = world.conversation(&[]).await;
    let ended = asked(&world, &conversation, ASKED, (&["a"], &["b"])).await;
    let (open, turn) = world.turn(Destination::Conversation(conversation), &["c"], &[]);
    world.record_pending(&TurnRecord { request: Some(ASKED), ..turn }).await;

    let found = world.store.find_prior_turns(&world.tenant, open.shard(), &ASKED, 1).await;
    assert_eq!(found, Ok(vec![PriorTurn::Open(open.clone())]));
    assert_eq!(world.store.is_open(&world.tenant, &open).await, Ok(true));
    assert_eq!(world.store.is_open(&world.seen_by("mallory").tenant, &open).await, Ok(false));

    world.store.drop_pending_turn(&world.tenant, &open).await.unwrap();

    assert_eq!(world.store.is_open(&world.tenant, &open).await, Ok(false));
    assert_eq!(world.store.is_open(&world.tenant, &ended).await, Ok(false));
    assert_eq!(find_prior_turns(&world, &open, ASKED).await, [ended]);
}

pub(crate) async fn retracted_turn_can_be_continued(world: World) {
    let conversation = world.conversation(&["a"]).await;
    let cut = asked(&world, &conversation, ASKED, (&["b"], &["c"])).await;

    assert_eq!(retract(&world, &conversation, ASKED).await, Ok(true));

    assert_eq!(world.listed(&conversation).await, ["a"]);
    assert_eq!(world.transcript(&cut).await, ["a", "b", "c"]);
    assert_eq!(
        (world.input(&cut).await, world.output(&cut).await),
        (vec!["b".into()], vec!["c".into()])
    );
    let again = asked(&world, &conversation, ASKED, (&["b"], &["d"])).await;
    let beside = world.after(&cut, &["e"], &[]).await;
    assert_eq!(world.listed(&conversation).await, ["a", "b", "d"]);
    assert_eq!(world.transcript(&again).await, ["a", "b", "d"]);
    assert_eq!(world.transcript(&beside).await, ["a", "b", "c", "e"]);
    assert_eq!(world.transcript(&cut).await, ["a", "b", "c"]);
}

pub(crate) async fn turn_is_retracted_once(world: World) {
    let conversation = world.conversation(&["a"]).await;
    asked(&world, &conversation, ASKED, (&["b"], &["c"])).await;
    asked(&world, &conversation, ASKED, (&["d"], &["e"])).await;

    assert_eq!(retract(&world, &conversation, ASKED).await, Ok(true));
    assert_eq!(retract(&world, &conversation, ASKED).await, Ok(false));

    assert_eq!(world.listed(&conversation).await, ["a", "b", "c"]);
}

pub(crate) async fn only_the_last_turn_is_retracted(world: World) {
    let conversation = world.conversation(&[]).await;
    asked(&world, &conversation, ASKED, (&["a"], &["b"])).await;
    assert_eq!(retract(&world, &conversation, OTHER).await, Ok(false));

    asked(&world, &conversation, OTHER, (&["c"], &["d"])).await;
    assert_eq!(retract(&world, &conversation, ASKED).await, Ok(false));

    world.append(&conversation, &["e"]).await.unwrap();
    assert_eq!(retract(&world, &conversation, OTHER).await, Ok(false));

    assert_eq!(world.listed(&conversation).await, ["a", "b", "c", "d", "e"]);
}

pub(crate) async fn continued_turn_is_not_retracted(world: World) {
    let conversation = world.conversation(&[]).await;
    let turn = asked(&world, &conversation, ASKED, (&["a"], &["b"])).await;
    let (beside, pending) =
        world.turn(world.destination_after(world.end(&turn).await), &["c"], &[]);

    world.record_pending(&pending).await;
    assert_eq!(retract(&world, &conversation, ASKED).await, Ok(false));
    world.commit(pending).await.unwrap();
    assert_eq!(retract(&world, &conversation, ASKED).await, Ok(false));

    assert_eq!(world.transcript(&beside).await, ["a", "b", "c"]);
    assert_eq!(world.listed(&conversation).await, ["a", "b"]);
}

pub(crate) async fn continuation_of_retracted_turn_keeps_its_items(world: World) {
    let conversation = world.conversation(&["a"]).await;
    let cut = asked(&world, &conversation, ASKED, (&["b"], &["c"])).await;
    let (cursor, end_of) = (world.end(&cut).await, Some(cut));
    let after_end = || Destination::After { cursor, fork: world.thread(), end_of: end_of.clone() };
    let turns =
        [after_end(), after_end()].map(|destination| world.turn(destination, &["d"], &["e"]));

    assert_eq!(retract(&world, &conversation, ASKED).await, Ok(true));
    asked(&world, &conversation, ASKED, (&["b"], &["f"])).await;

    for (response, turn) in turns {
        world.commit(turn).await.unwrap();
        assert_eq!(world.transcript(&response).await, ["a", "b", "c", "d", "e"]);
    }
    assert_eq!(world.listed(&conversation).await, ["a", "b", "f"]);
}

pub(crate) async fn retracted_turn_without_record_is_deleted(world: World) {
    let conversation = world.conversation(&["a"]).await;
    let (_, turn) = world.turn(Destination::Conversation(conversation.clone()), &["b"], &["c"]);
    let turn = TurnRecord { request: Some(ASKED), response: None, ..turn };
    world.commit(turn).await.unwrap();

    assert_eq!(retract(&world, &conversation, ASKED).await, Ok(true));

    assert_eq!(world.listed(&conversation).await, ["a"]);
    assert_eq!(world.held(&["a", "b", "c"]).await, ["a"]);
}

pub(crate) async fn turn_of_another_tenant_is_not_retracted(world: World) {
    let conversation = world.conversation(&[]).await;
    asked(&world, &conversation, ASKED, (&["a"], &["b"])).await;

    let refused = retract(&world.seen_by("mallory"), &conversation, ASKED).await;

    assert_eq!(refused, Err(StoreError::ConversationNotFound));
    assert_eq!(world.listed(&conversation).await, ["a", "b"]);
}

pub(crate) async fn deleting_a_retracted_response_deletes_its_items(world: World) {
    let conversation = world.conversation(&["a"]).await;
    let cut = asked(&world, &conversation, ASKED, (&["b"], &["c"])).await;
    retract(&world, &conversation, ASKED).await.unwrap();

    assert!(world.delete_response(&cut).await);

    assert_eq!(world.held(&["a", "b", "c"]).await, ["a"]);
    assert_eq!(items(&["a"]).len(), world.listed(&conversation).await.len());
}
