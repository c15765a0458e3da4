//! The jobs of background responses, and the logs of their events.

use antiphon_store::{
    BackgroundJobs, Destination, EventPage, JobStatus, LogState, LoggedEvent, NewJob,
    RequestDigest, ResponseId, StoreError, TurnRecord,
};
use bytes::Bytes;

use super::World;

const ASKED: RequestDigest = RequestDigest([0xa5; 16]);
/// When the logs of the tests expire, in Unix seconds.
const EXPIRY: i64 = 1_767_226_500;

fn event(number: u64) -> LoggedEvent {
    let body = format!(r#"{{"type":"response.test","sequence_number":{number}}}"#);
    LoggedEvent { sequence_number: number, body: body.into() }
}

pub(crate) fn events(numbers: std::ops::Range<u64>) -> Vec<LoggedEvent> {
    numbers.map(event).collect()
}

pub(crate) fn background(world: &World) -> &dyn BackgroundJobs {
    world.store.background_jobs()
}

/// A job that was accepted with its first two events, and the turn that it is to come to.
pub(crate) async fn accepted(world: &World) -> (ResponseId, TurnRecord) {
    let destination = Destination::New { shard: world.shard(), thread: world.thread() };
    accepted_as(world, world.turn(destination, &["a"], &["b"])).await
}

/// A job that is to come to this turn.
async fn accepted_as(
    world: &World,
    (id, turn): (ResponseId, TurnRecord),
) -> (ResponseId, TurnRecord) {
    let work = Bytes::from_static(b"what begins it anew");
    let job = NewJob { id: id.clone(), request: ASKED, work, events: events(0..2) };
    background(world).accept(&world.tenant, job).await.unwrap();
    (id, turn)
}

pub(crate) async fn end(world: &World, turn: TurnRecord, number: u64) -> Result<(), StoreError> {
    background(world).end(&world.tenant, turn, event(number), EXPIRY).await
}

pub(crate) async fn page(world: &World, id: &ResponseId, from: u64) -> Option<EventPage> {
    background(world).events(&world.tenant, id, from).await.unwrap()
}

pub(crate) async fn job_is_open_until_its_commit(world: World) {
    let (id, turn) = accepted(&world).await;
    let store = background(&world);
    let open = JobStatus::Open { event: event(1).body, is_unclaimed: false };
    assert_eq!(store.status(&world.tenant, &id).await, Ok(Some(open)));
    assert_eq!(world.store.is_open(&world.tenant, &id).await, Ok(true));
    let shard = id.shard();
    assert_eq!(store.open_jobs(&world.tenant, shard, &ASKED).await, Ok(vec![id.clone()]));
    assert!(!world.exists(&id).await);

    end(&world, turn, 2).await.unwrap();

    assert_eq!(store.status(&world.tenant, &id).await, Ok(Some(JobStatus::Ended)));
    assert_eq!(world.store.is_open(&world.tenant, &id).await, Ok(false));
    assert_eq!(store.open_jobs(&world.tenant, shard, &ASKED).await, Ok(vec![]));
    assert_eq!(world.transcript(&id).await, ["a", "b"]);
}

pub(crate) async fn event_pages_start_at_any_number(world: World) {
    let (id, turn) = accepted(&world).await;
    background(&world).append(&world.tenant, &id, events(2..600)).await.unwrap();
    let waiting = EventPage { events: vec![], state: LogState::Open };
    assert_eq!(page(&world, &id, 600).await, Some(waiting));
    end(&world, turn, 600).await.unwrap();

    let (mut read, mut from) = (Vec::new(), 0);
    loop {
        let page = page(&world, &id, from).await.unwrap();
        assert!(page.events.len() <= 256, "a page has a bound");
        read.extend(page.events);
        from = read.last().map_or(0, |event: &LoggedEvent| event.sequence_number + 1);
        if page.state == LogState::Ended {
            break;
        }
    }

    assert_eq!(read, events(0..601));
    let last = EventPage { events: events(600..601), state: LogState::Ended };
    assert_eq!(page(&world, &id, 600).await, Some(last));
}

pub(crate) async fn event_page_has_a_byte_limit(world: World) {
    let (id, _) = accepted(&world).await;
    let long = |number| LoggedEvent { sequence_number: number, body: vec![b'x'; 200_000].into() };
    background(&world).append(&world.tenant, &id, (2..6).map(long).collect()).await.unwrap();

    let lengths = [(0, 4), (2, 2), (4, 2), (5, 1)];

    for (from, length) in lengths {
        let page = page(&world, &id, from).await.unwrap();
        assert_eq!(page.events.len(), length, "from {from}");
        assert_eq!(page.state, LogState::Open);
    }
}

pub(crate) async fn repeated_event_is_logged_once(world: World) {
    let (id, _) = accepted(&world).await;
    let store = background(&world);
    store.append(&world.tenant, &id, events(1..4)).await.unwrap();
    store.append(&world.tenant, &id, events(2..5)).await.unwrap();
    assert_eq!(page(&world, &id, 0).await.unwrap().events, events(0..5));
}

pub(crate) async fn ended_job_rejects_events(world: World) {
    let (id, turn) = accepted(&world).await;
    end(&world, turn.clone(), 2).await.unwrap();

    let appended = background(&world).append(&world.tenant, &id, events(3..4)).await;

    assert_eq!(appended, Err(StoreError::LeaseLost));
    assert_eq!(end(&world, turn, 3).await, Err(StoreError::LeaseLost));
    assert_eq!(background(&world).cancel(&world.tenant, &id).await, Ok(false));
    assert_eq!(page(&world, &id, 0).await.unwrap().events, events(0..3));
}

pub(crate) async fn failed_commit_leaves_the_job_open(world: World) {
    let (id, turn) = accepted(&world).await;
    let gone = world.conversation(&[]).await;
    world.delete_conversation(&gone).await;
    let (_, nowhere) = world.turn(Destination::Conversation(gone), &["c"], &[]);
    let nowhere = TurnRecord { response: turn.response.clone(), ..nowhere };

    assert!(end(&world, nowhere, 2).await.is_err());

    assert_eq!(page(&world, &id, 0).await.unwrap().events, events(0..2));
    end(&world, turn, 2).await.unwrap();
}

pub(crate) async fn released_job_is_claimed_once(world: World) {
    let (id, turn) = accepted(&world).await;
    let store = background(&world);
    store.append(&world.tenant, &id, events(2..4)).await.unwrap();
    assert_eq!(store.claim_next().await, Ok(None));

    store.release(&world.tenant, &id).await.unwrap();
    let Ok(Some(JobStatus::Open { is_unclaimed, .. })) = store.status(&world.tenant, &id).await
    else {
        panic!("it is open");
    };
    assert!(is_unclaimed);
    assert_eq!(page(&world, &id, 4).await.unwrap().state, LogState::Unclaimed);
    let refused = store.append(&world.tenant, &id, events(4..5)).await;
    assert_eq!(refused, Err(StoreError::LeaseLost));

    let left = store.claim_next().await.unwrap().unwrap();
    assert_eq!((&left.tenant, &left.id, left.request), (&world.tenant, &id, ASKED));
    assert_eq!((left.event_count, left.attempt, left.is_cancelled), (4, 1, false));
    assert_eq!(&*left.work, b"what begins it anew");
    assert_eq!(store.claim_next().await, Ok(None));
    end(&world, turn, 4).await.unwrap();
}

pub(crate) async fn open_job_keeps_the_items_before_it(world: World) {
    let first = world.first(&["a"], &["b"]).await;
    let cursor = world.end(&first).await;
    let (id, turn) =
        accepted_as(&world, world.turn(world.destination_after(cursor), &["c"], &["d"])).await;
    background(&world).set_cursor(&world.tenant, &id, cursor).await.unwrap();

    assert!(world.delete_response(&first).await);

    assert_eq!(world.held(&["a", "b"]).await, ["a", "b"]);
    end(&world, turn, 2).await.unwrap();
    assert_eq!(world.transcript(&id).await, ["a", "b", "c", "d"]);
    assert!(world.delete_response(&id).await);
    assert_eq!(world.held(&["a", "b", "c", "d"]).await, [""; 0]);
}

pub(crate) async fn job_that_ends_elsewhere_frees_its_items(world: World) {
    let first = world.first(&["a"], &["b"]).await;
    let cursor = world.end(&first).await;
    let apart = Destination::New { shard: cursor.shard, thread: world.thread() };
    let (id, turn) = accepted_as(&world, world.turn(apart, &["c"], &[])).await;
    background(&world).set_cursor(&world.tenant, &id, cursor).await.unwrap();
    assert!(world.delete_response(&first).await);

    end(&world, turn, 2).await.unwrap();

    assert_eq!(world.held(&["a", "b", "c"]).await, ["c"]);
    let reached = background(&world).set_cursor(&world.tenant, &id, cursor).await;
    assert_eq!(reached, Err(StoreError::LeaseLost));
}

pub(crate) async fn cancelled_job_is_reported_to_its_process(world: World) {
    let (id, turn) = accepted(&world).await;
    let (other, _) = accepted(&world).await;
    let store = background(&world);
    assert_eq!(store.cancelled_jobs().await, Ok(vec![]));

    assert_eq!(store.cancel(&world.tenant, &id).await, Ok(true));

    assert_eq!(store.cancelled_jobs().await, Ok(vec![(world.tenant.clone(), id.clone())]));
    store.release(&world.tenant, &id).await.unwrap();
    assert!(store.claim_next().await.unwrap().unwrap().is_cancelled);
    end(&world, turn, 2).await.unwrap();
    assert_eq!(store.cancelled_jobs().await, Ok(vec![]));
    assert!(page(&world, &other, 0).await.is_some());
}

pub(crate) async fn event_log_expires_in_batches_without_its_response(world: World) {
    let (id, turn) = accepted(&world).await;
    let (open, _) = accepted(&world).await;
    background(&world).append(&world.tenant, &id, events(2..600)).await.unwrap();
    end(&world, turn, 600).await.unwrap();
    assert_eq!(background(&world).expire(EXPIRY - 1).await, Ok(false));
    assert_eq!(page(&world, &id, 600).await.unwrap().events, events(600..601));

    let mut batches = 0;
    while background(&world).expire(EXPIRY).await.unwrap() {
        batches += 1;
        assert!(batches < 10, "it ends");
    }

    assert!(batches > 2, "{batches} batches");
    assert_eq!(page(&world, &id, 0).await, None);
    assert!(world.exists(&id).await);
    assert!(page(&world, &open, 0).await.is_some());
}

pub(crate) async fn deleted_response_deletes_its_log(world: World) {
    let (id, turn) = accepted(&world).await;
    end(&world, turn, 2).await.unwrap();

    assert!(world.delete_response(&id).await);

    assert_eq!(page(&world, &id, 0).await, None);
    assert_eq!(background(&world).status(&world.tenant, &id).await, Ok(None));
}

pub(crate) async fn job_of_another_tenant_is_not_found(world: World) {
    let (id, turn) = accepted(&world).await;
    let mallory = world.seen_by("mallory");
    let (store, stranger) = (background(&mallory), &mallory.tenant);

    assert_eq!(store.status(stranger, &id).await, Ok(None));
    assert_eq!(page(&mallory, &id, 0).await, None);
    assert_eq!(store.open_jobs(stranger, id.shard(), &ASKED).await, Ok(vec![]));
    assert_eq!(store.cancel(stranger, &id).await, Ok(false));
    let appended = store.append(stranger, &id, events(2..3)).await;
    assert_eq!(appended, Err(StoreError::LeaseLost));
    assert_eq!(end(&mallory, turn.clone(), 2).await, Err(StoreError::LeaseLost));
    store.release(stranger, &id).await.unwrap();
    assert_eq!(world.store.is_open(stranger, &id).await, Ok(false));
    end(&world, turn, 2).await.unwrap();
}
