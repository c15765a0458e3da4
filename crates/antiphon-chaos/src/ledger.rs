//! What the clients know: what they asked, and what they were told of it.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;

use serde_json::Value;

use crate::mark::Mark;
use crate::model::Plan;
use crate::wire::Extra;

/// An item as a client is shown it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Row {
    /// Its id.
    pub(crate) id: String,
    /// Its mark; a message that was cut before its first word has none.
    pub(crate) mark: Option<Mark>,
    /// Its type.
    pub(crate) kind: String,
    /// Its status, where it has one.
    pub(crate) status: Option<String>,
    /// The call that it makes or answers.
    pub(crate) call_id: Option<String>,
}

impl Row {
    /// Reads an item.
    pub(crate) fn of(item: &Value) -> Self {
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
    pub(crate) fn all(items: &Value) -> Vec<Self> {
        items.as_array().into_iter().flatten().map(Self::of).collect()
    }
}

/// Where a turn goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// Nowhere yet: it begins a chain.
    New,
    /// Behind a response.
    After(String),
    /// Into a conversation.
    Conversation(String),
    /// Into a conversation, by its item route: there is no model, and no response.
    Items(String),
}

/// What a client was told last.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Told {
    /// Nothing of an end: it left, or the connection broke.
    Nothing,
    /// That it is done, with these output items, or these items added.
    Done(Vec<Row>),
    /// That it failed, or is refused.
    Failed(String),
}

/// One request of a client.
#[derive(Clone)]
pub(crate) struct Turn {
    /// Where it goes.
    pub(crate) place: Place,
    /// The request's body.
    pub(crate) body: Value,
    /// How many input items it has.
    pub(crate) inputs: usize,
    /// What it asks of the model; `None` where there is no model.
    pub(crate) plan: Option<Plan>,
    /// When it was sent: events of a run are counted, not timed.
    pub(crate) began: u64,
    /// When its client was told the end.
    pub(crate) ended: Option<u64>,
    /// The id that its client was told, by `response.created` or by the end.
    pub(crate) response: Option<String>,
    /// What its client was told.
    pub(crate) told: Told,
    /// Whether it has a key, under which it is known when it is made again.
    pub(crate) is_keyed: bool,
}

impl Turn {
    /// How many items it leaves if it is whole.
    pub(crate) fn items(&self) -> usize {
        self.inputs + self.plan.map_or(0, Plan::outputs)
    }

    /// What its client says of it when it was sent `count` times before.
    pub(crate) fn headers(&self, number: u32, count: u32) -> Vec<Extra> {
        let key = self.is_keyed.then(|| ("idempotency-key", format!("key-{number}")));
        key.into_iter().chain([("x-stainless-retry-count", count.to_string())]).collect()
    }

    /// The conversation that it adds to.
    pub(crate) fn conversation(&self) -> Option<&str> {
        match &self.place {
            Place::Conversation(id) | Place::Items(id) => Some(id),
            Place::New | Place::After(_) => None,
        }
    }
}

/// The entry as people need it: without the body, which follows from the rest.
impl fmt::Debug for Turn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { place, inputs, plan, began, ended, response, told, is_keyed, body: _ } = self;
        write!(f, "{place:?}, {inputs} inputs, {plan:?}, sent at {began}, ended at {ended:?}, ")?;
        write!(f, "announced {response:?}, keyed {is_keyed}, told {told:?}")
    }
}

/// An item that a client asked to be deleted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Deletion {
    /// When it was told that the item is deleted, or when the item was found missing.
    pub(crate) done: Option<u64>,
}

/// A response as it was found once its turn had ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Kept {
    /// The turn that it is of.
    pub(crate) turn: u32,
    /// Whether it came to its end.
    pub(crate) is_completed: bool,
    /// The output items that are kept.
    pub(crate) output: Vec<Row>,
    /// What its model was given, and behind it what is kept of what the model made.
    pub(crate) transcript: Vec<Mark>,
}

/// What all clients of a run know together.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    clock: u64,
    /// All requests, by number.
    pub(crate) turns: BTreeMap<u32, Turn>,
    /// Those of which it has not been looked up yet what they left.
    pub(crate) unsettled: BTreeSet<u32>,
    /// Of each conversation, the items that were found at the last look.
    pub(crate) conversations: BTreeMap<String, Vec<Row>>,
    /// Responses that can be gone on from.
    pub(crate) kept: HashMap<String, Kept>,
    /// Items that were asked to be deleted.
    pub(crate) deletions: Deletions,
    /// What the models of requests were given, the last time that they were asked.
    pub(crate) views: HashMap<u32, Vec<Mark>>,
    /// Whether the store's server crashed in the present round, so that any request may fail.
    pub(crate) crashed: bool,
    announced: Vec<String>,
    open: Vec<u32>,
}

impl Ledger {
    /// The next tick of the clock.
    pub(crate) fn tick(&mut self) -> u64 {
        self.clock += 1;
        self.clock
    }

    /// Enters a request that is about to be sent. `body` is made from its number.
    pub(crate) fn enter(
        &mut self,
        place: Place,
        inputs: usize,
        plan: Option<Plan>,
        body: impl FnOnce(u32) -> Value,
    ) -> u32 {
        let number = self.turns.last_key_value().map_or(0, |(last, _)| last + 1);
        let began = self.tick();
        let turn = Turn {
            place,
            body: body(number),
            inputs,
            plan,
            began,
            ended: None,
            response: None,
            told: Told::Nothing,
            is_keyed: false,
        };
        self.turns.insert(number, turn);
        self.unsettled.insert(number);
        number
    }

    /// A client was told its response's id.
    pub(crate) fn announced(&mut self, number: u32, id: &str) {
        self.turn(number).response.get_or_insert_with(|| id.to_owned());
    }

    /// A client was told how its request ended.
    pub(crate) fn told(&mut self, number: u32, told: Told) {
        let now = self.tick();
        let turn = self.turn(number);
        turn.ended = Some(now);
        turn.told = told;
    }

    /// The requests of the present round.
    pub(crate) fn round(&self) -> impl Iterator<Item = (u32, &Turn)> {
        self.unsettled.iter().map(|number| (*number, &self.turns[number]))
    }

    /// The present round is over.
    pub(crate) fn settle(&mut self) {
        let is_open = |number: &u32| self.turns[number].told == Told::Nothing;
        let open: Vec<u32> = self.unsettled.iter().copied().filter(is_open).collect();
        let announced = open.iter().filter_map(|number| self.turns[number].response.as_ref());
        let kept = announced.filter(|id| self.kept.contains_key(*id));
        self.announced.extend(kept.cloned());
        self.open.extend(open);
        self.unsettled.clear();
        self.crashed = false;
    }

    /// The responses of whose end nobody was told, since they were last taken.
    pub(crate) fn take_announced(&mut self) -> Vec<String> {
        std::mem::take(&mut self.announced)
    }

    /// The requests of whose end nobody was told, since they were last taken.
    pub(crate) fn take_open(&mut self) -> Vec<u32> {
        std::mem::take(&mut self.open)
    }

    /// A conversation was looked at: what was asked to be deleted and is not there is deleted; what
    /// is there was not.
    pub(crate) fn looked_at(&mut self, before: &[Row], now: &[Row]) {
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

    /// A request.
    pub(crate) fn turn(&mut self, number: u32) -> &mut Turn {
        self.turns.get_mut(&number).expect("it was entered")
    }
}

/// Deletions by the item's mark.
pub(crate) type Deletions = HashMap<Mark, Deletion>;
