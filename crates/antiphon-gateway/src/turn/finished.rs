//! The record of a finished turn. Its log line, its metrics and the end of its span are made from
//! it.

mod counts;
mod line;
mod span;

use std::borrow::Cow;

use antiphon::stream::{Finished, Status, Usage};
use antiphon_store::Tenant;

pub(super) use self::span::{record_answer, record_compaction, record_refusal};
use super::clock::TurnTimes;
use super::context::Turn;
use super::report::Report;
use crate::caller::Caller;
use crate::error::ApiError;
use crate::gateway::Gateway;
use crate::metrics::ItemCounts;
use crate::request_id::RequestId;
use crate::span::TraceSpan;
use crate::upstream::{Upstream, known_code};

/// The statuses with which a server rejects a key or limits its use.
const OF_THE_KEY: [u16; 4] = [401, 402, 403, 429];

/// A turn that has ended, in any way. It contains ids, names, counts and times, never content.
pub(crate) struct FinishedTurn<'a> {
    gateway: &'a Gateway,
    /// The span of the turn.
    trace: &'a TraceSpan,
    #[expect(dead_code, reason = "spans read it")]
    pub(crate) request_id: &'a RequestId,
    pub(crate) tenant: &'a Tenant,
    /// The conversation that the request names.
    #[expect(dead_code, reason = "spans read it")]
    pub(crate) conversation: Option<&'a str>,
    /// The id of the response, if it can be read now.
    pub(crate) response: Option<&'a str>,
    /// The model that the request names; `None` if the request could not be read.
    pub(crate) model: Option<&'a str>,
    /// The upstream of the model; `None` if no upstream serves it.
    pub(crate) upstream: Option<Upstream<'a>>,
    /// Whether the client receives events.
    #[expect(dead_code, reason = "spans read it")]
    pub(crate) streams: bool,
    pub(crate) end: TurnEnd<'a>,
    pub(crate) times: TurnTimes,
    pub(crate) items: ItemCounts,
    /// The changes to the input and the answer; `None` if the turn was not planned.
    pub(super) report: Option<&'a Report>,
}

/// How a turn ended.
#[derive(Clone, Copy)]
pub(crate) enum TurnEnd<'a> {
    /// Its response ended, successfully or not.
    Answered {
        finished: &'a Finished,
        /// Whether the client had disconnected.
        is_disconnected: bool,
        /// The reason why the turn could not be stored.
        not_stored: Option<&'a ApiError>,
    },
    /// It was rejected before its answer began.
    Refused(&'a ApiError),
    /// Its request could not be read.
    Unreadable(&'a ApiError),
    /// The client disconnected before its answer began, so there was no turn.
    Disconnected,
    /// The stored answer to an earlier attempt was sent again.
    Replayed,
    /// Its upstream runs it in the background. The status is the upstream's.
    Queued(&'a str),
    /// A background turn that ended without output.
    WithoutOutput(Status),
}

/// The result of a turn in one word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TurnOutcome {
    /// The model finished its answer.
    Completed,
    /// The model stopped early.
    Incomplete,
    /// The upstream, the store or the gateway failed.
    Failed,
    /// It was cancelled by its caller.
    Cancelled,
    /// The client disconnected.
    Disconnected,
    /// The request was invalid, or exceeded a limit.
    Refused,
    /// The answer to an earlier attempt was sent again.
    Replayed,
    /// The upstream runs it in the background.
    Queued,
}

impl<'a> FinishedTurn<'a> {
    /// The record of this turn, which ends now.
    pub(super) fn new(turn: &'a Turn<'a>, end: TurnEnd<'a>) -> Self {
        let Turn { gateway, caller, request, .. } = turn;
        Self {
            gateway,
            trace: &turn.trace,
            request_id: &caller.request_id,
            tenant: &caller.tenant,
            conversation: turn.conversation,
            response: None,
            model: Some(&request.model),
            upstream: gateway.upstreams.for_model(&request.model),
            streams: request.stream,
            end,
            times: turn.clock.times(),
            items: ItemCounts {
                received: request.input.len(),
                output: end.finished().map_or(0, |finished| finished.output.len()),
                ..ItemCounts::default()
            },
            report: None,
        }
    }

    /// The record of a request that could not be read.
    pub(super) fn unreadable(
        gateway: &'a Gateway,
        caller: &'a Caller,
        error: &'a ApiError,
    ) -> Self {
        Self {
            gateway,
            trace: &caller.trace,
            request_id: &caller.request_id,
            tenant: &caller.tenant,
            conversation: None,
            response: None,
            model: None,
            upstream: None,
            streams: false,
            end: TurnEnd::Unreadable(error),
            times: TurnTimes::default(),
            items: ItemCounts::default(),
            report: None,
        }
    }

    /// Adds the id of the response, if it can be read now.
    pub(super) fn with_response(self, response: Option<&'a str>) -> Self {
        Self { response, ..self }
    }

    /// Adds the changes to the input and the answer.
    pub(super) fn with_report(mut self, report: &'a Report) -> Self {
        (self.items.new, self.items.known) = report.new_and_known();
        Self { report: Some(report), ..self }
    }

    /// Makes the end of the turn known to the operator.
    pub(super) fn publish(&self) {
        self.count();
        self.log();
        self.record_in_span();
    }
}

impl FinishedTurn<'_> {
    /// The result of the turn in one word.
    pub(crate) fn outcome(&self) -> TurnOutcome {
        match self.end {
            TurnEnd::Answered { not_stored: Some(_), .. } => TurnOutcome::Failed,
            TurnEnd::Answered { is_disconnected: true, .. } | TurnEnd::Disconnected => {
                TurnOutcome::Disconnected
            }
            TurnEnd::Answered { finished: Finished { status, .. }, .. } => (*status).into(),
            TurnEnd::WithoutOutput(status) => status.into(),
            TurnEnd::Refused(error) | TurnEnd::Unreadable(error) => {
                match self.is_callers_fault(error) {
                    true => TurnOutcome::Refused,
                    false => TurnOutcome::Failed,
                }
            }
            TurnEnd::Replayed => TurnOutcome::Replayed,
            TurnEnd::Queued(_) => TurnOutcome::Queued,
        }
    }

    /// Whether the caller must change something before it tries again. If an upstream rejects the
    /// operator's key, or limits its rate, the caller cannot.
    fn is_callers_fault(&self, error: &ApiError) -> bool {
        let is_operators = matches!(error, ApiError::Upstream(rejection)
            if OF_THE_KEY.contains(&rejection.status.as_u16()))
            && !self.upstream.is_some_and(Upstream::receives_tokens);
        !error.status().is_server_error() && !is_operators
    }

    /// The tokens of the answer; `None` if the upstream reported none.
    pub(crate) fn usage(&self) -> Option<Usage> {
        self.end.finished()?.usage
    }

    /// The code of the error with which the turn failed or was rejected: for a rejection by the
    /// upstream, `upstream_` and its status; `other` if the upstream chose one with unusual words.
    pub(crate) fn error_code(&self) -> Option<Cow<'_, str>> {
        match self.end {
            TurnEnd::Refused(ApiError::Upstream(rejection)) => {
                Some(format!("upstream_{}", rejection.status.as_str()).into())
            }
            TurnEnd::Answered { not_stored: Some(error), .. }
            | TurnEnd::Refused(error)
            | TurnEnd::Unreadable(error) => Some(error.code().into()),
            TurnEnd::Answered { finished, .. } => {
                let failure = finished.failure.as_ref()?;
                Some(known_code(&failure.code).unwrap_or("other").into())
            }
            _ => None,
        }
    }

    /// The cost of the answer's tokens, in the currency of the settings.
    pub(crate) fn cost(&self) -> Option<f64> {
        self.report?.cost()
    }

    /// How often the upstream was asked again.
    pub(crate) fn retries(&self) -> u32 {
        self.report.map_or(0, Report::retries)
    }

    /// The faults of the input that were repaired, once for each repair.
    pub(crate) fn repairs(&self) -> impl Iterator<Item = &'static str> {
        self.report.into_iter().flat_map(Report::faults)
    }

    /// The faults of the upstream's answer that were repaired, once for each repair.
    pub(crate) fn stream_repairs(&self) -> impl Iterator<Item = &'static str> {
        self.report.into_iter().flat_map(Report::stream_faults)
    }
}

impl<'a> TurnEnd<'a> {
    /// The response, if the turn has one.
    pub(crate) fn finished(self) -> Option<&'a Finished> {
        match self {
            Self::Answered { finished, .. } => Some(finished),
            _ => None,
        }
    }
}

impl From<Status> for TurnOutcome {
    fn from(status: Status) -> Self {
        match status {
            Status::Completed => Self::Completed,
            Status::Incomplete => Self::Incomplete,
            Status::Failed => Self::Failed,
            Status::Cancelled => Self::Cancelled,
        }
    }
}

impl TurnOutcome {
    /// The word in metrics and logs.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::Incomplete => "incomplete",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
            Self::Disconnected => "disconnected",
            Self::Refused => "refused",
            Self::Replayed => "replayed",
            Self::Queued => "queued",
        }
    }
}
