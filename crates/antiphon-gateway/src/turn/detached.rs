//! Ends a background turn without output. Its input is stored outside its conversation.

use antiphon::stream::{Event, Failure, Status, UsedIds};
use antiphon::{HeldItem, Transcript};
use antiphon_store::{
    ConversationId, Cursor, Destination, LoggedEvent, NewResponse, ResponseId, ThreadId, TurnRecord,
};
use bytes::Bytes;

use super::context::{Announced, Turn};
use super::log::number_events;
use super::plan::Planner;
use super::report::Report;
use super::sent_view::SentView;
use crate::entropy::{RandomIds, unix_now};
use crate::error::{ApiError, QUOTA_EXCEEDED};
use crate::request::Continues;

/// The reason for the end of a turn without output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum EndReason {
    /// It was cancelled.
    Cancelled,
    /// It failed.
    Failed(Failure),
}

impl EndReason {
    /// Whether the input exceeds a quota.
    fn exceeds_quota(&self) -> bool {
        matches!(self, Self::Failed(failure) if failure.code == QUOTA_EXCEEDED)
    }
}

/// A turn without output.
pub(super) struct DetachedTurn {
    pub(super) record: TurnRecord,
    pub(super) status: Status,
    /// The events before the last that the log does not have yet.
    pub(super) events: Vec<LoggedEvent>,
    pub(super) last: Event,
}

impl DetachedTurn {
    /// Ends the turn, whose log has `logged` events. Opens nothing and waits for no other turn.
    /// Items that cannot be looked up are omitted.
    pub(super) async fn end(turn: &Turn<'_>, reason: EndReason, logged: u64) -> Self {
        let Announced { id, created_at } = turn.announced();
        let cursor = find_cursor(turn).await;
        let (fresh, report) = find_new_items(turn, cursor).await.unwrap_or_else(|_| {
            let report = Report::new(turn.request.input.len());
            let report = report.with_view(SentView::default());
            (Vec::new(), report.with_request(&turn.caller.request_id))
        });
        let fresh = if reason.exceeds_quota() { Vec::new() } else { fresh };
        let taken = UsedIds::from_transcript(&Transcript::default());
        let mut assembler = turn.assembler(turn.announced_envelope(), taken).starting_after(logged);
        match reason {
            EndReason::Cancelled => assembler.cancel(),
            EndReason::Failed(failure) => assembler.fail(failure),
        }
        let events = assembler.take_events().into_iter().map(|event| event.data);
        let events = number_events(logged, events);
        let finished = assembler.finish(unix_now());
        let response = NewResponse {
            id,
            conversation: turn.named_conversation(),
            created_at,
            envelope: Bytes::from(finished.envelope),
            report: report.to_json().into(),
            copy: None,
        };
        let record = turn.new_record(destination_after(cursor, &response.id), fresh);
        let record = TurnRecord { response: Some(response), ..record };
        Self { record, status: finished.status, events, last: finished.event }
    }
}

/// The cursor that the turn continued, if it still exists.
async fn find_cursor(turn: &Turn<'_>) -> Option<Cursor> {
    let (store, tenant) = (&turn.gateway.store, &turn.caller.tenant);
    match &turn.request.continues {
        Continues::Nothing => None,
        Continues::Response(text) => {
            let found = store.response(tenant, &ResponseId::parse(text)?).await;
            Some(found.ok()??.cursor)
        }
        Continues::Conversation(text) => {
            let found = store.conversation(tenant, &ConversationId::parse(text)?).await;
            Some(found.ok()??.1)
        }
    }
}

/// The new items of the input.
async fn find_new_items(
    turn: &Turn<'_>,
    cursor: Option<Cursor>,
) -> Result<(Vec<HeldItem>, Report), ApiError> {
    let planner = Planner::new(turn, turn.upstream()?);
    let plan = planner.plan(turn.load(cursor).await?, None).await?;
    Ok((plan.fresh().to_vec(), plan.report.with_view(SentView::default())))
}

fn destination_after(cursor: Option<Cursor>, id: &ResponseId) -> Destination {
    let thread = ThreadId::issue(&mut RandomIds);
    match cursor {
        Some(cursor) => Destination::After { cursor, fork: thread, end_of: None },
        None => Destination::New { shard: id.shard(), thread },
    }
}
