//! A store, a server and tools in memory, which perform the effects of a machine.

use std::collections::VecDeque;
use std::sync::Arc;

use antiphon::Item;
use antiphon::item::CallKey;
use antiphon::item::given::{call_under, user};
use antiphon::repair::check;
use antiphon::tracker::{Continuation, ConversationId, ResponseId};

use crate::machine::{
    Ask, Check, End, Load, Loaded, Machine, ModelAnswer, NewOwner, RunState, Step,
};
use crate::roster::{AgentFacts, HandoffFacts, Limits, Roster, ToolFacts};
use crate::rules::Outcome;
use crate::tool::{Approval, OnUnknownOutcome};

/// The kinds of owners that each law is tried with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OwnerKind {
    Replay,
    Session,
    Conversation,
    Chain,
}

pub(super) const OWNERS: [OwnerKind; 4] =
    [OwnerKind::Replay, OwnerKind::Session, OwnerKind::Conversation, OwnerKind::Chain];

/// Everything outside the machine.
#[derive(Default)]
pub(super) struct World {
    pub(super) session: Vec<Item>,
    pub(super) started: Vec<CallKey>,
    /// The last checkpoint of a run without a session.
    pub(super) checkpoint: Option<String>,
    pub(super) conversations: Vec<Vec<Item>>,
    /// For each response of a chain the items up to its end.
    pub(super) responses: Vec<Vec<Item>>,
    pub(super) script: VecDeque<Vec<Item>>,
    /// The contexts that the model was given.
    pub(super) contexts: Vec<Vec<Item>>,
    /// The call ids of the tools that ran, in order.
    pub(super) ran: Vec<String>,
    pub(super) reviews: Vec<String>,
    issued: u64,
}

impl World {
    pub(super) fn new(script: impl IntoIterator<Item = Vec<Item>>) -> Self {
        let mut world = Self { script: script.into_iter().collect(), ..Self::default() };
        world.conversations.push(Vec::new());
        world
    }

    pub(super) fn owner(kind: OwnerKind) -> NewOwner {
        match kind {
            OwnerKind::Replay => NewOwner::Replay(Vec::new()),
            OwnerKind::Session => NewOwner::Session("s".into()),
            OwnerKind::Conversation => {
                NewOwner::Server(Continuation::Conversation { id: conversation_id(0) })
            }
            OwnerKind::Chain => {
                NewOwner::Server(Continuation::Chain { previous_response_id: None })
            }
        }
    }

    /// Performs one effect. Returns the end of the run, or `None` while it continues.
    pub(super) fn perform(&mut self, machine: &mut Machine) -> Option<Paused> {
        match machine.step() {
            Step::Load(load) => {
                let loaded = self.load(&load);
                machine.loaded(loaded);
            }
            Step::Save(save) => {
                if machine.view().session().is_some() {
                    self.session.extend(save.items.iter().cloned());
                    self.started.extend(save.started.iter().cloned());
                }
                machine.saved(&save);
                self.checkpoint = Some(machine.state().to_json());
            }
            Step::Review(calls) => {
                for call in calls {
                    self.reviews.push(call_id(&call));
                    machine.reviewed(&call.head().pairing().unwrap().1, true);
                }
            }
            Step::Call(calls) => {
                let key = calls[0].head().pairing().unwrap().1;
                self.ran.push(call_id(&calls[0]));
                let output = output(&calls[0]);
                machine.call_ended(&key, Outcome::Output(output));
            }
            Step::Cancel(calls) => {
                let key = calls[0].head().pairing().unwrap().1;
                machine.call_ended(&key, Outcome::Cancelled);
            }
            Step::Wait(pauses) => {
                return Some(Paused::Waiting(pauses.iter().map(|it| call_id(it.call())).collect()));
            }
            Step::View { items, .. } => {
                let kept = items.into_iter().filter(|item| item.head().speaker().is_some());
                machine.viewed(kept.collect());
            }
            Step::Fork(items) => {
                let items = items.into_iter().map(|item| self.stored(item)).collect();
                self.conversations.push(items);
                machine.forked(conversation_id(self.conversations.len() - 1));
            }
            Step::Check(_) => machine.checked(Check::Passed),
            Step::Remove(_) => machine.removed(),
            Step::Deliver(outputs) => {
                let id = machine.view().continuation().unwrap().conversation_id().unwrap().clone();
                let outputs: Vec<_> = outputs.into_iter().map(|item| self.stored(item)).collect();
                self.conversation(&id).extend(outputs);
                machine.delivered();
            }
            Step::Ask(ask) => {
                machine.ask(None).unwrap();
                self.checkpoint = Some(machine.state().to_json());
                let answer = self.answer(&ask);
                machine.answered(&answer);
            }
            Step::Done(end) => return Some(Paused::Ended(end)),
        }
        None
    }

    /// Performs effects until the run ends or waits.
    pub(super) fn run(&mut self, machine: &mut Machine) -> Paused {
        for _ in 0..200 {
            if let Some(paused) = self.perform(machine) {
                return paused;
            }
        }
        panic!("the run does not end: {:?}", machine.step());
    }

    fn load(&mut self, load: &Load) -> Loaded {
        match load {
            Load::Session(_) => {
                Loaded { items: self.session.clone(), started: self.started.clone() }
            }
            Load::Server(Continuation::Conversation { id }) => {
                Loaded { items: self.conversation(id).clone(), started: Vec::new() }
            }
            Load::Server(Continuation::Chain { previous_response_id }) => {
                let items = previous_response_id.as_ref().map(|id| self.response(id));
                Loaded { items: items.unwrap_or_default(), started: Vec::new() }
            }
        }
    }

    /// The model's answer. Panics where a provider would reject the request.
    fn answer(&mut self, ask: &Ask) -> ModelAnswer {
        let (items, from) = (ask.items.to_vec(), ask.continuation.as_ref());
        let mut context = match from {
            Some(Continuation::Conversation { id }) => self.conversation(id).clone(),
            Some(Continuation::Chain { previous_response_id: Some(id) }) => self.response(id),
            None | Some(Continuation::Chain { previous_response_id: None }) => Vec::new(),
        };
        context.extend(items.into_iter().map(|item| self.stored(item)));
        assert_eq!(check(&context), [], "a provider rejects {context:#?}");
        self.contexts.push(context.clone());
        let output = self.script.pop_front().expect("the script has another answer");
        context.extend(output.iter().cloned());
        if let Some(Continuation::Conversation { id }) = from {
            *self.conversation(id) = context;
            return ModelAnswer { output, ..ModelAnswer::default() };
        }
        self.responses.push(context);
        let id = ResponseId::from(format!("resp_{}", self.responses.len() - 1));
        ModelAnswer { response_id: Some(id), output, ..ModelAnswer::default() }
    }

    /// The item as a server stores it: with an id.
    fn stored(&mut self, item: Item) -> Item {
        if item.head().id.is_some() {
            return item;
        }
        self.issued += 1;
        let id = format!("{}_srv{}", item.head().kind.id_prefix(), self.issued);
        item.with(|object| object.set_string("id", &id))
    }

    pub(super) fn conversation(&mut self, id: &ConversationId) -> &mut Vec<Item> {
        let number: usize = id.as_str()["conv_".len()..].parse().unwrap();
        &mut self.conversations[number]
    }

    fn response(&self, id: &ResponseId) -> Vec<Item> {
        let number: usize = id.as_str()["resp_".len()..].parse().unwrap();
        self.responses[number].clone()
    }
}

fn output(call: &Item) -> Item {
    antiphon::item::given::output(&call_id(call), &format!("output of {}", call_id(call)))
}

/// The state in which a run returns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Paused {
    Ended(End),
    /// These calls wait for decisions.
    Waiting(Vec<String>),
}

pub(super) fn call_id(item: &Item) -> String {
    item.head().call_id.as_ref().unwrap().as_str().to_owned()
}

fn conversation_id(number: usize) -> ConversationId {
    format!("conv_{number}").into()
}

/// A call of the tool `name`.
pub(super) fn call(call_id: &str, name: &str) -> Item {
    let call = call_under(&format!("fc_{call_id}"), call_id, "{}");
    call.with(|object| object.set_string("name", name))
}

pub(super) fn says(text: &str) -> Item {
    antiphon::item::given::assistant(&format!("msg_{}", text.replace(' ', "_")), text)
}

/// Agents `first` and `second`: tools without and with approvals, and handoffs with and without a
/// filter.
pub(super) fn roster() -> Arc<Roster> {
    let tool = |approval, on_unknown| ToolFacts { approval, on_unknown };
    let tools = [
        ("plain", tool(Approval::Never, OnUnknownOutcome::Fail)),
        ("approved", tool(Approval::Always, OnUnknownOutcome::Fail)),
        ("reviewed", tool(Approval::ByCall, OnUnknownOutcome::Fail)),
        ("retried", tool(Approval::Never, OnUnknownOutcome::Retry)),
        ("asked", tool(Approval::Never, OnUnknownOutcome::Ask)),
    ];
    let handoff =
        |has_view| HandoffFacts { target: "second".into(), has_view, has_function: false };
    let first = AgentFacts {
        tools: tools.iter().map(|(name, facts)| ((*name).to_owned(), *facts)).collect(),
        handoffs: [("to_second", handoff(false)), ("to_second_filtered", handoff(true))]
            .map(|(name, facts)| (name.to_owned(), facts))
            .into(),
        ..AgentFacts::default()
    };
    let agents = [("first".to_owned(), first), ("second".to_owned(), AgentFacts::default())];
    Arc::new(Roster::new(agents, Limits::default()))
}

pub(super) fn start(owner: NewOwner, input: &str) -> Machine {
    Machine::start(roster(), "first", owner, vec![user(input)])
}

/// Continues a run from the JSON of its state.
pub(super) fn resume(json: &str) -> Machine {
    Machine::resume(roster(), RunState::read(json).unwrap())
}

/// The texts and call ids of items, to compare lists at a glance.
pub(super) fn summary(items: &[Item]) -> Vec<String> {
    let one = |item: &Item| {
        let head = item.head();
        let id = head.call_id.as_ref().map(|id| format!(" {}", id.as_str())).unwrap_or_default();
        match head.speaker() {
            Some(role) => format!("{role:?}: {}", text(item)),
            None => format!("{}{id}", head.kind.as_str()),
        }
    };
    items.iter().map(one).collect()
}

fn text(item: &Item) -> String {
    let content: serde_json::Value =
        serde_json::from_str(item.object().present("content").unwrap()).unwrap();
    content.as_str().map_or_else(|| content[0]["text"].as_str().unwrap().to_owned(), str::to_owned)
}
