//! The context of a turn: the request, and the settings and services that its stages use.

use std::sync::Arc;

use antiphon::stream::{Assembler, Envelope, Finished, Status, UsedIds};
use antiphon::{HeldItem, Transcript};
use antiphon_store::{
    ConversationId, Cursor, Destination, ResponseEnd, ResponseId, ResponseRecord, Shard,
    StoreError, TurnRecord,
};

use super::clock::TurnClock;
use super::finished::{FinishedTurn, TurnEnd};
use super::hot;
use super::report::Report;
use crate::caller::Caller;
use crate::entropy::{RandomIds, unix_now};
use crate::error::ApiError;
use crate::gateway::Gateway;
use crate::lease::Leases;
use crate::request::{Continues, CreateRequest, Identity, RetryEvidence};
use crate::settings::Faults;
use crate::span::{Stage, StageSpan, TraceSpan};
use crate::trace;
use crate::upstream::Upstream;

/// One turn of one caller.
#[derive(Clone)]
pub(super) struct Turn<'a> {
    pub(super) gateway: &'a Gateway,
    pub(super) caller: &'a Caller,
    pub(super) request: &'a CreateRequest,
    /// The leases, with the time that this turn may wait for others.
    pub(super) leases: Leases,
    /// The span of the turn, of which its stages are children.
    pub(super) trace: TraceSpan,
    /// The identity of the response, if the client learns it before the turn opens.
    pub(super) announced: Option<Announced>,
    /// The conversation that the client's request names, whether or not it exists.
    pub(super) conversation: Option<&'a str>,
    pub(super) clock: Arc<TurnClock>,
}

/// A response's identity.
#[derive(Clone, Debug)]
pub(super) struct Announced {
    pub(super) id: ResponseId,
    /// Unix seconds.
    pub(super) created_at: i64,
}

impl Announced {
    /// Issues a response id with the current time.
    pub(super) fn now(shard: Shard) -> Self {
        Self { id: ResponseId::issue(shard, &mut RandomIds), created_at: unix_now() }
    }
}

impl<'a> Turn<'a> {
    pub(super) fn new(
        gateway: &'a Gateway,
        caller: &'a Caller,
        request: &'a CreateRequest,
    ) -> Self {
        let conversation = match &request.continues {
            Continues::Conversation(id) => Some(&**id),
            Continues::Nothing | Continues::Response(_) => None,
        };
        Self {
            gateway,
            caller,
            request,
            leases: gateway.leases.clone(),
            trace: caller.trace.clone(),
            announced: None,
            conversation,
            clock: Arc::new(TurnClock::start()),
        }
    }

    /// The upstream of the request's model.
    pub(super) fn upstream(&self) -> Result<Upstream<'a>, ApiError> {
        self.gateway.upstream_for_model(&self.request.model)
    }
}

impl Turn<'_> {
    /// Records the model, the upstream and the conversation in the span of the turn's log lines and
    /// in that of its trace.
    pub(super) fn record_in_span(&self) {
        let upstream = self.gateway.upstreams.for_model(&self.request.model);
        let upstream = upstream.map(Upstream::label);
        trace::record_turn(self.request, upstream);
        self.trace.record_turn(self.request, upstream);
    }

    /// Begins a stage of the turn.
    pub(super) fn stage(&self, stage: Stage) -> StageSpan {
        self.trace.stage(stage)
    }

    /// Adds the answer to the report of the turn.
    pub(super) fn with_answer(&self, report: Report, finished: &Finished) -> Report {
        report.with_answer(finished, &self.request.model, &self.gateway.settings.prices)
    }

    /// The record of the turn, which ends now.
    pub(super) fn finished<'t>(&'t self, end: TurnEnd<'t>) -> FinishedTurn<'t> {
        FinishedTurn::new(self, end)
    }

    /// Fails if the turn needs the store and the store accepts no writes. The model is not asked
    /// then.
    pub(super) async fn check_store(&self) -> Result<(), ApiError> {
        match self.stores_items() {
            true => self.gateway.check_store().await,
            false => Ok(()),
        }
    }

    /// Whether the turn stores items.
    pub(super) fn stores_items(&self) -> bool {
        self.request.store || matches!(self.request.continues, Continues::Conversation(_))
    }

    /// Whether the store holds a record of the turn until it ends: the client learns the response's
    /// id before the end and may continue the response. In the background, the job has its own
    /// record.
    pub(super) fn has_pending_record(&self) -> bool {
        self.request.stream && self.request.store && self.announced.is_none()
    }

    /// Whether the turn is stored. A failed turn is stored only if its client knows its id.
    pub(super) fn outlives_failure(&self, finished: &Finished) -> bool {
        finished.status != Status::Failed || self.has_pending_record()
    }

    /// Whether the response is stored after the commit.
    pub(super) fn stores_response(&self, finished: &Finished) -> bool {
        self.request.store && self.outlives_failure(finished)
    }

    /// Whether the request has an idempotency key.
    pub(super) fn is_keyed(&self) -> bool {
        self.request.identity.evidence == RetryEvidence::IdempotencyKey
    }

    /// Whether an input that a provider rejects is repaired.
    pub(super) fn repairs(&self) -> bool {
        self.gateway.settings.faults == Faults::Repair
    }

    /// Whether the caller permits dropping the oldest turns.
    pub(super) fn truncates(&self) -> bool {
        self.request.object().string("truncation").as_deref() == Some("auto")
    }

    /// The assembler of the response's events.
    pub(super) fn assembler(&self, envelope: Envelope, taken: UsedIds) -> Assembler {
        let assembler =
            Assembler::new(envelope, taken, Box::new(RandomIds), self.request.encrypted);
        let assembler = assembler.with_form(self.gateway.settings.event_names);
        let assembler = assembler.with_obfuscation(self.request.obfuscation());
        match self.request.stream || self.request.background {
            true => assembler,
            false => assembler.without_events(),
        }
    }

    /// The identity of the response of a background turn.
    pub(super) fn announced(&self) -> Announced {
        self.announced.clone().expect("a background turn has an announced response id")
    }

    /// The envelope of the response of a background turn.
    pub(super) fn announced_envelope(&self) -> Envelope {
        let Announced { id, created_at } = self.announced();
        let conversation = self.named_conversation();
        let conversation = conversation.as_ref().map(ConversationId::as_str);
        Envelope::new(id.as_str(), created_at, &self.request.object(), conversation)
    }

    /// The conversation that the request names, whether or not it exists.
    pub(super) fn named_conversation(&self) -> Option<ConversationId> {
        match &self.request.continues {
            Continues::Conversation(text) => ConversationId::parse(text),
            Continues::Nothing | Continues::Response(_) => None,
        }
    }

    /// The shard of the thread that the request begins. A retry gets the shard of its first
    /// attempt, and so finds it.
    pub(super) async fn shard_of_request(&self) -> Result<Shard, ApiError> {
        if let Some(announced) = &self.announced {
            return Ok(announced.id.shard());
        }
        let Identity { digest, evidence } = self.request.identity;
        let candidate = match evidence {
            RetryEvidence::IdempotencyKey => return Ok(digest.shard()),
            RetryEvidence::RetryCount => None,
            RetryEvidence::None => Some(Shard::issue(&mut RandomIds)),
        };
        let (store, tenant) = (&self.gateway.store, &self.caller.tenant);
        Ok(store.shard_of_request(tenant, &digest, candidate, unix_now()).await?)
    }

    /// The record of a response after its turn has ended. Waits for turns of this process first and
    /// then, if no record exists, for those of other processes.
    pub(super) async fn wait_for_response(
        &self,
        id: &ResponseId,
    ) -> Result<Option<ResponseRecord>, ApiError> {
        let (store, tenant) = (&self.gateway.store, &self.caller.tenant);
        self.wait_for(id, || store.response(tenant, id)).await
    }

    /// Finds a value of a response after its turn has ended, as [`Self::wait_for_response`] does.
    async fn wait_for<T, F>(
        &self,
        id: &ResponseId,
        find: impl Fn() -> F,
    ) -> Result<Option<T>, ApiError>
    where
        F: Future<Output = Result<Option<T>, StoreError>>,
    {
        let (leases, tenant) = (&self.leases, &self.caller.tenant);
        if !self.clock.wait(leases.wait_for_response_here(tenant, id)).await {
            return Err(ApiError::ConversationLocked);
        }
        match find().await? {
            None if self.clock.wait(leases.wait_for_response(tenant, id)).await? => {
                Ok(find().await?)
            }
            None => Err(ApiError::ConversationLocked),
            found => Ok(found),
        }
    }

    /// The end of a response, after its turn has ended, and its transcript if the store loads both
    /// at once. A store with transcripts in memory does not.
    pub(super) async fn wait_for_end(
        &self,
        id: &ResponseId,
    ) -> Result<Option<(ResponseEnd, Option<Transcript>)>, ApiError> {
        if let Some(end) = hot::end_of(self, id) {
            return Ok(Some((end, None)));
        }
        let (store, tenant) = (&self.gateway.store, &self.caller.tenant);
        if store.hot_transcripts().is_some() {
            let record = self.wait_for_response(id).await?;
            return Ok(record.map(|record| (ResponseEnd::from_record(&record), None)));
        }
        let found = self.wait_for(id, || store.response_with_transcript(tenant, id)).await?;
        Ok(found.map(|(record, items)| {
            (ResponseEnd::from_record(&record), Some(items.into_iter().collect()))
        }))
    }

    /// A record of the turn with its input only.
    pub(super) fn new_record(&self, destination: Destination, input: Vec<HeldItem>) -> TurnRecord {
        TurnRecord {
            destination,
            input,
            output: Vec::new(),
            response: None,
            request: Some(self.request.identity.digest),
            place: None,
            notices: Vec::new(),
            ledger: None,
        }
    }

    /// The transcript that ends at this cursor.
    pub(super) async fn load(&self, cursor: Option<Cursor>) -> Result<Transcript, ApiError> {
        match cursor {
            None => Ok(Transcript::default()),
            Some(cursor) => {
                let held = self.gateway.store.transcript(&self.caller.tenant, cursor).await?;
                Ok(held.into_iter().collect())
            }
        }
    }
}
