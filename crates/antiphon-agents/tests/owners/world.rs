//! A provider, an application with its store, and the effects of its tools.

use std::sync::Arc;

use antiphon_agents::machine::RunState;
use antiphon_agents::session::{MemorySessions, SessionStore};
use antiphon_agents::{Run, RunResult, State};
use antiphon_mock::{Answer, OnAbort, Options, StrictProvider};

use crate::agents::{Effects, first_agent, model};
use crate::scenario::Owner;

/// A provider, an application with its store, and the effects of its tools.
pub(crate) struct World {
    pub(crate) provider: StrictProvider,
    pub(crate) sessions: Arc<dyn SessionStore>,
    pub(crate) conversation: String,
    pub(crate) effects: Arc<Effects>,
}

/// The key of the session, and that of the journal.
pub(crate) const SESSION: &str = "s";
pub(crate) const JOURNAL: &str = "run";

impl World {
    pub(crate) async fn new(on_abort: OnAbort) -> Self {
        Self::with_sessions(on_abort, Arc::new(MemorySessions::new())).await
    }

    pub(crate) async fn with_sessions(on_abort: OnAbort, sessions: Arc<dyn SessionStore>) -> Self {
        let options = Options { on_abort, compacts: true, ..Options::default() };
        let provider = StrictProvider::with_options(options).start().await;
        let created = model(&provider.base_url()).backend().create_conversation(Vec::new()).await;
        let conversation = created.unwrap().as_str().to_owned();
        Self { provider, sessions, conversation, effects: Arc::default() }
    }

    pub(crate) fn state(&self, owner: Owner) -> State {
        state(owner, &self.sessions, &self.conversation)
    }

    pub(crate) fn start(&self, owner: Owner, state: State, input: &str) -> Run<Effects> {
        let agent = first_agent(&self.provider.base_url());
        let run = Run::start_with(&agent, state, input, Arc::clone(&self.effects)).unwrap();
        match owner.has_journal() {
            true => run.journal(Arc::clone(&self.sessions), JOURNAL),
            false => run,
        }
    }

    /// Continues the last run from its journal, in another process.
    pub(crate) async fn resume(&self) -> Option<Run<Effects>> {
        let state = RunState::read(&self.sessions.run(JOURNAL).await.unwrap()?).unwrap();
        let agent = first_agent(&self.provider.base_url());
        let sessions = state.session().map(|_| Arc::clone(&self.sessions));
        let run = Run::resume(&agent, state, sessions, Arc::clone(&self.effects)).unwrap();
        Some(run.journal(Arc::clone(&self.sessions), JOURNAL))
    }

    pub(crate) fn script(&self, answers: impl IntoIterator<Item = Answer>) {
        for answer in answers {
            self.provider.script(answer);
        }
    }
}

pub(crate) fn state(owner: Owner, sessions: &Arc<dyn SessionStore>, conversation: &str) -> State {
    match owner {
        Owner::Replay => State::empty(),
        Owner::Session | Owner::JournaledSession => {
            State::shared_session(Arc::clone(sessions), SESSION)
        }
        Owner::Conversation => State::conversation(conversation),
        Owner::Chain => State::chain(),
    }
}

/// Continues a run to its end, and approves all that waits.
pub(crate) async fn finish(mut run: Run<Effects>) -> RunResult {
    loop {
        while run.next().await.is_some() {}
        if !approve_all(&mut run) {
            return run.into_result().await.unwrap();
        }
    }
}

/// Approves all calls that wait; returns whether there were any.
pub(crate) fn approve_all(run: &mut Run<Effects>) -> bool {
    let waiting = run.waiting();
    for pause in &waiting {
        run.approve(pause.call_id()).unwrap();
    }
    !waiting.is_empty()
}
