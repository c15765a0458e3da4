//! A request that its client retries: after a timeout, a lost answer or a crash.
//!
//! A retry never adds a second turn. If an earlier attempt completed, the gateway replays its
//! answer and asks no model. If it was cut short, the retry replaces it: the conversation returns
//! to the state before the attempt. A failed attempt left nothing in the conversation.
//!
//! A cut attempt stays in its conversation if another turn was appended to it, or if a response
//! continues from it. A request with a key then continues the conversation as it is now: it stores
//! no input item again, and the model gets the stored input at the end of its view
//! ([`PriorInput`]).

use std::ops::Range;

use antiphon::item::{Role, Side};
use antiphon::json::Object;
use antiphon::stream::Status;
use antiphon::{Kind, Transcript};
use antiphon_store::{
    ConversationId, PriorTurn, RETRY_WINDOW, ResponseId, ResponseRecord, ThreadId,
};

use super::context::Turn;
use super::open::{Opened, OpenedTurn};
use crate::entropy::{RandomIds, unix_now};
use crate::error::ApiError;
use crate::lease::RequestRegistration;
use crate::request::{Identity, RetryEvidence};

/// How long a request is recognized by its key, in seconds.
const KEYED: i64 = 24 * 60 * 60;

/// How many earlier attempts are read at once. Most clients retry less often.
const ATTEMPTS: usize = 8;

/// The result of earlier attempts at the same request.
pub(super) enum PriorAttempt {
    /// An attempt completed.
    Complete(Box<ResponseRecord>),
    /// No attempt completed. Some may have been cut short.
    Incomplete(CutAttempts),
}

/// Attempts at the request that were cut short in its conversation, if any.
#[derive(Debug, Default)]
pub(super) struct CutAttempts {
    /// Whether the last turn of the conversation was one, and has been retracted.
    pub(super) replaced: bool,
    /// The input of an attempt that is still in the conversation.
    pub(super) prior: Option<PriorInput>,
}

/// The input of an earlier attempt at the request that its conversation still holds.
#[derive(Clone, Debug)]
pub(super) struct PriorInput {
    /// The response of that attempt.
    pub(super) response: ResponseId,
    /// The positions of the input in the conversation's transcript. Deleted items count.
    pub(super) positions: Range<usize>,
}

impl PriorInput {
    /// The positions of the live items that a model should answer: messages and outputs.
    /// Instructions and model output keep their places.
    pub(super) fn positions_to_answer(&self, transcript: &Transcript) -> Vec<usize> {
        let needs_answer = |at: &usize| {
            let item = &transcript.items()[*at];
            let instructs = item.head.role.is_some_and(Role::instructs);
            let is_output = matches!(item.head.pairing(), Some((Side::Output, _)));
            let is_message = item.head.kind == Kind::Message && !item.head.is_model_made();
            !item.is_tombstone() && !instructs && (is_message || is_output)
        };
        self.positions.clone().filter(needs_answer).collect()
    }
}

/// Earlier attempts at a request that have ended, the newest first.
#[derive(Default)]
pub(super) struct Attempts {
    pub(super) known: Vec<ResponseRecord>,
    /// Attempts that are too old to count.
    expired: Vec<ResponseRecord>,
}

/// Registers the turn among those of the same request. A retry waits until the earlier attempts
/// have ended.
pub(super) async fn register_attempt(turn: &Turn<'_>) -> Result<RequestRegistration, ApiError> {
    let Identity { digest, evidence } = turn.request.identity;
    let registering = turn.leases.register_request(&turn.caller.tenant, &digest, evidence);
    turn.clock.wait(registering).await?.ok_or(ApiError::RequestInProgress)
}

impl OpenedTurn<'_> {
    /// Finds the result of earlier attempts at this request. Retracts a cut attempt if it is the
    /// last turn of the conversation.
    pub(super) async fn find_prior_attempt(&self) -> Result<PriorAttempt, ApiError> {
        AttemptLookup::new(self.turn, &self.opened).find().await
    }
}

/// Looks up earlier attempts at the request of an open turn.
pub(super) struct AttemptLookup<'a> {
    turn: &'a Turn<'a>,
    opened: &'a Opened,
}

impl<'a> AttemptLookup<'a> {
    pub(super) fn new(turn: &'a Turn<'a>, opened: &'a Opened) -> Self {
        Self { turn, opened }
    }

    async fn find(&self) -> Result<PriorAttempt, ApiError> {
        let (turn, opened) = (self.turn, self.opened);
        if turn.request.identity.evidence == RetryEvidence::None {
            return Ok(PriorAttempt::Incomplete(CutAttempts::default()));
        }
        let Attempts { known, expired } = self.recent_attempts().await?;
        if let Some(record) = self.select(known.into_iter().filter(is_complete).collect()) {
            return Ok(PriorAttempt::Complete(Box::new(record)));
        }
        // An attempt that is too old counts as a turn of its own and is never replaced.
        if expired.iter().any(|record| opened.begins_after(record)) {
            return Ok(PriorAttempt::Incomplete(CutAttempts::default()));
        }
        let replaced = match &opened.conversation {
            Some(conversation) => self.retract(conversation).await?,
            None => false,
        };
        let prior = if turn.is_keyed() { self.find_prior_input().await? } else { None };
        Ok(PriorAttempt::Incomplete(CutAttempts { replaced, prior }))
    }

    /// Finds the input that an earlier attempt left in the conversation. This needs a key: without
    /// one, an equal body may be a turn of its own.
    async fn find_prior_input(&self) -> Result<Option<PriorInput>, ApiError> {
        if self.opened.conversation.is_none() {
            return Ok(None);
        }
        let Some(record) = self.find_holder_of_input().await? else { return Ok(None) };
        // Later turns are appended after this response, so its positions do not change.
        let end = self.turn.load(Some(record.cursor)).await?.items().len();
        let length = |range: &Range<u64>| usize::try_from(range.end - range.start).ok();
        let positions = length(&record.output).zip(length(&record.input)).and_then(|(out, inp)| {
            let end = end.checked_sub(out)?;
            Some(end.checked_sub(inp)?..end)
        });
        let response = record.response.id;
        Ok(positions.map(|positions| PriorInput { response, positions }))
    }

    /// The attempt that stored the input. That is the first one in the conversation, so any number
    /// of others can be newer.
    async fn find_holder_of_input(&self) -> Result<Option<ResponseRecord>, ApiError> {
        let holds_input = |record: &ResponseRecord| {
            self.opened.is_on_thread_of(record) && !record.input.is_empty()
        };
        let mut limit = ATTEMPTS;
        loop {
            let Attempts { known, expired } = self.known_attempts(limit).await?;
            let is_last = known.len() + expired.len() < limit || !expired.is_empty();
            let holder = known.into_iter().find(holds_input);
            if holder.is_some() || is_last {
                return Ok(holder);
            }
            limit *= 8;
        }
    }

    /// The newest attempts at the request that count; none if the request is not marked as a retry.
    pub(super) async fn recent_attempts(&self) -> Result<Attempts, ApiError> {
        self.known_attempts(ATTEMPTS).await
    }

    async fn known_attempts(&self, limit: usize) -> Result<Attempts, ApiError> {
        if self.turn.request.identity.evidence == RetryEvidence::None {
            return Ok(Attempts::default());
        }
        let since = unix_now() - if self.turn.is_keyed() { KEYED } else { RETRY_WINDOW };
        let is_known = |record: &ResponseRecord| record.response.created_at >= since;
        let attempts = self.ended_attempts(limit).await?.into_iter();
        let (known, expired) = attempts.partition(is_known);
        Ok(Attempts { known, expired })
    }

    /// The attempts that have ended, newest first. Waits for those that still run in any process.
    async fn ended_attempts(&self, limit: usize) -> Result<Vec<ResponseRecord>, ApiError> {
        let mut found = self.look_up(limit).await?;
        let open = found.iter().filter_map(|turn| match turn {
            PriorTurn::Open(id) => Some(id),
            PriorTurn::Ended(_) => None,
        });
        let open: Vec<ResponseId> = open.cloned().collect();
        for id in &open {
            let waiting = self.turn.leases.wait_for_response(&self.turn.caller.tenant, id);
            if !self.turn.clock.wait(waiting).await? {
                return Err(ApiError::RequestInProgress);
            }
        }
        if !open.is_empty() {
            found = self.look_up(limit).await?;
        }
        let ended = found.into_iter().filter_map(|turn| match turn {
            PriorTurn::Ended(record) => Some(record),
            PriorTurn::Open(_) => None,
        });
        Ok(ended.collect())
    }

    async fn look_up(&self, limit: usize) -> Result<Vec<PriorTurn>, ApiError> {
        let (turn, shard) = (self.turn, self.opened.response_id.shard());
        let (store, digest) = (&turn.gateway.store, &turn.request.identity.digest);
        Ok(store.find_prior_turns(&turn.caller.tenant, shard, digest, limit).await?)
    }

    /// Picks the attempt to replay from all complete ones. With a key, that is the newest. Without
    /// a key it is the last turn of the conversation or, outside a conversation, the only attempt:
    /// several equal bodies are turns of their own.
    fn select(&self, mut complete: Vec<ResponseRecord>) -> Option<ResponseRecord> {
        if self.turn.is_keyed() {
            return (!complete.is_empty()).then(|| complete.swap_remove(0));
        }
        if self.opened.conversation.is_some() {
            return complete.into_iter().find(|record| self.opened.begins_after(record));
        }
        (complete.len() == 1).then(|| complete.swap_remove(0))
    }

    /// Retracts the last turn of the conversation if it is a cut attempt at this request.
    async fn retract(&self, conversation: &ConversationId) -> Result<bool, ApiError> {
        let (store, tenant) = (&self.turn.gateway.store, &self.turn.caller.tenant);
        let (digest, fork) = (&self.turn.request.identity.digest, ThreadId::issue(&mut RandomIds));
        Ok(store.retract(tenant, conversation, digest, fork, self.opened.place()).await?)
    }
}

/// Whether the response of the attempt is `completed` or `incomplete`.
pub(super) fn is_complete(record: &ResponseRecord) -> bool {
    let envelope = Object::parse(&record.response.envelope);
    let complete = [Status::Completed, Status::Incomplete].map(Status::as_str);
    let is_complete = |envelope: &Object<'_>| {
        envelope.string("status").is_some_and(|status| complete.contains(&&*status))
    };
    envelope.is_ok_and(|envelope| is_complete(&envelope))
}
