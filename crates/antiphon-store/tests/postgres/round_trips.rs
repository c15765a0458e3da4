//! The number of times that a call waits for the server.

use antiphon_store::{Cursor, Destination};

use super::database::Database;
use super::proxy::{Proxy, RoundTrips};
use crate::conformance::World;
use crate::conformance::world::{items, names};

/// A database on which one connection is used, and the count of its round trips.
async fn counted() -> (World, RoundTrips) {
    let database = Database::new().await.with("pool_max=1");
    let proxy = Proxy::to(&database.url).await;
    let world = World::at(database.by_way_of(&proxy.url)).await;
    let round_trips = proxy.count_round_trips();
    world.held(&["nothing"]).await;
    (world, round_trips)
}

#[tokio::test]
async fn turn_is_recorded_in_one_round_trip_and_committed_in_one_to_three() {
    let (world, round_trips) = counted().await;
    let conversation = world.conversation(&["a"]).await;
    let first = world.first(&["a"], &["b"]).await;
    let tip = world.end(&first).await;
    let destinations = [
        (Destination::New { shard: world.shard(), thread: world.thread() }, 1),
        (world.destination_after(tip), 1),
        // A fork.
        (world.destination_after(Cursor { end: 1, ..tip }), 3),
        (Destination::Conversation(conversation), 2),
    ];
    for (destination, expected) in destinations {
        let (response, mut turn) = world.turn(destination.clone(), &["c"], &[]);
        round_trips.take();

        world.record_pending(&turn).await;
        assert_eq!(round_trips.take(), 1, "to record {destination:?}");
        turn.output = items(&["d"]);
        world.commit(turn).await.unwrap();
        assert_eq!(round_trips.take(), expected, "to commit {destination:?}");
        let end = world.end(&response).await;
        assert_eq!(round_trips.take(), 1, "to find the response");
        let transcript = world.before(end).await;
        assert_eq!(round_trips.take(), 1, "to load the transcript");
        let found = world.store.response_with_transcript(&world.tenant, &response).await.unwrap();
        assert_eq!(round_trips.take(), 1, "to find the response and load its transcript");
        let (record, items) = found.unwrap();
        assert_eq!((record.cursor, names(&items)), (end, transcript));
    }
}

#[tokio::test]
async fn lease_takes_four_round_trips() {
    let (world, round_trips) = counted().await;
    let id = world.conversation(&[]).await;
    let queue = world.store.lease_queue().unwrap();
    round_trips.take();

    let place = queue.join(&world.tenant, &id).await.unwrap();
    assert_eq!(round_trips.take(), 2);
    assert_eq!(queue.is_first(&world.tenant, &id, place).await, Ok(true));
    assert_eq!(round_trips.take(), 1);
    queue.leave(&world.tenant, &id, place).await.unwrap();
    assert_eq!(round_trips.take(), 1);
}
