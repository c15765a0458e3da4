//! The clients' knowledge: their requests and the outcomes they received.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;

use serde_json::Value;

use crate::gateway_client::Header;
use crate::mark::Mark;
use crate::model::Plan;

/// An item as a client receives it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ItemRecord {
    /// The item's id.
    pub(crate) id: String,
    /// The item's mark. A message that was cut before its first word has none.
    pub(crate) mark: Option<Mark>,
    /// The item's type.
    pub(crate) kind: String,
    /// The item's status, if it has one.
    pub(crate) status: Option<String>,
    /// The id of the call that the item makes or answers.
    pub(crate) call_id: Option<String>,
}

impl ItemRecord {
    /// Reads an item of the API.
    pub(crate) fn from_item(item: &Value) -> Self {
        let text = |field: &str| item[field].as_str().map(str::to_owned);
        Self {
            id: text("id").unwrap_or_default(),
            mark: Mark::in_text(&item.to_string()),
            kind: text("type").unwrap_or_default(),
            status: text("status"),
            call_id: text("call_id"),
        }
    }

    /// Reads a list of items.
    pub(crate) fn from_items(items: &Value) -> Vec<Self> {
        items.as_array().into_iter().flatten().map(Self::from_item).collect()
    }
}

/// The target of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    /// No context: the turn begins a chain.
    New,
    /// The response with this id, which the turn continues.
    After(String),
    /// The conversation with this id.
    Conversation(String),
    /// The conversation with this id, by its item route: no model is called.
    Items(String),
}

/// The outcome of a request as its client knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// Unknown: the client disconnected, or the connection broke.
    Unknown,
    /// Completed, with these output items or these added items.
    Done(Vec<ItemRecord>),
    /// Failed or refused.
    Failed(String),
}

impl Outcome {
    /// Whether the request was refused because another one has its conversation.
    pub(crate) fn is_locked(&self) -> bool {
        matches!(self, Self::Failed(reason) if reason.contains("conversation_locked"))
    }
}

/// One request of a client.
#[derive(Clone)]
pub(crate) struct Turn {
    /// The target.
    pub(crate) target: Target,
    /// The request's body.
    pub(crate) body: Value,
    /// The number of input items.
    pub(crate) inputs: usize,
    /// The instruction to the model; `None` if no model is called.
    pub(crate) plan: Option<Plan>,
    /// The time of the request. A run counts events in place of time.
    pub(crate) began: u64,
    /// The time at which the client received the outcome.
    pub(crate) ended: Option<u64>,
    /// The response id that the client received, in `response.created` or at the end.
    pub(crate) response: Option<String>,
    /// The outcome as the client knows it.
    pub(crate) outcome: Outcome,
    /// Whether the request has an idempotency key, which identifies it when it is retried.
    pub(crate) is_keyed: bool,
}

impl Turn {
    /// The number of items that the complete turn stores.
    pub(crate) fn items(&self) -> usize {
        self.inputs + self.plan.map_or(0, Plan::outputs)
    }

    /// The client's headers for a request that was sent `count` times before.
    pub(crate) fn headers(&self, number: u32, count: u32) -> Vec<Header> {
        let key = self.is_keyed.then(|| ("idempotency-key", format!("key-{number}")));
        key.into_iter().chain([("x-stainless-retry-count", count.to_string())]).collect()
    }

    /// The conversation that the request adds to.
    pub(crate) fn conversation(&self) -> Option<&str> {
        match &self.target {
            Target::Conversation(id) | Target::Items(id) => Some(id),
            Target::New | Target::After(_) => None,
        }
    }
}

/// The entry without the body, which follows from the other fields.
impl fmt::Debug for Turn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { target, inputs, plan, began, ended, response, outcome, is_keyed, body: _ } =
            self;
        write!(f, "{target:?}, {inputs} inputs, {plan:?}, sent at {began}, ended at {ended:?}, ")?;
        write!(f, "announced {response:?}, keyed {is_keyed}, outcome {outcome:?}")
    }
}

/// An item whose deletion a client requested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Deletion {
    /// The time at which the client received the confirmation, or a lookup found the item missing.
    pub(crate) done: Option<u64>,
}

/// A response as found after its turn ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct KnownResponse {
    /// The number of its turn.
    pub(crate) turn: u32,
    /// Whether it completed.
    pub(crate) is_completed: bool,
    /// The stored output items.
    pub(crate) output: Vec<ItemRecord>,
    /// The marks of the model's input, followed by those of the stored output.
    pub(crate) transcript: Vec<Mark>,
}

/// The knowledge of all clients of a run.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    clock: u64,
    /// All requests, by number.
    pub(crate) turns: BTreeMap<u32, Turn>,
    /// The requests whose stored items have not been looked up yet.
    pub(crate) unsettled: BTreeSet<u32>,
    /// The items of each conversation at the last lookup.
    pub(crate) conversations: BTreeMap<String, Vec<ItemRecord>>,
    /// Responses that can be continued.
    pub(crate) known_responses: HashMap<String, KnownResponse>,
    /// Requested deletions.
    pub(crate) deletions: Deletions,
    /// The last model input of each request.
    pub(crate) model_inputs: HashMap<u32, Vec<Mark>>,
    /// Whether the database server crashed in this round. Any request may fail then.
    pub(crate) crashed: bool,
    announced: Vec<String>,
    open: Vec<u32>,
}

impl Ledger {
    /// Advances the clock.
    pub(crate) fn tick(&mut self) -> u64 {
        self.clock += 1;
        self.clock
    }

    /// Adds a request that is about to be sent. `body` builds its body from its number.
    pub(crate) fn add_turn(
        &mut self,
        target: Target,
        inputs: usize,
        plan: Option<Plan>,
        body: impl FnOnce(u32) -> Value,
    ) -> u32 {
        let number = self.turns.last_key_value().map_or(0, |(last, _)| last + 1);
        let began = self.tick();
        let turn = Turn {
            target,
            body: body(number),
            inputs,
            plan,
            began,
            ended: None,
            response: None,
            outcome: Outcome::Unknown,
            is_keyed: false,
        };
        self.turns.insert(number, turn);
        self.unsettled.insert(number);
        number
    }

    /// Records that a client received its response's id.
    pub(crate) fn record_announced(&mut self, number: u32, id: &str) {
        self.turn(number).response.get_or_insert_with(|| id.to_owned());
    }

    /// Records that a client received the outcome of its request.
    pub(crate) fn record_outcome(&mut self, number: u32, outcome: Outcome) {
        let now = self.tick();
        let turn = self.turn(number);
        turn.ended = Some(now);
        turn.outcome = outcome;
    }

    /// The requests of the current round.
    pub(crate) fn current_round(&self) -> impl Iterator<Item = (u32, &Turn)> {
        self.unsettled.iter().map(|number| (*number, &self.turns[number]))
    }

    /// Ends the current round.
    pub(crate) fn end_round(&mut self) {
        let is_open = |number: &u32| self.turns[number].outcome == Outcome::Unknown;
        let open: Vec<u32> = self.unsettled.iter().copied().filter(is_open).collect();
        let announced = open.iter().filter_map(|number| self.turns[number].response.as_ref());
        let known = announced.filter(|id| self.known_responses.contains_key(*id));
        self.announced.extend(known.cloned());
        self.open.extend(open);
        self.unsettled.clear();
        self.crashed = false;
    }

    /// Takes the stored responses without a known outcome.
    pub(crate) fn take_announced(&mut self) -> Vec<String> {
        std::mem::take(&mut self.announced)
    }

    /// Takes the requests without a known outcome.
    pub(crate) fn take_unfinished(&mut self) -> Vec<u32> {
        std::mem::take(&mut self.open)
    }

    /// Updates the deletions after a lookup: a missing item was deleted, and an existing item was
    /// not.
    pub(crate) fn record_lookup(&mut self, before: &[ItemRecord], now: &[ItemRecord]) {
        let tick = self.tick();
        for mark in now.iter().filter_map(|row| row.mark) {
            self.deletions.remove(&mark);
        }
        for mark in before.iter().filter_map(|row| row.mark) {
            if let Some(deletion) = self.deletions.get_mut(&mark) {
                deletion.done.get_or_insert(tick);
            }
        }
    }

    /// The request with this number.
    pub(crate) fn turn(&mut self, number: u32) -> &mut Turn {
        self.turns.get_mut(&number).expect("the request is in the ledger")
    }
}

/// Deletions by the item's mark.
pub(crate) type Deletions = HashMap<Mark, Deletion>;

/// The ids of the calls among these items.
pub(crate) fn calls_in(rows: &[ItemRecord]) -> Vec<String> {
    let calls = rows.iter().filter(|row| row.kind == "function_call");
    calls.filter_map(|row| row.call_id.clone()).collect()
}

/// The messages among these items.
pub(crate) fn messages_in(rows: &[ItemRecord]) -> impl Iterator<Item = (&str, Mark)> {
    let messages = rows.iter().filter(|row| row.kind == "message");
    messages.filter_map(|row| Some((&*row.id, row.mark?)))
}
