//! The answers of models.

use antiphon::Item;
use antiphon::item::Kind;
use antiphon::repair::{Action, ReportedRepair};
use antiphon::tracker::{Attempt, PLACEHOLDER_ID, ReasoningIds, ResponseId, Tracker};
use serde::{Deserialize, Serialize};

use super::calls::{OpenCall, call_key, tool_name};
use super::state::{AnswerRecord, Owner};
use super::{End, Machine};
use crate::item_json;
use crate::model::{Answered, Usage};
use crate::roster::AgentFacts;
use crate::rules::CallAction;
use crate::tool::Approval;

/// An answer of a model. A workflow engine records it as JSON.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ModelAnswer {
    /// The id of the response, if the server gave it one.
    pub response_id: Option<ResponseId>,
    /// The items of the answer, in order.
    #[serde(with = "item_json::list")]
    pub output: Vec<Item>,
    /// The tokens.
    pub usage: Usage,
}

impl From<&Answered> for ModelAnswer {
    fn from(answered: &Answered) -> Self {
        Self {
            response_id: answered.response_id.clone(),
            output: answered.output.clone(),
            usage: answered.usage,
        }
    }
}

/// The output of a handoff call after another one.
const NOT_MADE: &str = "Another handoff was made first; this one was not.";

impl Machine {
    /// Records the answer to [`Step::Ask`](super::Step::Ask).
    pub fn answered(&mut self, answer: &ModelAnswer) {
        self.awaits_answer = false;
        let attempt = match &mut self.state.owner {
            Owner::Server { asking, .. } => asking.take(),
            Owner::Replay(_) | Owner::Session { .. } => None,
        };
        self.accept(attempt, answer);
        self.advance();
    }

    /// Adds an answer to the run, and opens its calls.
    pub(super) fn accept(&mut self, attempt: Option<Attempt>, answer: &ModelAnswer) {
        let is_checked = self.facts().is_some_and(|facts| facts.checks_output);
        if let (Owner::Server { tracker, .. }, Some(attempt)) = (&mut self.state.owner, attempt) {
            let is_chain = tracker.continuation().conversation_id().is_none();
            self.state.before_answer = (is_checked && is_chain).then(|| {
                let mut before = tracker.clone();
                before.rewind(attempt).expect("it is in flight");
                before
            });
            accept_response(tracker, attempt, answer);
        }
        self.delay = None;
        self.retries = self.roster.limits.retries();
        let start = self.state.items.len();
        let policy = match self.state.client_history() {
            Some(_) => self.state.reasoning_ids,
            None => ReasoningIds::Keep,
        };
        self.state.items.extend(answer.output.iter().map(|item| policy.apply(item)));
        self.state.answers.push(AnswerRecord {
            agent: self.state.agent.clone(),
            items: start..self.state.items.len(),
            usage: answer.usage,
        });
        let calls = answer.output.iter().filter(|item| is_call(item));
        let calls: Vec<_> = calls.cloned().collect();
        match calls.is_empty() {
            true if self.state.staged.waiting().is_empty() => self.take_last_answer(start),
            true => {}
            false => self.open_calls(&calls),
        }
        if self.state.unchecked.is_none() {
            self.state.before_answer = None;
        }
    }

    fn take_last_answer(&mut self, start: usize) {
        match self.facts().is_some_and(|facts| facts.checks_output) {
            true => self.state.unchecked = Some(start),
            false => self.finish(),
        }
    }

    /// Ends the run with the last answer.
    pub(super) fn finish(&mut self) {
        let agent = self.state.agent.clone();
        self.end(End::Answered { agent });
    }

    fn open_calls(&mut self, calls: &[Item]) {
        let facts = self.facts().cloned().unwrap_or_default();
        let mut handoff = None;
        for call in calls {
            match self.begin(call) {
                Err(reason) => self.stop(End::Failed { error: reason }),
                Ok(CallAction::Running) => {}
                Ok(CallAction::Replayed(output)) => self.push(output),
                Ok(CallAction::Run) => match facts.handoffs.get(&tool_name(call)) {
                    Some(_) if handoff.is_some() => self.close(call, NOT_MADE),
                    Some(target) => handoff = Some((call, target)),
                    None => self.open(call, &facts),
                },
            }
        }
        if let Some((call, facts)) = handoff {
            self.begin_handoff(call, facts);
        }
        self.apply_standing();
    }

    fn begin(&mut self, call: &Item) -> Result<CallAction, String> {
        // An approval of a hosted tool has no arguments that a repetition could change.
        if call.head().kind == Kind::McpApprovalRequest {
            return Ok(CallAction::Run);
        }
        self.ledger.begin(call).map_err(|error| error.to_string())
    }

    fn open(&mut self, call: &Item, facts: &AgentFacts) {
        let name = tool_name(call);
        let approval = match call.head().kind {
            Kind::McpApprovalRequest => Approval::Always,
            _ => match facts.tools.get(&name) {
                Some(tool) => {
                    self.state.stops_at_tool |= facts.stop.stops_at(&name);
                    tool.approval
                }
                None => {
                    return self.close(call, &format!("There is no tool with the name '{name}'."));
                }
            },
        };
        self.state.calls.push(OpenCall::new(call.clone(), &self.state.agent, approval));
    }

    /// Adds the output of a call.
    pub(super) fn answer_call(&mut self, call: &Item, output: Item) {
        // A call that an earlier run left is not in the ledger.
        let _ = self.ledger.commit(call, output.clone());
        self.push(output);
    }

    /// Adds an output with a text for a call that has none.
    pub(super) fn close(&mut self, call: &Item, text: &str) {
        if let Some(output) = antiphon::placeholder::create_failed_output(&call_key(call), text) {
            self.answer_call(call, output);
        }
    }

    /// Adds an output with a text for a call whose tool gave none, and reports it.
    pub(super) fn close_unanswered(&mut self, call: &Item, text: &str) {
        let names = ("unanswered_call", Action::Answered.name());
        self.repairs.push(ReportedRepair::new(None, call.head(), names, text));
        self.close(call, text);
    }

    /// Adds an item that the model has not read.
    pub(super) fn push(&mut self, item: Item) {
        let item = without_placeholder_id(item);
        if let Owner::Server { tracker, .. } = &mut self.state.owner {
            tracker.add(item.clone()).expect("the machine never finishes its tracker");
        }
        self.state.items.push(item);
    }
}

/// Records a response. No request can continue a response without an id, so the items of this
/// exchange are sent again with the next request, which continues the response before it.
fn accept_response(tracker: &mut Tracker, attempt: Attempt, answer: &ModelAnswer) {
    let ModelAnswer { response_id, output, .. } = answer;
    let is_chain = tracker.continuation().conversation_id().is_none();
    if response_id.is_some() || !is_chain {
        let accepted = tracker.accept(attempt, response_id.as_ref(), output);
        return accepted.expect("it is in flight");
    }
    tracker.rewind(attempt).expect("it is in flight");
    for item in output.iter().filter(|item| item.head().kind != Kind::Reasoning) {
        tracker.add(item.clone()).expect("the machine never finishes its tracker");
    }
}

/// The item without the id that a framework gave it. A server knows no such id.
fn without_placeholder_id(item: Item) -> Item {
    match item.head().id.as_ref().is_some_and(|id| id.as_str() == PLACEHOLDER_ID) {
        true => item.with(|object| object.remove("id")),
        false => item,
    }
}

/// Whether the application answers the item.
fn is_call(item: &Item) -> bool {
    let kind = &item.head().kind;
    let is_answered = kind.must_be_answered() || *kind == Kind::McpApprovalRequest;
    is_answered && item.head().pairing().is_some()
}
