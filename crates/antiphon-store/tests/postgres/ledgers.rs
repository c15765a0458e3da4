//! Ledgers that several processes keep.

use antiphon_store::{Destination, LedgerSubject, QueuePlace, StoreError, ThreadId};

use super::database::Database;
use crate::conformance::ledgers::{elsewhere, of_conversation, of_response, receive};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn concurrent_adoptions_get_one_ledger() {
    let one = Database::new().await.process().await;
    let other = one.beside().await;

    for number in 0..10 {
        let name = format!("conv_{number}");
        let candidates = (one.world.new_conversation(), other.world.new_conversation());
        let (first, second) = tokio::join!(
            one.world.adopt(&name, candidates.0.clone()),
            other.world.adopt(&name, candidates.1.clone()),
        );

        assert_eq!(first, second);
        let LedgerSubject::Conversation(subject) = first.subject else {
            panic!("{name} is a conversation")
        };
        for candidate in [candidates.0.id, candidates.1.id] {
            let found = one.world.store.conversation(&one.world.tenant, &candidate).await.unwrap();
            assert_eq!(found.is_some(), candidate == subject);
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn concurrent_commits_of_one_name_leave_one_response() {
    let one = Database::new().await.process().await;
    let other = one.beside().await;

    for number in 0..10 {
        let name = format!("resp_{number}");
        let turn = |world: &crate::conformance::World| world.turn(world.anew(), &["a"], &["b"]);
        let ((first, a), (second, b)) = (turn(&one.world), turn(&other.world));
        let (a, b) = tokio::join!(
            one.world.commit(receive(a, &name, false)),
            other.world.commit(receive(b, &name, false)),
        );

        assert_eq!((a, b), (Ok(()), Ok(())));
        let entry = one.world.entry(&name).await.unwrap();
        assert!([of_response(&first, false), of_response(&second, false)].contains(&entry));
        for response in [first, second] {
            let is_named = entry.subject == LedgerSubject::Response(response.clone());
            assert_eq!(one.world.exists(&response).await, is_named);
        }
    }
}

#[tokio::test]
async fn settling_marks_a_resynced_ledger_stale() {
    let dead = Database::new().await.process().await;
    let other = dead.beside().await;
    let conversation = dead.world.adopted("conv_x").await;
    let (id, turn) = dead.world.turn(Destination::Conversation(conversation.clone()), &["a"], &[]);
    dead.world.record_pending(&turn).await;
    dead.world.announce("resp_x", &id).await;
    dead.falls_silent().await;
    other.world.resync(&conversation, elsewhere(&["b"])).await.unwrap();

    assert_eq!(other.world.store.settle_pending_turns().await, Ok(1));

    assert_eq!(other.world.entry("resp_x").await, Some(of_response(&id, true)));
    assert_eq!(other.world.entry("conv_x").await, Some(of_conversation(&conversation, true)));
}

#[tokio::test]
async fn late_process_cannot_resync_the_ledger() {
    let world = Database::new().await.process().await.world;
    let conversation = world.adopted("conv_x").await;
    world.resync(&conversation, elsewhere(&["a"])).await.unwrap();
    let line = world.store.lease_queue().expect("several processes share it");
    let lost = line.join(&world.tenant, &conversation).await.unwrap();
    line.leave(&world.tenant, &conversation, lost).await.unwrap();

    let ledgers = world.store.ledgers();
    let (thread, stale) = (ThreadId(7), elsewhere(&["b"]));
    let resynced = ledgers.resync(&world.tenant, &conversation, thread, stale, Some(lost)).await;

    assert_eq!(resynced, Err(StoreError::LeaseLost));
    let place: QueuePlace = line.join(&world.tenant, &conversation).await.unwrap();
    let (thread, known) = (ThreadId(8), elsewhere(&["a", "b"]));
    let resynced = ledgers.resync(&world.tenant, &conversation, thread, known, Some(place)).await;
    assert_eq!(resynced, Ok(()));
}
