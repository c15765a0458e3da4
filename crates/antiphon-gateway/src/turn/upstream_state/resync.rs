//! Resyncs an unknown or stale ledger with the upstream.

use std::collections::HashSet;

use antiphon::placeholder::is_placeholder_item;
use antiphon::provider_api::{Chain, ChainOptions, ChainStep, ChainWalk};
use antiphon::{HeldItem, IdSource, Item, ItemId, Origin};
use antiphon_store::{
    ConversationId, Cursor, Destination, LedgerUpdate, NewResponse, ResponseId, ResponseRecord,
    Shard, ThreadId, TurnRecord,
};
use http::StatusCode;

use super::UpstreamTurn;
use super::commit::envelope_with;
use super::open::{OpenedAtUpstream, after};
use crate::entropy::{RandomIds, unix_now};
use crate::error::{ApiError, Hint};
use crate::request::Continues;
use crate::settings::Ledger;
use crate::turn::admission::issue_item_id;
use crate::turn::report::Report;
use crate::upstream::UpstreamError;

/// The part of a response chain that the ledger did not have, and the response before it, which the
/// ledger has in full.
type UnknownChain = (Chain, Option<ResponseRecord>);

impl OpenedAtUpstream<'_> {
    /// Resyncs the ledger and moves the turn to its end.
    pub(super) async fn resync_ledger(self) -> Result<Self, ApiError> {
        match &self.at.turn.request.continues {
            Continues::Nothing => Ok(self),
            Continues::Conversation(id) => {
                self.resync_conversation(id).await?;
                self.at_current_end().await
            }
            Continues::Response(id) => {
                let record = self.at.resync_response(id, self.place.cursor).await?;
                self.place.close().await;
                Self::open_after(self.at, &record).await
            }
        }
    }

    /// Replaces the ledger's items with the upstream's list for the conversation. The turn holds
    /// the conversation's lease.
    pub(super) async fn resync_conversation(&self, id: &str) -> Result<(), ApiError> {
        let Self { at, place, .. } = self;
        let conversation = place.conversation.as_ref().expect("the turn belongs to a conversation");
        let items = at.provider().conversation_items(id).await?;
        let held = at.new_entries(&items, &mut HashSet::new());
        let thread = ThreadId::issue(&mut RandomIds);
        let tenant = &at.turn.caller.tenant;
        Ok(at.ledgers().resync(tenant, conversation, thread, held, place.place()).await?)
    }
}

impl UpstreamTurn<'_> {
    /// Stores the upstream's record of a response, and of the unknown part of the chain before it.
    /// If the upstream does not have the response, the error is the same as in a turn. `refused` is
    /// the end of a stored record that has proved wrong.
    ///
    /// If several turns need the same response, on any gateway, one fetches it and the others use
    /// the result. Otherwise each would replace the record that the others are about to continue.
    pub(super) async fn resync_response(
        &self,
        id: &str,
        refused: Option<Cursor>,
    ) -> Result<ResponseRecord, ApiError> {
        let (store, tenant) = (&self.turn.gateway.store, &self.turn.caller.tenant);
        let lease = self.turn.leases.lease_conversation(tenant, &resync_key(id)).await?;
        let lease = lease.ok_or(ApiError::ConversationLocked)?;
        let found = self.fresh_record(id).await?;
        if let Some(record) = found.filter(|record| Some(record.cursor) != refused) {
            lease.release().await;
            return Ok(record);
        }
        let chain = self.read_chain(id).await?;
        let turn = self.record_of_chain(id, chain).await?;
        let local = turn.response.as_ref().expect("it has one").id.clone();
        store.commit_turn(tenant, turn).await?;
        let record = store.response(tenant, &local).await?;
        lease.release().await;
        record.ok_or_else(|| response_not_found(id))
    }

    /// Fetches a response and the unknown part of the chain before it.
    async fn read_chain(&self, id: &str) -> Result<UnknownChain, ApiError> {
        let unknown = || response_not_found(id);
        let options = ChainOptions { shows_images: false, reads_conversation: false };
        let mut walk = ChainWalk::new(id, options).map(Box::new).ok_or_else(unknown)?;
        let provider = self.provider();
        let mut is_first = true;
        loop {
            let (status, body) = provider.get(&walk.path()).await?;
            if std::mem::take(&mut is_first) && status == StatusCode::OK {
                walk.set_input_listed(self.http.capabilities(self.turn.caller).await.input_items);
            }
            walk = match walk.take(status.as_u16(), &body) {
                ChainStep::Request(walk) => walk,
                ChainStep::Previous(walk, previous) => match self.fresh_record(&previous).await? {
                    Some(record) => return Ok((walk.finish(), Some(record))),
                    None => walk,
                },
                ChainStep::Done(chain) => return Ok((chain, None)),
                ChainStep::NotFound | ChainStep::NotListed(None) => return Err(unknown()),
                ChainStep::NotListed(Some(error)) => {
                    return Err(UpstreamError::from(error).into());
                }
            };
        }
    }

    /// Builds the record of the fetched responses.
    async fn record_of_chain(
        &self,
        id: &str,
        (chain, known): UnknownChain,
    ) -> Result<TurnRecord, ApiError> {
        let before = self.turn.load(known.as_ref().map(|record| record.cursor)).await?;
        let mut seen: HashSet<ItemId> = before.items().iter().map(|it| it.id.clone()).collect();
        let last_known = before.items().iter().rev().find(|item| item.head.is_model_made());
        let (envelope, is_stale) = (envelope_with(id, chain.status()), chain.is_underway());
        let (input, output) = chain.into_items(last_known.map(|item| &item.id));
        let (destination, local) = place_after(id, known.as_ref());
        Ok(TurnRecord {
            destination,
            input: self.new_entries(&input, &mut seen),
            output: self.new_entries(&output, &mut seen),
            response: Some(NewResponse {
                id: local,
                conversation: None,
                created_at: unix_now(),
                envelope,
                report: Report::new(0).to_json().into(),
                copy: None,
            }),
            request: None,
            place: None,
            notices: Vec::new(),
            ledger: Some(LedgerUpdate { response: Some(self.named(id)), is_stale }),
        })
    }

    /// The ledger entries of listed items. Of several items with one id, the first counts.
    fn new_entries(&self, items: &[Item], seen: &mut HashSet<ItemId>) -> Vec<HeldItem> {
        let key = self.turn.gateway.fingerprint_key;
        let entry = |item: &Item| {
            let issued = || issue_item_id(&item.head().kind);
            let id = item.head().id.clone().unwrap_or_else(issued);
            let placeholder = is_placeholder_item(item).then(Origin::placeholder);
            let upstream = || item.head().is_model_made().then(|| Origin::new(self.http.base()));
            let origin = placeholder.or_else(upstream);
            seen.insert(id.clone()).then(|| self.entered(HeldItem::new(id, item, key, origin)))
        };
        items.iter().filter_map(entry).collect()
    }

    /// Drops the item's body if the operator wants ledgers without bodies.
    pub(super) fn entered(&self, item: HeldItem) -> HeldItem {
        match self.turn.gateway.settings.ledger {
            Ledger::Heads => item.without_body(),
            Ledger::Bodies => item,
        }
    }
}

fn response_not_found(id: &str) -> ApiError {
    ApiError::PreviousResponseNotFound { id: id.into(), hint: Hint::None }
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
