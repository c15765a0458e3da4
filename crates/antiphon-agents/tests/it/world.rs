//! A strict provider and a session store, for runs with every owner of the state.

use std::sync::Arc;

use antiphon_agents::agent::WithModel;
use antiphon_agents::machine::RunState;
use antiphon_agents::session::{MemorySessions, SessionStore};
use antiphon_agents::{Agent, Model, Run, RunResult, State};
use antiphon_mock::{Answer, Exchange, OnAbort, Options, Script, StrictProvider};
use serde_json::Value;

pub(crate) const MODEL: &str = "think-1";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Owner {
    Replay,
    Session,
    Conversation,
    Chain,
}

pub(crate) const OWNERS: [Owner; 4] =
    [Owner::Replay, Owner::Session, Owner::Conversation, Owner::Chain];

impl Owner {
    pub(crate) fn is_server(self) -> bool {
        matches!(self, Self::Conversation | Self::Chain)
    }
}

pub(crate) struct World {
    pub(crate) provider: StrictProvider,
    pub(crate) sessions: Arc<dyn SessionStore>,
    pub(crate) conversation: String,
}

impl World {
    pub(crate) async fn new() -> Self {
        Self::with_abort(OnAbort::default()).await
    }

    pub(crate) async fn with_abort(on_abort: OnAbort) -> Self {
        let options = Options { on_abort, ..Options::default() };
        let provider = StrictProvider::with_options(options).start().await;
        let sessions = Arc::new(MemorySessions::new());
        let mut world = Self { provider, sessions, conversation: String::new() };
        let id = world.model().backend().create_conversation(Vec::new()).await.unwrap();
        id.as_str().clone_into(&mut world.conversation);
        world
    }

    pub(crate) fn model(&self) -> Model {
        Model::responses(MODEL).at(self.provider.base_url()).key("sk-test")
    }

    pub(crate) fn state(&self, owner: Owner) -> State {
        match owner {
            Owner::Replay => State::empty(),
            Owner::Session => State::shared_session(Arc::clone(&self.sessions), "s"),
            Owner::Conversation => State::conversation(self.conversation.clone()),
            Owner::Chain => State::chain(),
        }
    }

    /// Starts a run with a journal.
    pub(crate) fn start<C: Default + Send + Sync + 'static>(
        &self,
        agent: &Agent<C, WithModel>,
        state: State,
        input: &str,
    ) -> Run<C> {
        self.start_with(agent, state, input, Arc::new(C::default()))
    }

    pub(crate) fn start_with<C: Send + Sync + 'static>(
        &self,
        agent: &Agent<C, WithModel>,
        state: State,
        input: &str,
        context: Arc<C>,
    ) -> Run<C> {
        let run = Run::start_with(agent, state, input, context).unwrap();
        run.journal(Arc::clone(&self.sessions), "run")
    }

    /// Continues the last run from its journal, in another process.
    pub(crate) async fn resume<C: Send + Sync + 'static>(
        &self,
        agent: &Agent<C, WithModel>,
        context: Arc<C>,
    ) -> Run<C> {
        let json = self.sessions.run("run").await.unwrap().unwrap();
        self.resume_from(agent, &json, context)
    }

    pub(crate) fn resume_from<C: Send + Sync + 'static>(
        &self,
        agent: &Agent<C, WithModel>,
        json: &str,
        context: Arc<C>,
    ) -> Run<C> {
        let state = RunState::read(json).unwrap();
        let sessions = state.session().map(|_| Arc::clone(&self.sessions));
        let run = Run::resume(agent, state, sessions, context).unwrap();
        run.journal(Arc::clone(&self.sessions), "run")
    }

    pub(crate) fn script(&self, answers: impl IntoIterator<Item = Answer>) {
        for answer in answers {
            self.provider.script(answer);
        }
    }

    pub(crate) fn script_one(&self, script: impl Into<Script>) -> Exchange {
        self.provider.script(script)
    }

    /// The input of the model in its turn `turn`.
    pub(crate) fn input(&self, turn: usize) -> Vec<Value> {
        self.provider.turns()[turn].model_input.clone().unwrap_or_default()
    }

    pub(crate) fn last_input(&self) -> Vec<Value> {
        self.input(self.provider.turns().len() - 1)
    }

    /// The output that the model read for a call, in its last turn.
    pub(crate) fn last_output(&self, call_id: &str) -> String {
        let input = self.last_input();
        let is_it = |item: &&Value| item["call_id"] == call_id && item["output"] != Value::Null;
        let outputs: Vec<_> = input.iter().filter(is_it).collect();
        assert_eq!(outputs.len(), 1, "{call_id}: {input:#?}");
        outputs[0]["output"].as_str().unwrap().to_owned()
    }

    pub(crate) fn assert_clean(&self, case: &str) {
        assert_eq!(self.provider.refusals(), [], "{case}");
        assert_eq!(self.provider.duplicates(), [], "{case}");
    }
}

pub(crate) fn answer() -> Answer {
    Answer::new(MODEL)
}

/// Continues a run until it ends or waits.
pub(crate) async fn advance<C: Send + Sync + 'static>(run: &mut Run<C>) {
    while run.next().await.is_some() {}
}

/// Continues a run to its end.
pub(crate) async fn finish<C: Send + Sync + 'static>(run: Run<C>) -> RunResult {
    run.into_result().await.unwrap()
}

/// The text of a message of the model's input.
pub(crate) fn text(item: &Value) -> String {
    match &item["content"] {
        Value::String(text) => text.clone(),
        parts => parts[0]["text"].as_str().unwrap_or_default().to_owned(),
    }
}

/// Where each item of the model's input comes from: its role, or its type.
pub(crate) fn kinds(input: &[Value]) -> Vec<String> {
    let kind = |item: &Value| {
        let kind = item["role"].as_str().or_else(|| item["type"].as_str());
        kind.unwrap_or_default().to_owned()
    };
    input.iter().map(kind).collect()
}
