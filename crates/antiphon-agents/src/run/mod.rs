//! Runs agents with tokio.
//!
//! A [`Run`] performs the effects of a [`Machine`]. It does nothing until its next event is
//! awaited.

mod agent_tool;
mod cancellation;
mod compaction;
mod decisions;
mod effect;
mod error;
mod event;
mod guard;
mod journal;
mod options;
mod report;
mod result;
mod steps;
mod tools;
mod trace;

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;

use antiphon::Item;
use antiphon::tracker::RunFinished;
use futures_util::StreamExt;

use crate::agent::{Agent, HasModel, WithoutContext};
use crate::input::Input;
use crate::machine::{End, Machine, RunState, Step, call_key, tool_name};
use crate::roster::Limits;
use crate::rules::CancelMode;
use crate::session::SessionStore;
use crate::state::State;
use crate::team::{Team, TeamError, TeamTool};
use crate::tool::ToolContext;

pub use agent_tool::AgentTool;
pub use cancellation::Canceller;
pub use error::RunError;
pub use event::RunEvent;
pub use result::RunResult;

use self::cancellation::Cancellations;
use self::effect::Effect;
use self::guard::InputCheck;
use self::options::Options;
use self::report::RepairReport;
use self::tools::RunningTools;
use self::trace::{RunTrace, TracedAnswer};

/// A run of agents: a stream of events, and its result.
///
/// Dropping it stops it. What was stored stays, and the next run continues from there.
///
/// ```
/// use antiphon_agents::{Agent, Model, Run, State};
///
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// let agent = Agent::new("greeter").model(Model::scripted(["Hello."]));
/// let mut run = Run::start(&agent, State::empty(), "Hi").unwrap();
/// while let Some(event) = run.next().await {
///     print!("{}", event.text().unwrap_or_default());
/// }
/// assert_eq!(run.finish().await.unwrap().text(), "Hello.");
/// # });
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct Run<C = ()> {
    machine: Machine,
    team: Arc<Team<C>>,
    context: Arc<C>,
    sessions: Option<Arc<dyn SessionStore>>,
    options: Options<C>,
    /// The effect that is being performed. It outlives a dropped `next()`.
    effect: Option<Effect>,
    answer: Option<TracedAnswer>,
    tools: RunningTools,
    cancellations: Cancellations,
    trace: RunTrace,
    events: VecDeque<RunEvent>,
    repairs: RepairReport,
    input_check: InputCheck,
    compaction: compaction::Progress,
    /// The agent that was asked last.
    asked: Option<String>,
    error: Option<RunError>,
    is_over: bool,
}

impl Run {
    /// Starts a run: `agent` answers `input`. If its tools share a context, give it to
    /// [`start_with`](Run::start_with).
    pub fn start<A: WithoutContext>(
        agent: &A,
        state: State,
        input: impl Into<Input>,
    ) -> Result<Self, TeamError> {
        Self::start_with(agent.without_context(), state, input, ())
    }
}

impl<C: Send + Sync + 'static> Run<C> {
    /// Starts a run whose tools share `context`.
    pub fn start_with<M: HasModel>(
        agent: &Agent<C, M>,
        state: State,
        input: impl Into<Input>,
        context: impl Into<Arc<C>>,
    ) -> Result<Self, TeamError> {
        let team = Arc::new(Team::new(agent, Limits::default())?);
        let State { owner, sessions, unsent, last } = state;
        let input = [unsent, input.into().0].concat();
        let mut machine = Machine::start(team.roster(), agent.name(), owner, input);
        if last.is_some() {
            machine.set_limits(Limits { history: last, ..Limits::default() });
        }
        Ok(Self::new(machine, team, context.into(), sessions))
    }

    /// Continues a run from its state. `agent` is the first agent of the run; `sessions` is the
    /// store of its session, or `None` if another party keeps the items.
    pub fn resume<M: HasModel>(
        agent: &Agent<C, M>,
        state: RunState,
        sessions: Option<Arc<dyn SessionStore>>,
        context: impl Into<Arc<C>>,
    ) -> Result<Self, RunError> {
        let team = Arc::new(Team::new(agent, Limits::default())?);
        if team.parts(state.agent()).is_none() {
            return Err(TeamError::UnknownAgent(state.agent().to_owned()).into());
        }
        match (state.session(), &sessions) {
            (Some(key), None) => return Err(RunError::NoSessionStore(key.to_owned())),
            (None, Some(_)) => return Err(RunError::NoSession),
            (Some(_), Some(_)) | (None, None) => {}
        }
        let machine = Machine::resume(team.roster(), state);
        let input_check = match machine.view().turns() {
            0 if machine.is_asking() => InputCheck::Resumed,
            0 => InputCheck::Due,
            _ => InputCheck::Passed,
        };
        Ok(Self { input_check, ..Self::new(machine, team, context.into(), sessions) })
    }

    fn new(
        machine: Machine,
        team: Arc<Team<C>>,
        context: Arc<C>,
        sessions: Option<Arc<dyn SessionStore>>,
    ) -> Self {
        Self {
            machine,
            team,
            context,
            sessions,
            options: Options::default(),
            asked: None,
            effect: None,
            answer: None,
            tools: RunningTools::default(),
            cancellations: Cancellations::default(),
            trace: RunTrace::new(),
            events: VecDeque::new(),
            repairs: RepairReport::default(),
            input_check: InputCheck::Due,
            compaction: compaction::Progress::default(),
            error: None,
            is_over: false,
        }
    }

    /// The next event; `None` when the run has ended, waits for decisions, or cannot continue. See
    /// [`finish`](Self::finish).
    pub async fn next(&mut self) -> Option<RunEvent> {
        StreamExt::next(self).await
    }

    /// Continues to the end of the run, and returns its result if it has an answer.
    ///
    /// A run that ends otherwise is an error: [`RunError::NoAnswer`] has its result.
    pub async fn finish(self) -> Result<RunResult, RunError> {
        let result = self.into_result().await?;
        match result.end() {
            End::Answered { .. } | End::StoppedAtTool { .. } => Ok(result),
            End::TurnLimit { .. } | End::Tripped { .. } | End::Failed { .. } | End::Cancelled => {
                Err(RunError::NoAnswer(Box::new(result)))
            }
        }
    }

    /// Continues to the end of the run, and returns its result whatever the end is.
    pub async fn into_result(mut self) -> Result<RunResult, RunError> {
        while self.next().await.is_some() {}
        if let Some(error) = self.error {
            return Err(error);
        }
        match self.machine.step() {
            Step::Done(end) => Ok(RunResult {
                end,
                held: self.machine.all_items(),
                unsent: self.machine.unsent(),
                state: self.machine.state(),
                sessions: self.sessions.take(),
                repairs: self.repairs.into_list(),
            }),
            Step::Wait(pauses) => {
                let call = call_key(pauses[0].call());
                Err(RunError::Waiting(call.call_id.as_str().to_owned()))
            }
            _ => unreachable!("a run without events has ended, or waits"),
        }
    }

    /// Adds input to the run. The model is given it with the next request.
    pub fn stage(&mut self, item: Item) -> Result<(), RunFinished> {
        self.machine.stage(item)
    }

    /// Cancels the run. A run that has ended does not change.
    pub fn cancel(&mut self, mode: CancelMode) {
        if self.machine.view().end().is_some() {
            return;
        }
        if mode == CancelMode::Immediate {
            self.abort_request();
            self.input_check = InputCheck::Passed;
        }
        self.is_over = false;
        self.machine.cancel(mode);
    }

    /// A handle that cancels the run while another task waits for its events.
    pub fn canceller(&self) -> Canceller {
        self.cancellations.canceller()
    }

    /// Stops the run, and returns its state. Running tools are dropped, so their outcome is unknown
    /// when the run is resumed.
    pub fn suspend(self) -> RunState {
        self.machine.state()
    }

    /// Whether a request to the model has been started and not ended.
    fn is_asking(&self) -> bool {
        self.answer.is_some() || self.effect.as_ref().is_some_and(|effect| effect.is_abortable)
    }

    fn abort_request(&mut self) {
        self.answer = None;
        if self.is_asking() {
            self.effect = None;
        }
    }

    fn fail(&mut self, error: RunError) {
        self.tools.cancel();
        self.trace.failed(&error);
        self.error = Some(error);
        self.is_over = true;
    }

    fn context_of(&self, call: &Item) -> ToolContext<C> {
        ToolContext::new(Arc::clone(&self.context), tool_name(call), call_key(call).call_id)
            .with_agent(self.machine.agent_of(&call_key(call)))
            .with_usage(self.machine.view().usage())
    }

    fn tool_of(&self, call: &Item) -> Option<TeamTool<C>> {
        self.team.tool(self.machine.agent_of(&call_key(call)), &tool_name(call))
    }
}

impl<C> fmt::Debug for Run<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Run").field("state", self.machine.view()).finish_non_exhaustive()
    }
}
