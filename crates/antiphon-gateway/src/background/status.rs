//! The status of a background response.

use std::time::Duration;

use antiphon::json::Object;
use antiphon_store::{JobStatus, ResponseId, StoreError, Tenant};
use tokio::time::{Instant, sleep};

use crate::gateway::Gateway;
use crate::jobs::POLL;

/// The maximum wait for the end of a cancelled response.
const CANCEL_TIMEOUT: Duration = Duration::from_secs(30);

/// The response object of an open response. `None` if it has ended or does not exist.
pub(crate) async fn open_response_object(
    gateway: &Gateway,
    tenant: &Tenant,
    id: &ResponseId,
) -> Result<Option<String>, StoreError> {
    match gateway.store.background_jobs().status(tenant, id).await? {
        Some(JobStatus::Open { event, is_unclaimed }) => {
            if is_unclaimed {
                gateway.jobs.search_abandoned();
            }
            let object = Object::parse(&event).ok();
            Ok(object.and_then(|event| event.present("response").map(str::to_owned)))
        }
        Some(JobStatus::Ended) | None => Ok(None),
    }
}

/// Cancels a response in any process, and waits for its end. `None` if there is no open background
/// response with this id; `Some(false)` if it did not end in time.
pub(crate) async fn cancel_and_wait(
    gateway: &Gateway,
    tenant: &Tenant,
    id: &ResponseId,
) -> Result<Option<bool>, StoreError> {
    if !gateway.store.background_jobs().cancel(tenant, id).await? {
        return Ok(None);
    }
    gateway.jobs.cancel(tenant, id);
    wait_for_end(gateway, tenant, id).await.map(Some)
}

async fn wait_for_end(
    gateway: &Gateway,
    tenant: &Tenant,
    id: &ResponseId,
) -> Result<bool, StoreError> {
    let deadline = Instant::now() + CANCEL_TIMEOUT;
    while Instant::now() < deadline {
        let progress = gateway.jobs.progress(tenant, id);
        if open_response_object(gateway, tenant, id).await?.is_none() {
            return Ok(true);
        }
        match progress {
            Some(mut progress) => {
                drop(tokio::time::timeout_at(deadline, progress.changed()).await);
            }
            None => sleep(POLL).await,
        }
    }
    Ok(false)
}
