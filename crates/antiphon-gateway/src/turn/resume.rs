//! Resumes a background turn that a process abandoned.

use std::sync::Arc;

use antiphon::stream::Failure;
use antiphon_store::ClaimedJob;
use bytes::Bytes;
use futures_util::FutureExt;
use tracing::Instrument as _;

use super::background::with_queue_wait;
use super::context::{Announced, Turn};
use super::detached::EndReason;
use super::job::{EVENTS_BEFORE_OUTPUT, RunningJob, open_and_plan};
use crate::caller::Caller;
use crate::error::ApiError;
use crate::gateway::Gateway;
use crate::jobs::JobRequest;
use crate::request::{CreateRequest, Identity, RetryEvidence};
use crate::settings::Limits;
use crate::trace::{record_trace, request_span};

/// How often a turn is restarted. A turn that crashes every process must not run forever.
const MAX_RESTARTS: u32 = 3;

/// Restarts the turn if no output event was logged; ends it as failed if it cannot be restarted.
pub(crate) async fn resume(gateway: &Arc<Gateway>, left: ClaimedJob) {
    let work = JobRequest::read(&left.work).unwrap_or_else(JobRequest::unreadable);
    let mut caller = work.caller(&left.tenant);
    let span = request_span(&caller.request_id);
    record_trace(&span, gateway.tracer.begin_background_turn(&mut caller));
    span.record("tenant", caller.tenant.as_str());
    resume_work(gateway, left, work, caller).instrument(span).await;
}

async fn resume_work(gateway: &Arc<Gateway>, left: ClaimedJob, work: JobRequest, caller: Caller) {
    let job = gateway.jobs.register(&left.tenant, &left.id);
    let request = work.request(left.request);
    let unreadable = request.as_ref().err().map(ApiError::as_failure);
    let request = request.unwrap_or_else(|_| unreadable_request(&left));
    let announced = Announced { id: left.id.clone(), created_at: work.created_at };
    let turn = with_queue_wait(&Turn::new(gateway, &caller, &request));
    let turn = Turn { announced: Some(announced), ..turn };
    let ending = match unreadable {
        Some(failure) => Some(EndReason::Failed(failure)),
        None => restart_obstacle(&left, &work),
    };
    let _open = gateway.metrics.open.turns.count();
    turn.record_in_span();
    tracing::info!(begun_anew = ending.is_none(), "resumed a background response");
    let running = RunningJob::new(&turn, job, left.event_count);
    if let Some(ending) = ending {
        return running.end(ending).await;
    }
    let permit = gateway.limiter.permit_turn(&left.tenant).ok();
    // The quota was checked when the job was accepted.
    running.run(open_and_plan(&turn).boxed(), permit).await;
}

/// Why an abandoned job cannot be restarted. This is the only place where the restart of a gateway
/// fails a turn.
fn restart_obstacle(left: &ClaimedJob, work: &JobRequest) -> Option<EndReason> {
    let reason = if left.is_cancelled {
        return Some(EndReason::Cancelled);
    } else if left.event_count > EVENTS_BEFORE_OUTPUT {
        "The gateway that ran this response stopped after its output had begun, and a restart \
         would repeat output. Please create the response again."
    } else if work.needs_token {
        "The gateway that ran this response stopped. The upstream requires its caller's own token, \
         which the gateway never stores. Please create the response again."
    } else if left.attempt > MAX_RESTARTS {
        "Every gateway that ran this response stopped. The response is not restarted again."
    } else {
        return None;
    };
    Some(EndReason::Failed(Failure::server_error(reason)))
}

/// A stand-in for a request that this version can no longer read.
fn unreadable_request(left: &ClaimedJob) -> CreateRequest {
    let body = Bytes::from_static(br#"{"model":"unknown","input":"","background":true}"#);
    let identity = Identity { digest: left.request, evidence: RetryEvidence::None };
    CreateRequest::parse(&body, identity, &Limits::default()).expect("the body is a valid request")
}
