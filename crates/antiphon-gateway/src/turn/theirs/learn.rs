//! Learning from the upstream what it holds, where that is not known or in doubt.

use std::collections::HashSet;

use antiphon::kept::{KeptResponse, answers_to};
use antiphon::made_up::is_made_up;
use antiphon::{HeldItem, IdSource, Item, ItemId, Origin, Transcript};
use antiphon_store::{
    Base, ConversationId, Cursor, LedgerTurn, NewResponse, ResponseId, ResponseRecord, Shard,
    ThreadId, Turn as TurnRecord,
};
use http::StatusCode;

use super::Theirs;
use super::open::after;
use super::told::envelope_of;
use crate::entropy::{RandomIds, unix_now};
use crate::error::ApiError;
use crate::owner::Provider;
use crate::settings::Ledger;
use crate::turn::open::Opened;
use crate::turn::report::Report;
use crate::upstream::UpstreamError;

/// How many responses of a chain are asked for before the one that a turn goes on from. What stands
/// before them is not known, as if a client had never sent it.
const LONGEST_WALK: usize = 256;

/// A chain as far back as it was not known.
#[derive(Default)]
struct Walked {
    /// The newest response first, each with its input and its output.
    responses: Vec<(Vec<Item>, KeptResponse)>,
    /// The response before them, of which all is known here.
    behind: Option<ResponseRecord>,
}

impl Theirs<'_> {
    /// Puts what the upstream says that the conversation holds in the place of what was known. To be
    /// called in a turn of it, which has its lease.
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

    /// Keeps what the upstream says of a response, and of the chain before it as far back as it is not
    /// known. A response that it does not have is refused as it refuses it in a turn. `refused`: where the
    /// record ends that is not to be believed.
    ///
    /// Of several turns, on whichever gateway, one learns and the others go on from what it learnt. Each
    /// would put a record of its own in the place of the last, with what others are about to go on from.
    pub(super) async fn learn_response(
        &self,
        id: &str,
        refused: Option<Cursor>,
    ) -> Result<ResponseRecord, ApiError> {
        let (store, tenant) = (&self.turn.gateway.store, &self.turn.caller.tenant);
        let learning = self.turn.leases.conversation(tenant, &learning_of(id)).await?;
        let learning = learning.ok_or_else(ApiError::conversation_locked)?;
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
        record.ok_or_else(|| ApiError::previous_response_not_found(id))
    }

    /// Asks for a response and those before it.
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
            true => Err(ApiError::previous_response_not_found(id)),
            false => Ok(walked),
        }
    }

    /// A response as the upstream has it; `None` where it has none of this id any more.
    async fn kept_response(&self, id: &str) -> Result<Option<KeptResponse>, ApiError> {
        found(self.provider().response(id).await)
    }

    /// The input of a response; nothing where the upstream does not list it.
    async fn input_of(&self, id: &str) -> Result<Vec<Item>, ApiError> {
        if !self.http.capabilities(self.turn.caller).await.input_items {
            return Ok(Vec::new());
        }
        Ok(found(self.provider().input_items(id).await)?.unwrap_or_default())
    }

    /// What is to be kept of what was walked.
    async fn learnt(&self, id: &str, walked: Walked) -> Result<TurnRecord, ApiError> {
        let Walked { mut responses, behind } = walked;
        let before = self.turn.load(behind.as_ref().map(|record| record.cursor)).await?;
        let mut seen: HashSet<ItemId> = before.items().iter().map(|it| it.id.clone()).collect();
        let (own_input, response) = responses.remove(0);
        let own_input = behind_all_of(&before, &own_input);
        let lists_input = self.http.capabilities(self.turn.caller).await.input_items;
        let unlisted = |made: &[Item]| if lists_input { Vec::new() } else { answers_to(made) };
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
                in_doubt: response.is_underway(),
            }),
        })
    }

    /// An item as the ledger has it, unless one of its id came before.
    fn seen_first(&self, item: &Item, seen: &mut HashSet<ItemId>) -> Option<HeldItem> {
        let issued = || ItemId::from(RandomIds.issue(item.head().kind.id_prefix()));
        let id = item.head().id.clone().unwrap_or_else(issued);
        let made_up = is_made_up(item).then(Origin::made_up);
        let origin = made_up.or_else(|| self.origin_of(item));
        let key = self.turn.gateway.fingerprint_key;
        seen.insert(id.clone()).then(|| self.entered(HeldItem::new(id, item, key, origin)))
    }

    /// An item as the operator wants ledgers to have it.
    pub(super) fn entered(&self, item: HeldItem) -> HeldItem {
        match self.turn.gateway.settings.ledger {
            Ledger::Heads => item.elsewhere(),
            Ledger::Bodies => item,
        }
    }

    pub(super) fn provider(&self) -> Provider<'_> {
        Provider::new(self.http, self.turn.caller)
    }
}

impl Walked {
    /// Whether the input of the response behind this one lists this one's output too: then it lists
    /// all that came before.
    fn has_all_of(&self, response: &KeptResponse) -> bool {
        let Some((input, _)) = self.responses.last() else { return false };
        let listed: HashSet<&ItemId> =
            input.iter().filter_map(|it| it.head().id.as_ref()).collect();
        let mut output = response.output.iter();
        !response.output.is_empty()
            && output.all(|item| item.head().id.as_ref().is_some_and(|id| listed.contains(id)))
    }
}

/// Where what was learnt goes, and the local id that it is kept by. Whoever learns a response again puts it
/// where it was, so that earlier attempts of requests that go on from it are found there.
fn place_behind(id: &str, behind: Option<&ResponseRecord>) -> (Base, ResponseId) {
    let shard = behind.map_or_else(|| learning_of(id).shard(), |it| it.cursor.shard);
    let fresh = || Base::New { shard, thread: ThreadId::issue(&mut RandomIds) };
    (behind.map_or_else(fresh, after), ResponseId::issue(shard, &mut RandomIds))
}

/// What of a response's input is its own, where its upstream lists what came `before` it too. Users' words
/// have no ids of the upstream's in the ledger, so that the last of the model's tells.
fn behind_all_of<'a>(before: &Transcript, input: &'a [Item]) -> &'a [Item] {
    let last_made = before.items().iter().rev().find(|item| item.head.is_model_made());
    let is_it =
        |item: &Item| last_made.is_some_and(|last| item.head().id.as_ref() == Some(&last.id));
    let own = input.iter().rposition(is_it).map_or(0, |at| at + 1);
    &input[own..]
}

/// What those stand in line for who learn this response: no conversation, but as there is of each one.
fn learning_of(id: &str) -> ConversationId {
    let digest = ring::digest::digest(&ring::digest::SHA256, id.as_bytes());
    let digest = digest.as_ref();
    let (shard, rest) = digest.split_at(8);
    ConversationId::issue(Shard::issue(&mut Digest(shard)), &mut Digest(rest))
}

/// Bytes that follow from a text.
struct Digest<'a>(&'a [u8]);

impl IdSource for Digest<'_> {
    fn fill(&mut self, bytes: &mut [u8]) {
        bytes.copy_from_slice(&self.0[..bytes.len()]);
    }
}

/// What an upstream has; `None` where it says that it has not.
pub(super) fn found<T>(answer: Result<T, UpstreamError>) -> Result<Option<T>, ApiError> {
    match answer {
        Ok(found) => Ok(Some(found)),
        Err(UpstreamError::Refused(refused)) if refused.status == StatusCode::NOT_FOUND => Ok(None),
        Err(error) => Err(error.into()),
    }
}
