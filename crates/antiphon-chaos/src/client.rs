//! A client that sends requests until the gateway is killed.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use http::Method;
use serde_json::{Value, json};

use crate::gateway_client::{GatewayClient, NoAnswer};
use crate::kill_trigger::{KillTrigger, Moment};
use crate::ledger::{Deletion, ItemRecord, Ledger, Outcome, Target, calls_in};
use crate::model::{PLANS, Plan};
use crate::request::{body, messages, outputs};
use crate::send::send_turn;
use crate::shared::{ChainEnd, SharedState};

/// One of several clients in a round.
pub(crate) struct Client {
    pub(crate) gateway: GatewayClient,
    pub(crate) rng: fastrand::Rng,
    pub(crate) ledger: Arc<Mutex<Ledger>>,
    pub(crate) shared: Arc<Mutex<SharedState>>,
    pub(crate) trigger: Arc<KillTrigger>,
}

/// The maximum number of events before a client that disconnects does so.
const LONGEST_WAIT: usize = 16;

impl Client {
    /// Sends requests until the gateway is gone. Returns the reason why the last one has no answer.
    pub(crate) async fn run(mut self) -> NoAnswer {
        loop {
            let done = match self.rng.u32(..100) {
                0..48 => self.converse().await,
                48..82 => self.chain().await,
                82..91 => self.add().await,
                _ => self.delete().await,
            };
            match done {
                Ok(()) if self.trigger.has_fired() => return NoAnswer::Broken,
                Ok(()) => {}
                Err(lost) => return lost,
            }
        }
    }

    /// Runs a turn in a conversation that other clients use too.
    async fn converse(&mut self) -> Result<(), NoAnswer> {
        let (id, calls) = {
            let mut shared = lock(&self.shared);
            let index = self.rng.usize(..shared.open.len());
            let answers = self.rng.u8(..100) < 60;
            let open = &mut shared.open[index];
            let calls = if answers { open.waiting.pop() } else { None };
            (open.id.clone(), calls.unwrap_or_default())
        };
        let number = self.turn(Target::Conversation(id.clone()), calls).await?;
        let ledger = lock(&self.ledger);
        let turn = &ledger.turns[&number];
        if let Outcome::Done(rows) = &turn.outcome {
            lock(&self.shared).note_items(&id, rows);
        }
        Ok(())
    }

    /// Continues a response of any client, or begins a chain.
    async fn chain(&mut self) -> Result<(), NoAnswer> {
        let chain_end = match self.rng.u8(..100) {
            0..15 => None,
            _ => lock(&self.shared).chain_end(&mut self.rng),
        };
        let ChainEnd { id, calls, depth } = chain_end.unwrap_or_default();
        let answers = self.rng.u8(..100) < 70;
        let calls = if answers { calls } else { Vec::new() };
        let target = if id.is_empty() { Target::New } else { Target::After(id) };
        let number = self.turn(target, calls).await?;
        let ledger = lock(&self.ledger);
        let turn = &ledger.turns[&number];
        if let (Some(id), Outcome::Done(rows)) = (&turn.response, &turn.outcome) {
            let chain_end = ChainEnd { id: id.clone(), calls: calls_in(rows), depth: depth + 1 };
            lock(&self.shared).add_chain_end(chain_end);
        }
        Ok(())
    }

    /// Adds a turn to the ledger, sends it, and records its outcome.
    async fn turn(&mut self, target: Target, calls: Vec<String>) -> Result<u32, NoAnswer> {
        let streams = self.rng.u8(..100) < 70;
        let leaves = streams && self.rng.u8(..100) < 12;
        let leave_after = leaves.then(|| self.rng.usize(1..LONGEST_WAIT));
        let (inputs, plan) = match calls.len() {
            0 => (self.rng.usize(1..=2), PLANS[self.rng.usize(..PLANS.len())]),
            count => (count, Plan::Short),
        };
        let is_keyed = self.rng.bool();
        let (number, request, headers) = {
            let mut ledger = lock(&self.ledger);
            let given = (target.clone(), calls);
            let number = ledger.add_turn(target, inputs, Some(plan), |number| {
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
        let received =
            send_turn(self.gateway, &request, &headers, leave_after, &self.trigger).await;
        let mut ledger = lock(&self.ledger);
        if let Some(id) = &received.response {
            ledger.record_announced(number, id);
        }
        match received.outcome? {
            Outcome::Unknown => {}
            outcome => ledger.record_outcome(number, outcome),
        }
        Ok(number)
    }

    /// Adds messages to a conversation.
    async fn add(&mut self) -> Result<(), NoAnswer> {
        let id = self.some_conversation();
        let count = self.rng.usize(1..=3);
        let target = Target::Items(id.clone());
        let (number, request) = {
            let mut ledger = lock(&self.ledger);
            let given = |number| json!({"items": messages(number, count, Plan::Short)});
            let number = ledger.add_turn(target, count, None, given);
            (number, ledger.turns[&number].body.clone())
        };
        let path = format!("/v1/conversations/{id}/items");
        let (status, answer) = self.call(Method::POST, &path, Some(&request)).await?;
        let outcome = match status.is_success() {
            true => Outcome::Done(ItemRecord::from_items(&answer["data"])),
            false => Outcome::Failed(format!("{status}: {answer}")),
        };
        if let Outcome::Done(rows) = &outcome {
            lock(&self.shared).note_items(&id, rows);
        }
        lock(&self.ledger).record_outcome(number, outcome);
        Ok(())
    }

    /// Deletes a message of a conversation.
    async fn delete(&mut self) -> Result<(), NoAnswer> {
        let picked = lock(&self.shared).pick_message_to_delete(&mut self.rng);
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
    ) -> Result<(http::StatusCode, Value), NoAnswer> {
        self.trigger.observe(Moment::RequestSent);
        let answer = self.gateway.call(method, path, body).await?;
        self.trigger.observe(Moment::RequestDone);
        Ok(answer)
    }

    fn some_conversation(&mut self) -> String {
        let shared = lock(&self.shared);
        shared.open[self.rng.usize(..shared.open.len())].id.clone()
    }
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
