//! What the clients know: what they asked, and what they were told of it.

use std::collections::{BTreeMap, HashMap};

use serde_json::Value;

use crate::mark::Mark;
use crate::model::Plan;

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
#[derive(Clone, Debug)]
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
}

impl Turn {
    /// How many items it leaves if it is whole.
    pub(crate) fn items(&self) -> usize {
        self.inputs + self.plan.map_or(0, Plan::outputs)
    }

    /// The conversation that it adds to.
    pub(crate) fn conversation(&self) -> Option<&str> {
        match &self.place {
            Place::Conversation(id) | Place::Items(id) => Some(id),
            Place::New | Place::After(_) => None,
        }
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
    /// The output items that are kept.
    pub(crate) output: Vec<Row>,
    /// What its model was given, and behind it what is kept of what the model made.
    pub(crate) transcript: Vec<Mark>,
}

/// What all clients of a run know together.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    clock: u64,
    /// All requests, by number. Those before `settled` are known for good.
    pub(crate) turns: BTreeMap<u32, Turn>,
    /// The first request of the present round.
    pub(crate) settled: u32,
    /// Of each conversation, the items that were found at the last look.
    pub(crate) conversations: BTreeMap<String, Vec<Row>>,
    /// Responses that can be gone on from.
    pub(crate) kept: HashMap<String, Kept>,
    /// Items that were asked to be deleted.
    pub(crate) deletions: Deletions,
    announced: Vec<String>,
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
        };
        self.turns.insert(number, turn);
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
        self.turns.range(self.settled..).map(|(number, turn)| (*number, turn))
    }

    /// The present round is over.
    pub(crate) fn settle(&mut self) {
        let is_open = |turn: &&Turn| turn.told == Told::Nothing;
        let announced = self.round().map(|(_, turn)| turn).filter(is_open);
        let announced: Vec<_> = announced.filter_map(|turn| turn.response.clone()).collect();
        self.announced.extend(announced);
        self.settled = self.turns.last_key_value().map_or(0, |(last, _)| last + 1);
    }

    /// The responses of whose end nobody was told, since they were last taken.
    pub(crate) fn take_announced(&mut self) -> Vec<String> {
        std::mem::take(&mut self.announced)
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

    fn turn(&mut self, number: u32) -> &mut Turn {
        self.turns.get_mut(&number).expect("it was entered")
    }
}

/// Deletions by the item's mark.
pub(crate) type Deletions = HashMap<Mark, Deletion>;
