//! A provider, an application with its sessions, and tools that record their effects.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use antiphon::Item;
use antiphon_agents::agent::WithModel;
use antiphon_agents::machine::RunState;
use antiphon_agents::roster::Limits;
use antiphon_agents::session::{MemorySessions, SessionStore};
use antiphon_agents::{
    Agent, Input, Model, Run, RunEvent, RunResult, State, ToolContext, ToolError, tool,
};
use antiphon_mock::{Answer, OnAbort, Options, Recorded, Reply, Rules, Script, StrictProvider};
use http::{Method, StatusCode};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

pub(crate) const MODEL: &str = "think-1";

/// The key of the session.
pub(crate) const SESSION: &str = "s";

/// The effects of the tools, in order: the name of the tool and its argument.
#[derive(Default)]
pub(crate) struct Effects(Mutex<Vec<String>>);

impl Effects {
    fn record(&self, tool: &str, city: &str) {
        self.0.lock().unwrap().push(format!("{tool} {city}"));
    }

    pub(crate) fn all(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }
}

#[derive(Deserialize, JsonSchema)]
struct Place {
    city: String,
}

/// Looks something up.
#[tool]
async fn look_up(cx: &ToolContext<Effects>, place: Place) -> String {
    cx.context().record("look_up", &place.city);
    tokio::task::yield_now().await;
    format!("found {}", place.city)
}

/// Pays.
#[tool(needs_approval = true)]
async fn pay(cx: &ToolContext<Effects>, place: Place) -> String {
    cx.context().record("pay", &place.city);
    tokio::task::yield_now().await;
    format!("paid {}", place.city)
}

/// Ends the run.
#[tool]
async fn explode(cx: &ToolContext<Effects>, place: Place) -> Result<String, ToolError> {
    cx.context().record("explode", &place.city);
    Err(ToolError::fatal("the machine is on fire"))
}

/// The owners of a conversation's state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Owner {
    Replay,
    Session,
    Conversation,
    Chain,
}

pub(crate) const CLIENTS: [Owner; 2] = [Owner::Replay, Owner::Session];
pub(crate) const SERVERS: [Owner; 2] = [Owner::Conversation, Owner::Chain];
pub(crate) const OWNERS: [Owner; 4] =
    [Owner::Replay, Owner::Session, Owner::Conversation, Owner::Chain];

pub(crate) struct World {
    pub(crate) provider: StrictProvider,
    pub(crate) sessions: MemorySessions,
    pub(crate) conversation: String,
    pub(crate) effects: Arc<Effects>,
}

impl World {
    pub(crate) async fn new() -> Self {
        Self::with_options(Options::default()).await
    }

    pub(crate) async fn on_abort(on_abort: OnAbort) -> Self {
        Self::with_options(Options { on_abort, ..Options::default() }).await
    }

    /// A provider that keeps state, but refuses no duplicates.
    pub(crate) async fn lenient() -> Self {
        Self::with_options(Options { rules: Rules::Lenient, ..Options::default() }).await
    }

    async fn with_options(options: Options) -> Self {
        let provider = StrictProvider::with_options(options).start().await;
        let model = model_of(&provider);
        let id = model.backend().create_conversation(Vec::new()).await.unwrap();
        let conversation = id.as_str().to_owned();
        let (sessions, effects) = (MemorySessions::new(), Arc::default());
        Self { provider, sessions, conversation, effects }
    }

    pub(crate) fn model(&self) -> Model {
        model_of(&self.provider)
    }

    /// An agent with all tools.
    pub(crate) fn agent(&self) -> Agent<Effects, WithModel> {
        Agent::new("first").tool(look_up).tool(pay).tool(explode).model(self.model())
    }

    pub(crate) fn state(&self, owner: Owner) -> State {
        match owner {
            Owner::Replay => State::empty(),
            Owner::Session => State::session(self.sessions.clone(), SESSION),
            Owner::Conversation => State::conversation(self.conversation.clone()),
            Owner::Chain => State::chain(),
        }
    }

    /// Starts a run that does not wait between retries.
    pub(crate) fn start(&self, state: State, input: impl Into<Input>) -> Run<Effects> {
        self.start_agent(&self.agent(), state, input)
    }

    pub(crate) fn start_agent(
        &self,
        agent: &Agent<Effects, WithModel>,
        state: State,
        input: impl Into<Input>,
    ) -> Run<Effects> {
        let run = Run::start_with(agent, state, input, Arc::clone(&self.effects)).unwrap();
        run.limits(limits())
    }

    /// Runs to the end.
    pub(crate) async fn run(&self, state: State, input: impl Into<Input>) -> RunResult {
        self.start(state, input).into_result().await.unwrap()
    }

    /// Stops a run, and continues it from its JSON.
    pub(crate) fn restart(&self, run: Run<Effects>) -> Run<Effects> {
        let state = RunState::read(&run.suspend().to_json()).unwrap();
        let store = |_| -> Arc<dyn SessionStore> { Arc::new(self.sessions.clone()) };
        let sessions = state.session().map(store);
        let run = Run::resume(&self.agent(), state, sessions, Arc::clone(&self.effects));
        run.unwrap().limits(limits())
    }

    pub(crate) fn script<S: Into<Script>>(&self, answers: impl IntoIterator<Item = S>) {
        for answer in answers {
            self.provider.script(answer);
        }
    }

    /// Answers the next turn with this error.
    pub(crate) fn fail_next_turn(&self, status: u16) {
        let body = json!({"error": {"type": "server_error", "message": "Try again."}});
        let reply = Reply::json(StatusCode::from_u16(status).unwrap(), &body);
        self.provider.reply_instead(Method::POST, "/responses", reply);
    }

    /// The turns that the provider was asked for, refused or not.
    pub(crate) fn turns(&self) -> Vec<Recorded> {
        self.provider.turns()
    }

    /// The input of each turn that the provider was asked for.
    pub(crate) fn inputs(&self) -> Vec<Vec<String>> {
        self.turns().iter().map(|turn| summary(turn.input())).collect()
    }

    /// All that the model was given at last.
    pub(crate) fn last_model_input(&self) -> Vec<String> {
        let turns = self.turns();
        summary(turns.last().unwrap().model_input.as_ref().expect("a model ran"))
    }

    /// The items of the server's conversation.
    pub(crate) fn conversation_items(&self) -> Vec<Item> {
        let items = self.provider.conversation_items(&self.conversation).unwrap();
        items.iter().map(item).collect()
    }

    /// The items of the session.
    pub(crate) async fn session_items(&self) -> Vec<Item> {
        self.sessions.load(SESSION).await.unwrap().items
    }

    pub(crate) fn assert_clean(&self, case: impl std::fmt::Debug) {
        assert_eq!(self.provider.refusals(), [], "{case:?}");
        assert_eq!(self.provider.duplicates(), [], "{case:?}");
    }
}

fn model_of(provider: &StrictProvider) -> Model {
    Model::responses(MODEL).at(provider.base_url()).key("sk-test")
}

/// Limits without waiting times.
pub(crate) fn limits() -> Limits {
    let none = vec![Duration::ZERO; 3];
    Limits { retry_delays: none.clone(), locked_delays: none, ..Limits::default() }
}

/// An answer without items.
pub(crate) fn answer() -> Answer {
    Answer::new(MODEL)
}

/// An answer that calls a tool for a city.
pub(crate) fn calls(call_id: &str, tool: &str, city: &str) -> Answer {
    answer().call(call_id, tool, json!({"city": city}).to_string())
}

/// An answer that says a text.
pub(crate) fn says(text: &str) -> Answer {
    answer().message(text)
}

/// An item of these fields.
pub(crate) fn item(fields: &Value) -> Item {
    Item::parse(fields.to_string().into()).unwrap()
}

/// The events until the run ends or waits.
pub(crate) async fn drain(run: &mut Run<Effects>) -> Vec<RunEvent> {
    let mut events = Vec::new();
    while let Some(event) = run.next().await {
        events.push(event);
    }
    events
}

/// A short form of each item: its role and text, or its kind and `call_id`.
pub(crate) fn summary(items: &[Value]) -> Vec<String> {
    items.iter().map(short_form).collect()
}

/// A short form of each item.
pub(crate) fn forms(items: &[Item]) -> Vec<String> {
    let values: Vec<Value> =
        items.iter().map(|item| serde_json::from_str(item.text()).unwrap()).collect();
    summary(&values)
}

fn short_form(item: &Value) -> String {
    match (item["role"].as_str(), item["call_id"].as_str()) {
        (Some(role), _) => format!("{role}: {}", text(&item["content"])),
        (None, Some(call_id)) => format!("{} {call_id}", item["type"].as_str().unwrap()),
        (None, None) => item["type"].as_str().unwrap().to_owned(),
    }
}

fn text(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().filter_map(|part| part["text"].as_str()).collect(),
        _ => String::new(),
    }
}
