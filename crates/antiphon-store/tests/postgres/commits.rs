//! Commits whose answer is lost.

use antiphon_store::Destination;

use super::database::Database;
use super::proxy::{Cut, Proxy};
use crate::conformance::World;
use crate::conformance::world::items;

/// A database, and a way to it that can be cut.
async fn by_way_of_a_proxy() -> (World, Proxy) {
    let database = Database::new().await;
    let proxy = Proxy::to(&database.url).await;
    (World::at(database.by_way_of(&proxy.url)).await, proxy)
}

#[tokio::test]
async fn successful_commit_is_not_repeated() {
    let (world, proxy) = by_way_of_a_proxy().await;
    let id = world.conversation(&["a"]).await;

    for name in ["b", "c"] {
        proxy.cut(Cut::AfterTheCommit);
        assert_eq!(world.append(&id, &[name]).await, Ok(()));
        assert!(proxy.has_cut());
    }

    assert_eq!(world.listed(&id).await, ["a", "b", "c"]);
}

#[tokio::test]
async fn failed_commit_is_repeated() {
    let (world, proxy) = by_way_of_a_proxy().await;
    let id = world.conversation(&["a"]).await;

    for name in ["b", "c"] {
        proxy.cut(Cut::BeforeTheCommit);
        assert_eq!(world.append(&id, &[name]).await, Ok(()));
        assert!(proxy.has_cut());
    }

    assert_eq!(world.listed(&id).await, ["a", "b", "c"]);
}

#[tokio::test]
async fn boolean_result_is_that_of_the_commit() {
    let (world, proxy) = by_way_of_a_proxy().await;
    let id = world.conversation(&["a"]).await;

    proxy.cut(Cut::AfterTheCommit);
    assert!(world.delete_item(&id, "a").await, "it was there");
    proxy.cut(Cut::AfterTheCommit);
    assert!(world.delete_conversation(&id).await, "it was there");

    assert!(proxy.has_cut());
    assert!(!world.delete_conversation(&id).await);
}

#[tokio::test]
async fn committed_turn_is_not_reported_as_settled() {
    let (world, proxy) = by_way_of_a_proxy().await;
    let id = world.conversation(&["a"]).await;
    let (response, turn) = world.turn(Destination::Conversation(id.clone()), &["b"], &["c"]);

    proxy.cut(Cut::AfterTheCommit);
    assert_eq!(world.commit(turn).await, Ok(()));

    assert!(proxy.has_cut());
    assert_eq!(world.transcript(&response).await, ["a", "b", "c"]);
}

#[tokio::test]
async fn turn_that_is_sent_with_its_commit_is_committed_once() {
    let database = Database::new().await.with("pool_max=1");
    let proxy = Proxy::to(&database.url).await;
    let world = World::at(database.by_way_of(&proxy.url)).await;
    for cut in [Cut::BeforeTheCommit, Cut::AfterTheCommit, Cut::Delayed] {
        // The first turn of a connection is sent before its commit.
        let tip = world.end(&world.first(&["a"], &["b"]).await).await;
        let (response, mut turn) = world.turn(world.destination_after(tip), &["c"], &[]);
        world.record_pending(&turn).await;
        turn.output = items(&["d"]);

        proxy.cut(cut);
        assert_eq!(world.commit(turn).await, Ok(()), "{cut:?}");

        assert!(proxy.has_cut());
        assert_eq!(world.transcript(&response).await, ["a", "b", "c", "d"], "{cut:?}");
        assert_eq!(world.end(&response).await.thread, tip.thread, "{cut:?}");
    }
}

#[tokio::test]
async fn lost_join_takes_one_place() {
    let (world, proxy) = by_way_of_a_proxy().await;
    let id = world.conversation(&[]).await;
    let line = world.store.lease_queue().unwrap();

    for cut in [Cut::AfterTheCommit, Cut::BeforeTheCommit] {
        proxy.cut(cut);
        let place = line.join(&world.tenant, &id).await.unwrap();
        assert!(proxy.has_cut());
        assert_eq!(line.is_first(&world.tenant, &id, place).await, Ok(true));
        assert_eq!(line.leave(&world.tenant, &id, place).await, Ok(()));
    }
}
