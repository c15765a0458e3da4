//! Replaces the items of a stale ledger with those that the upstream lists.

use antiphon::stateful::Listed;
use antiphon::{HeldItem, IdSource};
use antiphon_store::{
    ConversationId, Destination, LedgerUpdate, NewResponse, ResponseId, ResponseRecord, Shard,
    ThreadId, TurnRecord,
};

use super::UpstreamTurn;
use super::commit::envelope_with;
use super::open::{OpenedAtUpstream, after};
use crate::entropy::{RandomIds, unix_now};
use crate::error::{ApiError, Hint};
use crate::lease::Lease;
use crate::turn::report::Report;

impl OpenedAtUpstream<'_> {
    /// Replaces the ledger's items of the conversation, and moves the turn to their end. The turn
    /// holds the conversation's lease.
    pub(super) async fn replace_items(&mut self, listed: Vec<HeldItem>) -> Result<(), ApiError> {
        let Self { at, place, .. } = self;
        let conversation = place.conversation.as_ref().expect("the turn belongs to a conversation");
        let thread = ThreadId::issue(&mut RandomIds);
        let tenant = &at.turn.caller.tenant;
        at.ledgers().resync(tenant, conversation, thread, listed, place.place()).await?;
        place.move_to_current_end(at.turn).await
    }
}

/// The hold on a response while the upstream lists it, and the unknown part of the chain before it.
///
/// If several turns need the same response, on any gateway, one lists it and the others use the
/// result. Otherwise each would replace the record that the others are about to continue.
pub(super) struct ChainSync {
    lease: Lease,
    /// The response before the listed ones, which the ledger has in full.
    known: Option<ResponseRecord>,
    has_begun: bool,
}

impl ChainSync {
    /// Waits for the other turns that list the response.
    pub(super) async fn begin(at: UpstreamTurn<'_>, id: &str) -> Result<Self, ApiError> {
        let tenant = &at.turn.caller.tenant;
        let lease = at.turn.leases.lease_conversation(tenant, &resync_key(id)).await?;
        let lease = lease.ok_or(ApiError::ConversationLocked)?;
        Ok(Self { lease, known: None, has_begun: false })
    }

    /// Returns `true` once, for the first answer.
    pub(super) fn begin_list(&mut self) -> bool {
        !std::mem::replace(&mut self.has_begun, true)
    }

    pub(super) fn set_known(&mut self, known: ResponseRecord) {
        self.known = Some(known);
    }

    /// Stores the listed responses as the record of this one.
    pub(super) async fn store(
        self,
        at: UpstreamTurn<'_>,
        id: &str,
        listed: &Listed,
    ) -> Result<ResponseRecord, ApiError> {
        let (store, tenant) = (&at.turn.gateway.store, &at.turn.caller.tenant);
        let (destination, local) = place_after(id, self.known.as_ref());
        let record = TurnRecord {
            destination,
            input: at.entries(&listed.input),
            output: at.entries(&listed.output),
            response: Some(NewResponse {
                id: local.clone(),
                conversation: None,
                created_at: unix_now(),
                envelope: envelope_with(id, &listed.status),
                report: Report::new(0).to_json().into(),
                copy: None,
            }),
            request: None,
            place: None,
            notices: Vec::new(),
            ledger: Some(LedgerUpdate {
                response: Some(at.named(id)),
                is_stale: listed.is_underway,
            }),
        };
        store.commit_turn(tenant, record).await?;
        let record = store.response(tenant, &local).await?;
        self.release().await;
        record.ok_or_else(|| response_not_found(id))
    }

    /// Lets other turns list the response.
    pub(super) async fn release(self) {
        self.lease.release().await;
    }
}

pub(super) fn response_not_found(id: &str) -> ApiError {
    ApiError::PreviousResponseNotFound { id: id.into(), hint: Hint::None }
}

pub(super) fn conversation_not_found(id: &str) -> ApiError {
    ApiError::ConversationNotFound { id: id.into(), hint: Hint::None }
}

/// The place and the local id of a fetched response. The shard is the same after every resync, so
/// that earlier attempts of requests that continue the response are found there.
fn place_after(id: &str, known: Option<&ResponseRecord>) -> (Destination, ResponseId) {
    let shard = known.map_or_else(|| resync_key(id).shard(), |it| it.cursor.shard);
    let new = || Destination::New { shard, thread: ThreadId::issue(&mut RandomIds) };
    (known.map_or_else(new, after), ResponseId::issue(shard, &mut RandomIds))
}

/// The lease key for fetching this response. It has the form of a conversation id but names no
/// conversation.
fn resync_key(id: &str) -> ConversationId {
    let digest = ring::digest::digest(&ring::digest::SHA256, id.as_bytes());
    let digest = digest.as_ref();
    let (shard, rest) = digest.split_at(8);
    ConversationId::issue(Shard::issue(&mut Digest(shard)), &mut Digest(rest))
}

/// An id source with bytes derived from a text.
struct Digest<'a>(&'a [u8]);

impl IdSource for Digest<'_> {
    fn fill(&mut self, bytes: &mut [u8]) {
        bytes.copy_from_slice(&self.0[..bytes.len()]);
    }
}
