//! Commits whose answer is lost.

use antiphon_store::Destination;

use super::database::Database;
use super::proxy::{Cut, Proxy};
use crate::conformance::World;

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
