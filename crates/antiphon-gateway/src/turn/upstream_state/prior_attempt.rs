//! A request that its client retries, at an upstream that owns the state.
//!
//! A retry never adds a second turn. If the upstream completed the first attempt, its answer is
//! replayed and no model is asked. If the upstream stored only a part of it, the turn continues
//! after that part: unlike a conversation of the gateway, the upstream's cannot be reset. If it
//! stored nothing, the turn runs as a first attempt.

use std::ops::Range;

use antiphon::provider_api::{StoredResponse, find_attempt_at_tail, find_attempt_run};
use antiphon::stream::{Status, UsedIds};
use antiphon::{Fingerprint, ItemId, Transcript};
use antiphon_store::ResponseRecord;
use http::StatusCode;

use super::UpstreamTurn;
use super::open::OpenedAtUpstream;
use crate::entropy::unix_now;
use crate::error::ApiError;
use crate::request::Continues;
use crate::turn::context::Turn;
use crate::turn::finished::TurnEnd;
use crate::turn::prior_attempt::{AttemptLookup, is_complete};
use crate::turn::{Client, report};
use crate::upstream::UpstreamError;

/// The result of earlier attempts at the same request.
pub(super) enum PriorOutcome {
    /// An attempt has an answer.
    Answered(PriorAnswer),
    /// The upstream has nothing but these input items of an attempt, if any: position in the input,
    /// position in the transcript.
    Unanswered(Vec<(usize, usize)>),
}

/// The answer to an earlier attempt.
pub(super) enum PriorAnswer {
    /// A complete answer.
    Whole(Box<StoredResponse>),
    /// A response in the upstream's background, with any status.
    Queued(Box<StoredResponse>),
}

impl PriorOutcome {
    const NEVER: Self = Self::Unanswered(Vec::new());
}

/// An earlier attempt, and the upstream's response for it.
type Attempt = (ResponseRecord, Option<StoredResponse>);

impl OpenedAtUpstream<'_> {
    /// Finds the result of earlier attempts at this request. The ledger must be fresh.
    pub(super) async fn find_prior_attempt(&self) -> Result<PriorOutcome, ApiError> {
        let turn = self.at.turn;
        let mut attempts = self.attempts().await?;
        if attempts.is_empty() {
            return Ok(PriorOutcome::NEVER);
        }
        if turn.request.is_queued() {
            let is_one = attempts.len() == 1 || turn.is_keyed();
            let kept = attempts.swap_remove(0).1.filter(|_| is_one);
            return Ok(kept.map_or(PriorOutcome::NEVER, |kept| {
                PriorOutcome::Answered(PriorAnswer::Queued(Box::new(kept)))
            }));
        }
        let held = turn.load(self.place.cursor).await?;
        let in_conversation = matches!(turn.request.continues, Continues::Conversation(_));
        let search = AttemptSearch { turn, held, in_conversation };
        search.drop_other_turns(&mut attempts);
        let (whole, cut): (Vec<_>, Vec<_>) =
            attempts.into_iter().partition(|attempt| search.is_answered(attempt));
        if let Some(answer) = search.attempt_to_replay(whole) {
            return Ok(PriorOutcome::Answered(PriorAnswer::Whole(Box::new(answer))));
        }
        for (record, _) in &cut {
            let stored = search.find_stored_by(record).await?;
            if !stored.is_empty() {
                return Ok(PriorOutcome::Unanswered(stored));
            }
        }
        Ok(PriorOutcome::NEVER)
    }

    /// The known attempts, newest first, each with the upstream's response.
    async fn attempts(&self) -> Result<Vec<Attempt>, ApiError> {
        let (at, turn) = (self.at, self.at.turn);
        let mut attempts = Vec::new();
        for record in AttemptLookup::new(turn, &self.place).recent_attempts().await?.known {
            let named = at.ledgers().upstream_id(&turn.caller.tenant, &record.response.id).await?;
            let kept = match named {
                Some(named) => found(at.provider().response(&named.id).await)?,
                None => None,
            };
            if kept.as_ref().is_some_and(StoredResponse::is_underway) && !turn.request.is_queued() {
                return Err(ApiError::RequestInProgress);
            }
            attempts.push((record, kept));
        }
        Ok(attempts)
    }
}

/// Compares earlier attempts with the items that the turn continues.
struct AttemptSearch<'a> {
    turn: &'a Turn<'a>,
    held: Transcript,
    in_conversation: bool,
}

impl AttemptSearch<'_> {
    /// Whether the attempt completed and its output is part of the context that the turn continues.
    /// A response alone does not prove that its conversation contains its items. In a conversation,
    /// only the last answer counts, unless a key identifies the attempt.
    fn is_answered(&self, (record, response): &Attempt) -> bool {
        let Some(response) = response else { return false };
        let ended = is_complete(record) && response.status != Status::Failed.as_str();
        if !ended && response.status != Status::Completed.as_str() {
            return false;
        }
        if !self.in_conversation {
            return true;
        }
        let ids: Vec<&ItemId> =
            response.output.iter().filter_map(|item| item.head().id.as_ref()).collect();
        match self.turn.is_keyed() {
            true => !ids.is_empty() && ids.iter().all(|id| self.held.position(id).is_some()),
            false => ids.last().is_some_and(|id| self.is_last(id)),
        }
    }

    fn is_last(&self, id: &ItemId) -> bool {
        let last = self.held.items().iter().rev().find(|item| !item.is_tombstone());
        last.is_some_and(|item| item.id == *id)
    }

    /// Removes attempts that are turns of their own. Without a key, an equal request in the
    /// conversation that was answered before the latest attempt was a different turn, and so were
    /// all before it.
    fn drop_other_turns(&self, attempts: &mut Vec<Attempt>) {
        let mut earlier = attempts.iter().skip(1);
        if self.in_conversation
            && !self.turn.is_keyed()
            && let Some(others) = earlier.position(|(record, _)| is_complete(record))
        {
            attempts.truncate(others + 1);
        }
    }

    /// Picks the attempt to replay from all complete ones. With a key, that is the newest; in a
    /// conversation, the last turn. Elsewhere it is the only attempt, because several are turns of
    /// their own.
    fn attempt_to_replay(&self, mut whole: Vec<Attempt>) -> Option<StoredResponse> {
        let is_named = self.turn.is_keyed() || self.in_conversation;
        let is_one = whole.len() == 1 || is_named && !whole.is_empty();
        is_one.then(|| whole.swap_remove(0).1).flatten()
    }

    /// The input items that a cut attempt left in the upstream's conversation: the last items that
    /// no model created or, with a key, also items before later turns. Outside a conversation, a
    /// cut attempt leaves nothing in the context of the turn.
    async fn find_stored_by(
        &self,
        record: &ResponseRecord,
    ) -> Result<Vec<(usize, usize)>, ApiError> {
        let Some(input) = place(&record.input).filter(|_| self.in_conversation) else {
            return Ok(Vec::new());
        };
        let then = self.turn.load(Some(record.cursor)).await?;
        let before = then.items().get(..input.start).unwrap_or_default();
        let stored = then.items().get(input).unwrap_or_default();
        let among_others =
            || find_attempt_run(&self.held, before, stored).filter(|_| self.turn.is_keyed());
        let found = find_attempt_at_tail(&self.held, before, stored).or_else(among_others);
        Ok(found.map_or_else(Vec::new, |tail| self.pair_with_input(&tail)))
    }

    /// Pairs messages of the input with stored ones, in order. Reconciliation recognizes all other
    /// items, by their ids or call ids.
    fn pair_with_input(&self, stored: &[usize]) -> Vec<(usize, usize)> {
        let key = self.turn.gateway.fingerprint_key;
        let mut input = self.turn.request.input.iter().enumerate();
        let next = |at: &usize| {
            let says = self.held.items()[*at].fingerprint?;
            let mut rest = input.clone();
            let found = rest.find(|(_, item)| Fingerprint::from_item(key, item) == Some(says))?;
            input = rest;
            Some((found.0, *at))
        };
        stored.iter().filter_map(next).collect()
    }
}

impl UpstreamTurn<'_> {
    /// Replays the complete answer, or sends the background response.
    pub(super) async fn replay(
        &self,
        answer: PriorAnswer,
        client: &mut Client,
    ) -> Result<(), ApiError> {
        match answer {
            PriorAnswer::Whole(answer) => self.replay_whole(&answer, client).await,
            PriorAnswer::Queued(response) => {
                // The client gets the background response as the upstream has it now.
                client.begin_answer(report::head_again_unnamed());
                let response = String::from_utf8_lossy(&response.body).into_owned();
                self.turn.finished(TurnEnd::Replayed).publish();
                client.send_object(self.translated(response));
                Ok(())
            }
        }
    }

    /// Replays a complete answer as the upstream returns it.
    async fn replay_whole(
        &self,
        answer: &StoredResponse,
        client: &mut Client,
    ) -> Result<(), ApiError> {
        client.begin_answer(report::head_again_unnamed());
        let used = UsedIds::item_ids_only(&Transcript::default());
        let reader = self.reader("", unix_now(), used);
        let finished = reader.replay(&answer.body, unix_now(), client).await?;
        self.turn.finished(TurnEnd::Replayed).publish();
        client.send_end(finished).await;
        Ok(())
    }
}

/// Sequence numbers as positions in a transcript.
fn place(range: &Range<u64>) -> Option<Range<usize>> {
    Some(usize::try_from(range.start).ok()?..usize::try_from(range.end).ok()?)
}

/// Turns the upstream's 404 into `None`.
fn found<T>(answer: Result<T, UpstreamError>) -> Result<Option<T>, ApiError> {
    match answer {
        Ok(found) => Ok(Some(found)),
        Err(UpstreamError::Rejected(rejection)) if rejection.status == StatusCode::NOT_FOUND => {
            Ok(None)
        }
        Err(error) => Err(error.into()),
    }
}
