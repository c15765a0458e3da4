//! The naive store, step by step beside the one that is tried.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use antiphon::HeldItem;
use antiphon_store::{
    ConversationId, Cursor, Destination, LedgerEntry, LedgerSubject, RequestDigest, ResponseId,
    StoreError, TurnRecord,
};

use super::Step;
use crate::conformance::World;
use crate::conformance::world::saying;

/// The number of a [`Copy`] of an item, in the order that they came to be.
pub(super) type Nth = usize;

/// A copy of an item, as it was given.
pub(super) struct Copy {
    pub(super) item: HeldItem,
    pub(super) erased: bool,
}

pub(super) struct Response {
    pub(super) id: ResponseId,
    pub(super) transcript: Vec<Nth>,
    pub(super) input: Range<usize>,
}

pub(super) struct PendingTurn {
    pub(super) id: ResponseId,
    pub(super) base: Vec<Nth>,
    pub(super) turn: TurnRecord,
}

pub(super) struct Conversation {
    pub(super) id: ConversationId,
    pub(super) held: Vec<Nth>,
    /// Its last turn, if nothing follows it.
    pub(super) last: Option<LastTurn>,
}

#[derive(Clone)]
pub(super) struct LastTurn {
    request: RequestDigest,
    response: ResponseId,
    /// How many items were held before it.
    from: usize,
}

/// A naive store, next to the store under test.
pub(super) struct History {
    pub(super) world: World,
    pub(super) copies: Vec<Copy>,
    pub(super) responses: Vec<Response>,
    pub(super) conversations: Vec<Conversation>,
    pub(super) pending_turns: Vec<PendingTurn>,
    /// What a provider's names stand for.
    pub(super) names: BTreeMap<String, LedgerEntry>,
    /// How many turns of conversations there were: each answers a request of its own.
    asked: usize,
}

impl History {
    pub(super) fn new(world: World) -> Self {
        Self {
            world,
            copies: Vec::new(),
            responses: Vec::new(),
            conversations: Vec::new(),
            pending_turns: Vec::new(),
            names: BTreeMap::new(),
            asked: 0,
        }
    }

    pub(super) async fn play(mut self, steps: Vec<Step>) {
        for step in steps {
            self.take(step).await;
            self.compare().await;
        }
    }

    async fn take(&mut self, step: Step) {
        match step {
            Step::Begin { input, output } => self.begin(input, output).await,
            Step::Follow { response, input, output } => {
                self.follow(response, input, output).await;
            }
            Step::Converse { items } => self.converse(items).await,
            Step::TurnRecord { conversation, input, output, recorded } => {
                self.turn(conversation, input, output, recorded).await;
            }
            Step::Retract { conversation } => self.retract(conversation).await,
            Step::Append { conversation, known } => self.append(conversation, &known).await,
            Step::DeleteItem { conversation, item } => self.delete_item(conversation, item).await,
            Step::DeleteResponse { response } => self.delete_response(response).await,
            Step::DeleteConversation { conversation } => {
                self.delete_conversation(conversation).await;
            }
            Step::Announce { response, input } => self.announce(response, input).await,
            Step::Conclude { pending, output } => self.conclude(pending, output).await,
            Step::Abandon { pending } => self.abandon(pending).await,
            Step::Adopt { name } => self.adopt(name).await,
            Step::Resync { conversation, known } => self.resync(conversation, &known).await,
            Step::MarkStale { conversation } => self.mark_stale(conversation).await,
            Step::NameResponse { base, name, is_stale } => {
                self.name_response(base, name, is_stale).await;
            }
            Step::AnnounceName { pending, name } => self.announce_name(pending, name).await,
            Step::Forget { name } => self.forget(name).await,
        }
    }

    /// Items that nobody gave before.
    fn fresh(&self, count: usize) -> Vec<HeldItem> {
        let first = self.copies.len();
        (first..first + count).map(|nth| saying(&format!("n{nth}"), "new")).collect()
    }

    pub(super) fn keep(&mut self, items: &[HeldItem]) -> Vec<Nth> {
        let first = self.copies.len();
        self.copies.extend(items.iter().map(|item| Copy { item: item.clone(), erased: false }));
        (first..self.copies.len()).collect()
    }

    /// A turn of fresh items, and the transcript that it continues, `past`.
    pub(super) fn new_turn(
        &self,
        destination: Destination,
        input: usize,
        output: usize,
    ) -> (ResponseId, TurnRecord) {
        let (id, mut turn) = self.world.turn(destination, &[], &[]);
        let mut items = self.fresh(input + output);
        turn.output = items.split_off(input);
        turn.input = items;
        (id, turn)
    }

    pub(super) async fn commit(
        &mut self,
        past: &[Nth],
        id: ResponseId,
        turn: TurnRecord,
    ) -> Vec<Nth> {
        let mut transcript = past.to_vec();
        transcript.extend(self.keep(&turn.input));
        let input = past.len()..transcript.len();
        transcript.extend(self.keep(&turn.output));
        let recorded = turn.response.is_some();
        self.world.commit(turn).await.unwrap();
        if recorded {
            self.responses.push(Response { id, transcript: transcript.clone(), input });
        }
        transcript
    }

    async fn begin(&mut self, input: usize, output: usize) {
        let destination =
            Destination::New { shard: self.world.shard(), thread: self.world.thread() };
        let (id, turn) = self.new_turn(destination, input, output);
        self.commit(&[], id, turn).await;
    }

    async fn follow(&mut self, response: usize, input: usize, output: usize) {
        let Some(previous) = chosen(&self.responses, response) else {
            return;
        };
        let past = self.responses[previous].transcript.clone();
        let destination = self.world.destination_after(self.end(previous).await);
        let (id, turn) = self.new_turn(destination, input, output);
        self.commit(&past, id, turn).await;
    }

    async fn converse(&mut self, count: usize) {
        let conversation = self.world.new_conversation();
        let id = conversation.id.clone();
        let items = self.fresh(count);
        let subject = self.keep(&items);
        let (store, tenant) = (&self.world.store, &self.world.tenant);
        store.create_conversation(tenant, conversation, self.world.thread(), items).await.unwrap();
        self.conversations.push(Conversation { id, held: subject, last: None });
    }

    async fn turn(&mut self, conversation: usize, input: usize, output: usize, recorded: bool) {
        let Some(at) = chosen(&self.conversations, conversation) else {
            return;
        };
        let Conversation { id: into, held: past, .. } = &self.conversations[at];
        let past = past.clone();
        let (id, mut turn) = self.new_turn(Destination::Conversation(into.clone()), input, output);
        let request = RequestDigest(u128::try_from(self.asked).unwrap().to_be_bytes());
        self.asked += 1;
        turn.request = Some(request);
        if !recorded {
            turn.response = None;
        }
        let last = LastTurn { request, response: id.clone(), from: past.len() };
        self.conversations[at].held = self.commit(&past, id, turn).await;
        self.conversations[at].last = Some(last);
    }

    /// Retracts the last turn of a conversation, unless a later turn continues it.
    async fn retract(&mut self, conversation: usize) {
        let Some(at) = chosen(&self.conversations, conversation) else {
            return;
        };
        let Conversation { id, held, last } = &self.conversations[at];
        let request = last.as_ref().map_or(RequestDigest([0xff; 16]), |last| last.request);
        let from = last.as_ref().filter(|last| !self.is_built_on(last, &held[last.from..]));
        let from = from.map(|last| last.from);
        let (store, tenant) = (&self.world.store, &self.world.tenant);
        let taken = store.retract(tenant, id, &request, self.world.thread(), None).await;
        assert_eq!(taken, Ok(from.is_some()));
        if let Some(from) = from {
            self.conversations[at].held.truncate(from);
            self.conversations[at].last = None;
        }
    }

    fn is_built_on(&self, last: &LastTurn, items: &[Nth]) -> bool {
        let others = self.responses.iter().filter(|response| response.id != last.response);
        let others = others.map(|response| &response.transcript);
        let mut base = others.chain(self.pending_turns.iter().map(|pending| &pending.base));
        base.any(|transcript| transcript.iter().any(|nth| items.contains(nth)))
    }

    /// Gives a conversation copies of items that were given before, here or elsewhere.
    async fn append(&mut self, conversation: usize, known: &[usize]) {
        let Some(at) = chosen(&self.conversations, conversation) else {
            return;
        };
        let items: Vec<HeldItem> = known
            .iter()
            .filter_map(|which| chosen(&self.copies, *which))
            .map(|nth| self.again(nth))
            .collect();
        let expected = self.first_duplicate(at, &items);
        let (store, tenant) = (&self.world.store, &self.world.tenant);
        let id = &self.conversations[at].id;
        let outcome = store.append_items(tenant, id, items.clone()).await;
        if let Some(duplicate) = expected {
            assert_eq!(outcome, Err(StoreError::DuplicateItem(duplicate.id)));
        } else {
            assert_eq!(outcome, Ok(()));
            let subject = self.keep(&items);
            self.conversations[at].held.extend(subject);
            self.conversations[at].last = None;
        }
    }

    /// The same id with a text that tells the copies apart.
    pub(super) fn again(&self, nth: Nth) -> HeldItem {
        let id = self.copies[nth].item.id.as_str();
        let text = format!("copy {}", self.copies.len());
        saying(id.trim_start_matches("msg_"), &text)
    }

    fn first_duplicate(&self, conversation: usize, items: &[HeldItem]) -> Option<HeldItem> {
        let held = &self.conversations[conversation].held;
        let mut ids: BTreeSet<_> = held
            .iter()
            .map(|nth| &self.copies[*nth])
            .filter(|copy| !copy.erased)
            .map(|copy| &copy.item.id)
            .collect();
        items.iter().find(|item| !ids.insert(&item.id)).cloned()
    }

    async fn delete_item(&mut self, conversation: usize, item: usize) {
        let Some(at) = chosen(&self.conversations, conversation) else {
            return;
        };
        let Conversation { id, held, .. } = &self.conversations[at];
        let Some(at) = chosen(held, item) else {
            return;
        };
        let name = self.copies[held[at]].item.id.clone();
        let live = held
            .iter()
            .copied()
            .find(|nth| self.copies[*nth].item.id == name && !self.copies[*nth].erased);
        let (store, tenant) = (&self.world.store, &self.world.tenant);
        let deleted = store.delete_item(tenant, id, &name).await;
        assert_eq!(deleted, Ok(live.is_some()));
        if let Some(nth) = live {
            self.copies[nth].erased = true;
        }
    }

    async fn delete_response(&mut self, response: usize) {
        if let Some(at) = chosen(&self.responses, response) {
            let gone = self.responses.remove(at);
            assert!(self.world.delete_response(&gone.id).await);
            assert!(!self.world.exists(&gone.id).await);
            self.unname(&LedgerSubject::Response(gone.id));
        }
    }

    async fn delete_conversation(&mut self, conversation: usize) {
        if let Some(at) = chosen(&self.conversations, conversation) {
            let gone = self.conversations.remove(at).id;
            assert!(self.world.delete_conversation(&gone).await);
            assert!(!self.world.delete_conversation(&gone).await);
            self.unname(&LedgerSubject::Conversation(gone));
        }
    }

    /// Announces a turn. Its items are named for it alone, since others may come before its end.
    async fn announce(&mut self, response: usize, input: usize) {
        let Some(previous) = chosen(&self.responses, response) else {
            return;
        };
        let base = self.responses[previous].transcript.clone();
        let destination = self.world.destination_after(self.end(previous).await);
        let (id, mut turn) = self.world.turn(destination, &[], &[]);
        turn.input = (0..input).map(|nth| saying(&format!("{id}_{nth}"), "announced")).collect();
        self.world.record_pending(&turn).await;
        self.pending_turns.push(PendingTurn { id, base, turn });
    }

    async fn conclude(&mut self, pending: usize, output: usize) {
        if let Some(at) = chosen(&self.pending_turns, pending) {
            let PendingTurn { id, base, mut turn } = self.pending_turns.remove(at);
            turn.output =
                (0..output).map(|nth| saying(&format!("{id}_out_{nth}"), "concluded")).collect();
            self.commit(&base, id, turn).await;
        }
    }

    async fn abandon(&mut self, pending: usize) {
        if let Some(at) = chosen(&self.pending_turns, pending) {
            let PendingTurn { id, .. } = self.pending_turns.remove(at);
            let (store, tenant) = (&self.world.store, &self.world.tenant);
            assert_eq!(store.drop_pending_turn(tenant, &id).await, Ok(()));
            self.unname(&LedgerSubject::Response(id));
        }
    }

    pub(super) async fn end(&self, response: usize) -> Cursor {
        self.world.end(&self.responses[response].id).await
    }
}

pub(super) fn chosen<T>(among: &[T], which: usize) -> Option<usize> {
    which.checked_rem(among.len())
}
