//! Handoffs to another agent.
//!
//! A handoff without a filter only changes the agent. A filter decides which items the next agent
//! is given, once all calls of the answer have an output; stored items never change:
//!
//! - If the application owns the state, requests begin with the filtered items from then on.
//! - A server gives the model all of its items, so the run leaves that state: a new chain begins
//!   with the filtered items, or a new conversation is created with them. The state before has an
//!   output for the handoff call, and can be continued.

use antiphon::Item;
use antiphon::json::quote;
use antiphon::tracker::{Continuation, ConversationId, Tracker};

use super::calls::{OpenCall, call_key, tool_name};
use super::prepared::Prepared;
use super::state::{Fork, Owner, Transfer, TransferStage, View};
use super::{Machine, Step};
use crate::roster::{HandoffFacts, transfer_text};
use crate::tool::Approval;

impl Machine {
    /// Makes a handoff, or runs its function first.
    pub(super) fn begin_handoff(&mut self, call: &Item, facts: &HandoffFacts) {
        let open = OpenCall::new(call.clone(), &self.state.agent, Approval::Never);
        match facts.has_function {
            true => self.state.calls.push(open),
            false => self.hand_over(&open, facts, handoff_output(call, &facts.target)),
        }
    }

    /// Records the output of a call. If it is a handoff, the next agent continues.
    pub(super) fn take_output(&mut self, call: &OpenCall, output: Item) {
        let facts = self.roster.agent(&call.agent);
        let handoff = facts.and_then(|facts| facts.handoffs.get(&tool_name(&call.item)));
        match handoff.cloned() {
            Some(handoff) => self.hand_over(call, &handoff, output),
            None => self.answer_call(&call.item, output),
        }
    }

    fn hand_over(&mut self, call: &OpenCall, facts: &HandoffFacts, output: Item) {
        self.answer_call(&call.item, output);
        facts.target.clone_into(&mut self.state.agent);
        if facts.has_view {
            let (from, handoff) = (call.agent.clone(), tool_name(&call.item));
            let stage = TransferStage::Loading;
            self.state.transfer = Some(Transfer { from, handoff, stage });
        }
    }

    /// The items that the model was given so far, and those after them.
    fn client_items(&self) -> Vec<Item> {
        let Some(history) = self.state.client_history() else { return Vec::new() };
        let (held, from) = match &history.view {
            Some(view) => (&view.items, view.run_from),
            None => (&history.held, history.run_from),
        };
        [&held[..], &self.state.items[from..]].concat()
    }

    pub(super) fn transfer_step(&self) -> Option<Step> {
        let Transfer { from, handoff, stage } = self.state.transfer.as_ref()?;
        let view = |items| Step::View { agent: from.clone(), handoff: handoff.clone(), items };
        Some(match stage {
            TransferStage::Loading => view(self.client_items()),
            TransferStage::Filtering { items } => view(items.clone()),
            TransferStage::Forking { seed, .. } => match self.undelivered() {
                outputs if outputs.is_empty() => Step::Fork(seed.clone()),
                outputs => Step::Deliver(outputs),
            },
        })
    }

    /// Takes the items of a server whose state the run leaves.
    pub(super) fn loaded_for_transfer(&mut self, mut items: Vec<Item>) {
        if let Owner::Server { tracker, .. } = &self.state.owner {
            items.extend(tracker.plan().items.into_iter().map(|planned| planned.item));
        }
        if let Some(transfer) = &mut self.state.transfer {
            transfer.stage = TransferStage::Filtering { items };
        }
    }

    /// Records the items that the filter of [`Step::View`] chose.
    pub fn viewed(&mut self, items: Vec<Item>) {
        let run_from = self.state.items.len();
        let Some(mut transfer) = self.state.transfer.take() else { return };
        match &mut self.state.owner {
            Owner::Replay(history) | Owner::Session { history, .. } => {
                history.view = Some(View { items, run_from });
                self.prepared = Prepared::default();
            }
            Owner::Server { tracker, .. } => match tracker.continuation() {
                Continuation::Chain { .. } => {
                    let chain = Continuation::Chain { previous_response_id: None };
                    self.leave_for(&chain, &[], items);
                }
                Continuation::Conversation { .. } => {
                    let (seed, input) = split_input(items);
                    transfer.stage = TransferStage::Forking { seed, input };
                    self.state.transfer = Some(transfer);
                }
            },
        }
        self.advance();
    }

    /// Records the conversation that [`Step::Fork`] created.
    pub fn forked(&mut self, conversation: ConversationId) {
        let Some(Transfer { stage: TransferStage::Forking { seed, input }, .. }) =
            self.state.transfer.take()
        else {
            return;
        };
        let to = Continuation::Conversation { id: conversation };
        self.leave_for(&to, &seed, input);
        self.advance();
    }

    /// Continues from another state of the server, which has the items of `seed`.
    pub(super) fn leave_for(&mut self, to: &Continuation, seed: &[Item], input: Vec<Item>) {
        let Owner::Server { tracker, asking } = &mut self.state.owner else { return };
        let mut next = Tracker::new(to.clone(), self.state.reasoning_ids);
        if to.conversation_id().is_some() {
            next.hydrate(seed);
        }
        for item in input {
            next.add(item).expect("the tracker is new");
        }
        let from = tracker.continuation().clone();
        let (conversation, agent) = (to.conversation_id().cloned(), self.state.agent.clone());
        self.state.forks.push(Fork { from, conversation, agent });
        (**tracker, *asking) = (next, None);
    }
}

/// Splits items into those that a new conversation is created with, and its first input: the items
/// after the last one of a model, or else the last answer, because a request has input.
fn split_input(mut items: Vec<Item>) -> (Vec<Item>, Vec<Item>) {
    let is_answer = items.last().is_some_and(|item| item.head().is_model_made());
    let is_input = |item: &&Item| item.head().is_model_made() == is_answer;
    let input = items.iter().rev().take_while(is_input).count();
    let input = items.split_off(items.len() - input);
    (items, input)
}

fn handoff_output(call: &Item, target: &str) -> Item {
    let kind = call_key(call).kind.output().expect("calls of handoffs have outputs");
    let (kind, call_id) = (quote(kind.as_str()), quote(call_key(call).call_id.as_str()));
    let text = quote(&transfer_text(target));
    let output = format!(r#"{{"type":{kind},"call_id":{call_id},"output":{text}}}"#);
    Item::parse(output.into()).expect("the text above is an item")
}
