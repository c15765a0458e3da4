//! A client: request after request, until the gateway is killed.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use http::Method;
use serde_json::{Value, json};

use crate::ask::ask;
use crate::fuse::{Fuse, Moment};
use crate::ledger::{Deletion, Ledger, Place, Row, Told};
use crate::mark::Mark;
use crate::model::{PLANS, Plan};
use crate::request::{body, messages, outputs};
use crate::scene::{Scene, Tip};
use crate::wire::{Lost, Wire};

/// One of several clients of a round.
pub(crate) struct Client {
    pub(crate) wire: Wire,
    pub(crate) rng: fastrand::Rng,
    pub(crate) ledger: Arc<Mutex<Ledger>>,
    pub(crate) scene: Arc<Mutex<Scene>>,
    pub(crate) fuse: Arc<Fuse>,
}

/// How many events a client that leaves waits for at the most.
const PATIENCE: usize = 16;

impl Client {
    /// Sends requests until the gateway is gone; gives why the last one had no answer.
    pub(crate) async fn run(mut self) -> Lost {
        loop {
            let done = match self.rng.u32(..100) {
                0..48 => self.converse().await,
                48..82 => self.chain().await,
                82..91 => self.add().await,
                _ => self.delete().await,
            };
            match done {
                Ok(()) if self.fuse.is_burnt() => return Lost::Broken,
                Ok(()) => {}
                Err(lost) => return lost,
            }
        }
    }

    /// A turn in a conversation that others write to as well.
    async fn converse(&mut self) -> Result<(), Lost> {
        let (id, calls) = {
            let mut scene = lock(&self.scene);
            let index = self.rng.usize(..scene.open.len());
            let answers = self.rng.u8(..100) < 60;
            let open = &mut scene.open[index];
            let calls = if answers { open.waiting.pop() } else { None };
            (open.id.clone(), calls.unwrap_or_default())
        };
        let number = self.turn(Place::Conversation(id.clone()), calls).await?;
        let ledger = lock(&self.ledger);
        let turn = &ledger.turns[&number];
        if let Told::Done(rows) = &turn.told {
            lock(&self.scene).noted(&id, rows);
        }
        Ok(())
    }

    /// A turn behind a response, of whatever client and wherever, or at the beginning of a chain.
    async fn chain(&mut self) -> Result<(), Lost> {
        let tip = match self.rng.u8(..100) {
            0..15 => None,
            _ => lock(&self.scene).tip(&mut self.rng),
        };
        let Tip { id, calls, depth } = tip.unwrap_or_default();
        let answers = self.rng.u8(..100) < 70;
        let calls = if answers { calls } else { Vec::new() };
        let place = if id.is_empty() { Place::New } else { Place::After(id) };
        let number = self.turn(place, calls).await?;
        let ledger = lock(&self.ledger);
        let turn = &ledger.turns[&number];
        if let (Some(id), Told::Done(rows)) = (&turn.response, &turn.told) {
            let tip = Tip { id: id.clone(), calls: calls_in(rows), depth: depth + 1 };
            lock(&self.scene).reached(tip);
        }
        Ok(())
    }

    /// Enters a turn, asks, and enters what was heard.
    async fn turn(&mut self, place: Place, calls: Vec<String>) -> Result<u32, Lost> {
        let streams = self.rng.u8(..100) < 70;
        let leaves = streams && self.rng.u8(..100) < 12;
        let patience = leaves.then(|| self.rng.usize(1..PATIENCE));
        let (inputs, plan) = match calls.len() {
            0 => (self.rng.usize(1..=2), PLANS[self.rng.usize(..PLANS.len())]),
            count => (count, Plan::Short),
        };
        let is_keyed = self.rng.bool();
        let (number, request, headers) = {
            let mut ledger = lock(&self.ledger);
            let given = (place.clone(), calls);
            let number = ledger.enter(place, inputs, Some(plan), |number| {
                let input = match given.1.is_empty() {
                    true => messages(number, inputs, plan),
                    false => outputs(number, &given.1),
                };
                body(&given.0, &input, streams)
            });
            let turn = ledger.turn(number);
            turn.is_keyed = is_keyed;
            (number, turn.body.clone(), turn.headers(number, 0))
        };
        let heard = ask(self.wire, &request, &headers, patience, &self.fuse).await;
        let mut ledger = lock(&self.ledger);
        if let Some(id) = &heard.response {
            ledger.announced(number, id);
        }
        match heard.told? {
            Told::Nothing => {}
            told => ledger.told(number, told),
        }
        Ok(number)
    }

    /// Adds messages to a conversation.
    async fn add(&mut self) -> Result<(), Lost> {
        let id = self.some_conversation();
        let count = self.rng.usize(1..=3);
        let place = Place::Items(id.clone());
        let (number, request) = {
            let mut ledger = lock(&self.ledger);
            let given = |number| json!({"items": messages(number, count, Plan::Short)});
            let number = ledger.enter(place, count, None, given);
            (number, ledger.turns[&number].body.clone())
        };
        let path = format!("/v1/conversations/{id}/items");
        let (status, answer) = self.call(Method::POST, &path, Some(&request)).await?;
        let told = match status.is_success() {
            true => Told::Done(Row::all(&answer["data"])),
            false => Told::Failed(format!("{status}: {answer}")),
        };
        if let Told::Done(rows) = &told {
            lock(&self.scene).noted(&id, rows);
        }
        lock(&self.ledger).told(number, told);
        Ok(())
    }

    /// Deletes a message of a conversation.
    async fn delete(&mut self) -> Result<(), Lost> {
        let picked = lock(&self.scene).deletable(&mut self.rng);
        let Some((conversation, item, mark)) = picked else { return Ok(()) };
        lock(&self.ledger).deletions.insert(mark, Deletion { done: None });
        let path = format!("/v1/conversations/{conversation}/items/{item}");
        let (status, _) = self.call(Method::DELETE, &path, None).await?;
        let mut ledger = lock(&self.ledger);
        if status.is_success() {
            let done = Some(ledger.tick());
            ledger.deletions.insert(mark, Deletion { done });
        }
        Ok(())
    }

    async fn call(
        &self,
        method: Method,
        path: &str,
        body: Option<&Value>,
    ) -> Result<(http::StatusCode, Value), Lost> {
        self.fuse.saw(Moment::Asking);
        let answer = self.wire.call(method, path, body).await?;
        self.fuse.saw(Moment::Answered);
        Ok(answer)
    }

    fn some_conversation(&mut self) -> String {
        let scene = lock(&self.scene);
        scene.open[self.rng.usize(..scene.open.len())].id.clone()
    }
}

/// The calls that these items make.
pub(crate) fn calls_in(rows: &[Row]) -> Vec<String> {
    let calls = rows.iter().filter(|row| row.kind == "function_call");
    calls.filter_map(|row| row.call_id.clone()).collect()
}

/// The messages among these items.
pub(crate) fn messages_in(rows: &[Row]) -> impl Iterator<Item = (&str, Mark)> {
    let messages = rows.iter().filter(|row| row.kind == "message");
    messages.filter_map(|row| Some((&*row.id, row.mark?)))
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
