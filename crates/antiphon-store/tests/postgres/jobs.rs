//! Background responses of several processes.

use antiphon_store::Standing;

use super::database::Database;
use crate::conformance::background::{accepted, background, end};

#[tokio::test]
async fn who_takes_a_job_up_is_known_to_live() {
    let dead = Database::new().await.process().await;
    let (waking, other) = (dead.beside().await, dead.beside().await);
    let (id, turn) = accepted(&dead.world).await;
    dead.falls_silent().await;
    let forgotten = format!("DELETE FROM holders WHERE id = '{}'", waking.holder);
    waking.database.sql(&forgotten).await;

    let taken = background(&waking.world).take_up().await.unwrap();

    assert_eq!(taken.map(|job| job.id), Some(id.clone()));
    assert_eq!(background(&other.world).take_up().await, Ok(None), "it is worked on");
    end(&waking.world, turn, 2).await.unwrap();
    let ended = background(&other.world).standing(&other.world.tenant, &id).await;
    assert_eq!(ended, Ok(Some(Standing::Ended)));
}
