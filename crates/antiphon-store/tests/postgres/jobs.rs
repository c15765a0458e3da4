//! Background responses of several processes.

use antiphon_store::{JobStatus, StoreError};

use super::database::Database;
use crate::conformance::background::{accepted, background, end, events, page};

#[tokio::test]
async fn claiming_a_job_renews_the_lease() {
    let dead = Database::new().await.process().await;
    let (waking, other) = (dead.beside().await, dead.beside().await);
    let (id, turn) = accepted(&dead.world).await;
    dead.falls_silent().await;
    let forgotten = format!("DELETE FROM holders WHERE id = '{}'", waking.holder);
    waking.database.sql(&forgotten).await;

    let taken = background(&waking.world).claim_next().await.unwrap();

    assert_eq!(taken.map(|job| job.id), Some(id.clone()));
    assert_eq!(background(&other.world).claim_next().await, Ok(None), "it is worked on");
    end(&waking.world, turn, 2).await.unwrap();
    let ended = background(&other.world).status(&other.world.tenant, &id).await;
    assert_eq!(ended, Ok(Some(JobStatus::Ended)));
}

#[tokio::test]
async fn job_accepted_during_erasure_is_deleted_at_its_end() {
    let one = Database::new().await.process().await;
    let other = one.beside().await;
    other.world.erase(100).await;
    let (id, turn) = accepted(&one.world).await;
    background(&one.world).append(&one.world.tenant, &id, events(2..3)).await.unwrap();

    assert_eq!(end(&one.world, turn, 3).await, Err(StoreError::Erased));

    assert_eq!(page(&one.world, &id, 0).await, None);
    assert_eq!(background(&one.world).status(&one.world.tenant, &id).await, Ok(None));
    assert!(!one.world.exists(&id).await);
    assert_eq!(one.database.sql("SELECT count(*) FROM events").await, ["0"]);
}
