//! The last stages: a turn that has ended, and its commit.

use antiphon::stream::{Finished, Output, Status};
use antiphon::{Body, FingerprintKey, HeldItem, Origin};
use antiphon_store::{Destination, TurnRecord};
use bytes::Bytes;

use super::cancel::CancelReason;
use super::client::Client;
use super::commit_retry::commit_with_retries;
use super::compact::learn_from_answer;
use super::context::Turn;
use super::finished::{TurnEnd, record_answer};
use super::open::Opened;
use super::pending::PendingTurn;
use super::plan::Plan;
use super::reader::Outcome;
use super::report::Report;
use super::sending::SendingTurn;
use super::shared_text::SharedEnd;
use super::{hot, lane};
use crate::error::ApiError;
use crate::span::Stage;
use crate::trace::ChatSpan;

/// A turn whose response has ended.
pub(super) struct EndedTurn<'a> {
    pub(super) turn: &'a Turn<'a>,
    pub(super) opened: Box<Opened>,
    pub(super) plan: Box<Plan>,
    pub(super) outcome: Outcome,
    /// The span of the model's answer.
    pub(super) chat: ChatSpan,
    pending: PendingTurn<'a>,
}

/// A turn after its commit, which may have failed.
pub(super) struct CommittedTurn {
    pub(super) finished: Finished,
    /// The end of the response, taken out of `finished`.
    pub(super) end: SharedEnd,
    pub(super) result: Result<(), ApiError>,
}

/// The result of a response, and the changes that the commit stores with it.
pub(super) struct TurnResult<'a> {
    pub(super) fresh: Vec<HeldItem>,
    pub(super) output: Vec<HeldItem>,
    pub(super) report: &'a Report,
    pub(super) finished: &'a Finished,
}

impl<'a> EndedTurn<'a> {
    pub(super) fn new(sending: SendingTurn<'a>, outcome: Outcome) -> Self {
        let SendingTurn { sender, opened, mut plan, pending } = sending;
        plan.report.set_retries(sender.retries());
        plan.report.set_sent(plan.prompt.view.len());
        let (turn, chat) = (sender.planner.turn, sender.into_chat());
        plan.record_view(turn);
        chat.stop();
        Self { turn, opened, plan, outcome, chat, pending }
    }

    /// Stores the result of the turn. Returns `None` for a turn without a result.
    pub(super) async fn commit(self) -> Option<CommittedTurn> {
        let Self { turn, opened, plan, outcome, chat, pending } = self;
        turn.clock.mark_answered();
        let is_deleted = matches!(outcome, Outcome::ConversationDeleted(_));
        let is_disconnected = matches!(outcome, Outcome::Disconnected(_));
        if is_disconnected && !turn.request.stream {
            // The client saw nothing of the response and cannot continue it, so there was no turn.
            chat.fail(CancelReason::Disconnected.name());
            turn.finished(TurnEnd::Disconnected).with_report(&plan.report).publish();
            return None;
        }
        let mut finished = outcome.finished();
        record_answer(&chat, &finished);
        learn_from_answer(turn, &plan, &finished);
        let last = SharedEnd::take_from(&mut finished);
        let fresh = plan.fresh().to_vec();
        let Plan { transcript, report, origin, .. } = *plan;
        let report = turn.with_answer(report, &finished);
        let output = output_items(turn.gateway.fingerprint_key, &finished, &origin);
        let held = transcript.items().len() - fresh.len();
        let stored =
            TurnResult { fresh, output: output.clone(), report: &report, finished: &finished };
        let result = match is_deleted {
            true => Err(ApiError::ConversationDeleted),
            false => turn.stage(Stage::Commit).close(stored.commit(turn, &opened).await),
        };
        if result.is_err() {
            pending.discard().await;
        }
        let is_stored = turn.stores_response(&finished) && result.is_ok();
        if !is_stored && let Some(failure) = &finished.failure {
            turn.remember_failure(failure.clone());
        }
        if result.is_err() || finished.status == Status::Failed {
            lane::forget_previous(turn);
        } else if is_stored {
            hot::keep(turn, &opened, transcript, held, output);
        } else {
            lane::remember(turn, &opened.response_id, transcript, output);
        }
        let response = is_stored.then(|| opened.response_id.as_str());
        let not_stored = result.as_ref().err();
        let end = TurnEnd::Answered { finished: &finished, is_disconnected, not_stored };
        turn.finished(end).with_report(&report).with_response(response).publish();
        opened.close().await;
        Some(CommittedTurn { finished, end: last, result })
    }
}

impl TurnResult<'_> {
    /// Commits the turn: its items, and its record if the response is stored.
    ///
    /// A failed turn leaves its conversation unchanged. If the client has seen its id, it can be
    /// continued nevertheless, so it is stored outside the conversation.
    async fn commit(self, turn: &Turn<'_>, opened: &Opened) -> Result<(), ApiError> {
        if !turn.stores_items() || !turn.outlives_failure(self.finished) {
            return Ok(());
        }
        let destination = match self.finished.status {
            Status::Failed => opened.destination_apart(),
            _ => opened.destination.clone(),
        };
        let record = self.record(turn, opened, destination);
        Ok(commit_with_retries(turn.gateway, &turn.caller.tenant, record).await?)
    }

    /// The record of the turn, appended at `destination`.
    pub(super) fn record(
        self,
        turn: &Turn<'_>,
        opened: &Opened,
        destination: Destination,
    ) -> TurnRecord {
        let Self { fresh, output, report, finished } = self;
        let envelope = || Bytes::copy_from_slice(finished.envelope.as_bytes());
        TurnRecord {
            output,
            response: turn.request.store.then(|| opened.new_response(envelope(), report)),
            place: opened.place(),
            ..turn.new_record(destination, fresh)
        }
    }
}

/// The output items as they are stored.
pub(super) fn output_items(
    key: FingerprintKey,
    finished: &Finished,
    origin: &Origin,
) -> Vec<HeldItem> {
    let held = |output: &Output| {
        let item = output.item.as_ref().unwrap_or(&output.announced);
        let mut held = HeldItem::new(output.id.clone(), item, key, Some(origin.clone()));
        if output.item.is_none() {
            held.body = Body::Erased;
        }
        held
    };
    finished.output.iter().map(held).collect()
}

impl CommittedTurn {
    /// Sends the end of the turn to the client.
    pub(super) async fn send_end(self, client: &mut Client) {
        let Self { mut finished, end, result } = self;
        let error = match result {
            Ok(()) if finished.status == Status::Cancelled => ApiError::Stopped,
            Ok(()) => {
                let (status, failure) = (finished.status, finished.failure.take());
                // The output is committed. While the client reads, only the terminal event stays in
                // memory.
                drop(finished);
                return client.send_shared_end(status, failure, end).await;
            }
            Err(error) => error,
        };
        end.put_back(&mut finished);
        client.send_commit_error(&finished, error).await;
    }
}
