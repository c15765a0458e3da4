//! Resyncs an unknown or stale ledger with the upstream.

use std::collections::HashSet;

use antiphon::placeholder::is_placeholder_item;
use antiphon::provider_api::{StoredResponse, implied_outputs};
use antiphon::{HeldItem, IdSource, Item, ItemId, Origin, Transcript};
use antiphon_store::{
    Base, ConversationId, Cursor, LedgerTurn, NewResponse, ResponseId, ResponseRecord, Shard,
    ThreadId, Turn as TurnRecord,
};
use http::StatusCode;

use super::UpstreamTurn;
use super::open::after;
use super::told::envelope_of;
use crate::entropy::{RandomIds, unix_now};
use crate::error::{ApiError, Hint};
use crate::owner::Provider;
use crate::settings::Ledger;
use crate::turn::open::Opened;
use crate::turn::report::Report;
use crate::upstream::UpstreamError;

/// The longest chain of responses that a resync follows back. Older items stay unknown, as if no
/// client had ever sent them.
const LONGEST_WALK: usize = 256;

/// The part of a response chain that the ledger did not have.
#[derive(Default)]
struct Walked {
    /// The responses, newest first, each with its input and its output.
    responses: Vec<(Vec<Item>, StoredResponse)>,
    /// The response before them, which the ledger has in full.
    behind: Option<ResponseRecord>,
}

impl UpstreamTurn<'_> {
    /// Replaces the ledger's items with the upstream's list for the conversation. The caller must
    /// hold the conversation's lease.
    pub(super) async fn learn_conversation(
        &self,
        id: &str,
        opened: &Opened,
    ) -> Result<(), ApiError> {
        let conversation = opened.conversation.as_ref().expect("it is a turn of one");
        let items = self.provider().conversation_items(id).await?;
        let mut seen = HashSet::new();
        let held = items.iter().filter_map(|item| self.seen_first(item, &mut seen)).collect();
        let thread = ThreadId::issue(&mut RandomIds);
        let tenant = &self.turn.caller.tenant;
        Ok(self.ledgers().relearn(tenant, conversation, thread, held, opened.place()).await?)
    }

    /// Stores the upstream's record of a response, and of the unknown part of the chain before it.
    /// If the upstream does not have the response, the error is the same as in a turn. `refused` is
    /// the end of a stored record that has proved wrong.
    ///
    /// If several turns need the same response, on any gateway, one fetches it and the others use
    /// the result. Otherwise each would replace the record that the others are about to continue.
    pub(super) async fn learn_response(
        &self,
        id: &str,
        refused: Option<Cursor>,
    ) -> Result<ResponseRecord, ApiError> {
        let (store, tenant) = (&self.turn.gateway.store, &self.turn.caller.tenant);
        let learning = self.turn.leases.conversation(tenant, &learning_of(id)).await?;
        let learning = learning.ok_or(ApiError::ConversationLocked)?;
        let learnt = self.sure_record(id).await?;
        if let Some(record) = learnt.filter(|record| Some(record.cursor) != refused) {
            learning.release().await;
            return Ok(record);
        }
        let walked = self.walk(id).await?;
        let learnt = self.learnt(id, walked).await?;
        let local = learnt.response.as_ref().expect("it has one").id.clone();
        store.commit_turn(tenant, learnt).await?;
        let record = store.response(tenant, &local).await?;
        learning.release().await;
        record.ok_or_else(|| ApiError::PreviousResponseNotFound { id: id.into(), hint: Hint::None })
    }

    /// Fetches a response and the chain before it.
    async fn walk(&self, id: &str) -> Result<Walked, ApiError> {
        let mut walked = Walked::default();
        let mut next = Some(id.to_owned());
        while let Some(at) = next.take().filter(|_| walked.responses.len() < LONGEST_WALK) {
            if !walked.responses.is_empty() {
                walked.behind = self.sure_record(&at).await?;
                if walked.behind.is_some() {
                    break;
                }
            }
            let Some(response) = self.kept_response(&at).await? else { break };
            if walked.has_all_of(&response) {
                break;
            }
            let input = self.input_of(&at).await?;
            next.clone_from(&response.previous);
            walked.responses.push((input, response));
        }
        match walked.responses.is_empty() {
            true => Err(ApiError::PreviousResponseNotFound { id: id.into(), hint: Hint::None }),
            false => Ok(walked),
        }
    }

    /// Fetches a response; `None` if the upstream no longer has it.
    async fn kept_response(&self, id: &str) -> Result<Option<StoredResponse>, ApiError> {
        found(self.provider().response(id).await)
    }

    /// Fetches the input of a response; empty if the upstream does not list it.
    async fn input_of(&self, id: &str) -> Result<Vec<Item>, ApiError> {
        if !self.http.capabilities(self.turn.caller).await.input_items {
            return Ok(Vec::new());
        }
        Ok(found(self.provider().input_items(id).await)?.unwrap_or_default())
    }

    /// Builds the record of the fetched responses.
    async fn learnt(&self, id: &str, walked: Walked) -> Result<TurnRecord, ApiError> {
        let Walked { mut responses, behind } = walked;
        let before = self.turn.load(behind.as_ref().map(|record| record.cursor)).await?;
        let mut seen: HashSet<ItemId> = before.items().iter().map(|it| it.id.clone()).collect();
        let (own_input, response) = responses.remove(0);
        let own_input = behind_all_of(&before, &own_input);
        let lists_input = self.http.capabilities(self.turn.caller).await.input_items;
        let unlisted = |made: &[Item]| if lists_input { Vec::new() } else { implied_outputs(made) };
        let answered: Vec<Vec<Item>> =
            responses.iter().map(|(_, response)| unlisted(&response.output)).collect();
        let earlier = responses.iter().zip(&answered).rev();
        let earlier = earlier.flat_map(|((input, response), answers)| {
            input.iter().chain(&response.output).chain(answers)
        });
        let input = earlier.chain(own_input);
        let input = input.filter_map(|item| self.seen_first(item, &mut seen)).collect();
        let output = response.output.iter();
        let output = output.filter_map(|item| self.seen_first(item, &mut seen)).collect();
        let (base, local) = place_behind(id, behind.as_ref());
        Ok(TurnRecord {
            base,
            input,
            output,
            response: Some(NewResponse {
                id: local,
                conversation: None,
                created_at: unix_now(),
                envelope: envelope_of(id, &response.status),
                report: Report::new(0).to_json().into(),
            }),
            request: None,
            place: None,
            notices: Vec::new(),
            ledger: Some(LedgerTurn {
                response: Some(self.named(id)),
                is_stale: response.is_underway(),
            }),
        })
    }

    /// The ledger entry of an item, unless an item with the same id came before.
    fn seen_first(&self, item: &Item, seen: &mut HashSet<ItemId>) -> Option<HeldItem> {
        let issued = || ItemId::from(RandomIds.issue(item.head().kind.id_prefix()));
        let id = item.head().id.clone().unwrap_or_else(issued);
        let made_up = is_placeholder_item(item).then(Origin::placeholder);
        let origin = made_up.or_else(|| self.origin_of(item));
        let key = self.turn.gateway.fingerprint_key;
        seen.insert(id.clone()).then(|| self.entered(HeldItem::new(id, item, key, origin)))
    }

    /// Drops the item's body if the operator wants ledgers without bodies.
    pub(super) fn entered(&self, item: HeldItem) -> HeldItem {
        match self.turn.gateway.settings.ledger {
            Ledger::Heads => item.without_body(),
            Ledger::Bodies => item,
        }
    }

    pub(super) fn provider(&self) -> Provider<'_> {
        Provider::new(self.http, self.turn.caller)
    }
}

impl Walked {
    /// Whether the last fetched input also lists the output of this response. It then lists the
    /// whole chain before it.
    fn has_all_of(&self, response: &StoredResponse) -> bool {
        let Some((input, _)) = self.responses.last() else { return false };
        let listed: HashSet<&ItemId> =
            input.iter().filter_map(|it| it.head().id.as_ref()).collect();
        let mut output = response.output.iter();
        !response.output.is_empty()
            && output.all(|item| item.head().id.as_ref().is_some_and(|id| listed.contains(id)))
    }
}

/// The place and the local id of a fetched response. The shard is the same after every resync, so
/// that earlier attempts of requests that continue the response are found there.
fn place_behind(id: &str, behind: Option<&ResponseRecord>) -> (Base, ResponseId) {
    let shard = behind.map_or_else(|| learning_of(id).shard(), |it| it.cursor.shard);
    let fresh = || Base::New { shard, thread: ThreadId::issue(&mut RandomIds) };
    (behind.map_or_else(fresh, after), ResponseId::issue(shard, &mut RandomIds))
}

/// The response's own part of its input, if the upstream also lists the items before it. User
/// messages in the ledger have no upstream ids, so the last model item marks the boundary.
fn behind_all_of<'a>(before: &Transcript, input: &'a [Item]) -> &'a [Item] {
    let last_made = before.items().iter().rev().find(|item| item.head.is_model_made());
    let is_it =
        |item: &Item| last_made.is_some_and(|last| item.head().id.as_ref() == Some(&last.id));
    let own = input.iter().rposition(is_it).map_or(0, |at| at + 1);
    &input[own..]
}

/// The lease key for fetching this response. It has the form of a conversation id but names no
/// conversation.
fn learning_of(id: &str) -> ConversationId {
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

/// Turns the upstream's 404 into `None`.
pub(super) fn found<T>(answer: Result<T, UpstreamError>) -> Result<Option<T>, ApiError> {
    match answer {
        Ok(found) => Ok(Some(found)),
        Err(UpstreamError::Refused(refused)) if refused.status == StatusCode::NOT_FOUND => Ok(None),
        Err(error) => Err(error.into()),
    }
}
