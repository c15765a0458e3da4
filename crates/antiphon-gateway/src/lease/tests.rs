use super::*;
use antiphon::IdSource;
use antiphon_store::{Shard, SqliteStore};

use crate::entropy::RandomIds;

fn leases(wait: Duration) -> Leases {
    let store = Arc::new(SqliteStore::in_memory().unwrap());
    Leases::new(store, TaskTracker::new(), wait, QueueMetrics::unread())
}

fn conversation() -> ConversationId {
    ConversationId::issue(Shard(1), &mut RandomIds)
}

#[tokio::test]
async fn one_turn_holds_the_lease_at_a_time() {
    let leases = leases(Duration::ZERO);
    let (tenant, id) = (Tenant::new("acme"), conversation());
    let first = leases.lease_conversation(&tenant, &id).await.unwrap();
    assert!(first.is_some());
    assert!(leases.lease_conversation(&tenant, &id).await.unwrap().is_none());
    assert!(leases.lease_conversation(&Tenant::new("other"), &id).await.unwrap().is_some());
    drop(first);
    assert!(leases.lease_conversation(&tenant, &id).await.unwrap().is_some());
}

#[tokio::test]
async fn later_turns_wait_for_the_lease() {
    let leases = leases(Duration::MAX);
    let (tenant, id) = (Tenant::new("acme"), conversation());
    let first = leases.lease_conversation(&tenant, &id).await.unwrap();
    let mut second = std::pin::pin!(leases.lease_conversation(&tenant, &id));
    assert!(futures_util::poll!(&mut second).is_pending());
    drop(first);
    assert!(second.await.unwrap().is_some());
}

#[tokio::test]
async fn waiting_turns_are_served_in_order() {
    let leases = leases(Duration::MAX);
    let (tenant, id) = (Tenant::new("acme"), conversation());
    let first = leases.lease_conversation(&tenant, &id).await.unwrap();
    let served = Arc::new(std::sync::Mutex::new(Vec::new()));
    let waiting = (0..8).map(|number| {
        let (leases, tenant, id) = (leases.clone(), tenant.clone(), id.clone());
        let served = Arc::clone(&served);
        async move {
            let lease = leases.lease_conversation(&tenant, &id).await.unwrap();
            served.lock().unwrap().push(number);
            drop(lease);
        }
    });
    let mut waiting = Box::pin(futures_util::future::join_all(waiting));
    assert!(futures_util::poll!(&mut waiting).is_pending());
    drop(first);
    waiting.await;
    assert_eq!(*served.lock().unwrap(), (0..8).collect::<Vec<_>>());
}

#[tokio::test]
async fn cancelled_waiter_does_not_block_the_queue() {
    let leases = leases(Duration::MAX);
    let (tenant, id) = (Tenant::new("acme"), conversation());
    let first = leases.lease_conversation(&tenant, &id).await.unwrap();
    {
        let mut leaving = Box::pin(leases.lease_conversation(&tenant, &id));
        assert!(futures_util::poll!(&mut leaving).is_pending());
    }
    drop(first);
    assert!(leases.lease_conversation(&tenant, &id).await.unwrap().is_some());
}

#[tokio::test]
async fn only_retries_of_a_request_wait_for_it() {
    let leases = leases(Duration::ZERO);
    let tenant = Tenant::new("acme");
    let mut bytes = [0; 16];
    RandomIds.fill(&mut bytes);
    let request = RequestDigest(bytes);
    let first = leases.register_request(&tenant, &request, RetryEvidence::None).await.unwrap();
    let second = leases.register_request(&tenant, &request, RetryEvidence::None).await.unwrap();
    assert!(first.is_some() && second.is_some());
    assert!(
        leases
            .register_request(&tenant, &request, RetryEvidence::RetryCount)
            .await
            .unwrap()
            .is_none()
    );
    drop((first, second));
    let again =
        leases.register_request(&tenant, &request, RetryEvidence::RetryCount).await.unwrap();
    assert!(again.is_some());
    assert!(
        leases
            .register_request(&tenant, &request, RetryEvidence::RetryCount)
            .await
            .unwrap()
            .is_none()
    );
}
