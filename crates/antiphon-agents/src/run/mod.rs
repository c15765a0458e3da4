//! Runs agents with tokio.
//!
//! A [`Run`] performs the effects of a [`Machine`]. It does nothing until its next event is
//! awaited.

mod agent_tool;
mod cancellation;
mod compaction;
mod decisions;
mod effect;
mod event;
mod guard;
mod options;
mod result;
mod team;
mod tools;
mod trace;

use std::collections::VecDeque;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use antiphon::Item;
use antiphon::tracker::RunFinished;
use futures_util::{Stream, StreamExt};

use crate::agent::{Agent, HasModel};
use crate::input::Input;
use crate::machine::{End, Machine, RunState, Step, call_key, tool_name};
use crate::model::{AnswerEvent, EventKind, ModelError, failed_request};
use crate::roster::Limits;
use crate::rules::{CancelMode, FailedRequest, Outcome, RetryVerdict};
use crate::session::{SessionError, SessionStore};
use crate::state::State;
use crate::tool::{ToolContext, arguments};

pub use agent_tool::AgentTool;
pub use cancellation::Canceller;
pub use event::RunEvent;
pub use result::RunResult;
pub use team::TeamError;

use self::agent_tool::InnerExchange;
use self::cancellation::Cancellations;
use self::effect::{Done, Effect};
use self::guard::InputCheck;
use self::options::Options;
use self::team::{Team, TeamTool};
use self::tools::{EndedCall, RunningTools, ToolCall};
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
    input_check: InputCheck,
    compaction: compaction::Progress,
    /// The agent that was asked last.
    asked: Option<String>,
    error: Option<RunError>,
    is_over: bool,
}

/// The reason why a run cannot continue. Its state is not lost: start it again, or resume it.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// The agents do not fit together.
    #[error(transparent)]
    Team(#[from] TeamError),
    /// The session store failed.
    #[error(transparent)]
    Session(#[from] SessionError),
    /// The model failed.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The run waits for decisions.
    #[error("the run waits for a decision about the call '{0}'")]
    Waiting(String),
    /// The state to resume has a session, and no store was given.
    #[error("the state of the run has the session '{0}': give `Run::resume` its store")]
    NoSessionStore(String),
    /// The session of the state to resume had items, and the store that was given has none.
    #[error(
        "the session '{0}' is empty, but the run had stored items in it: resume it with its own store"
    )]
    EmptySession(String),
    /// The run ended, but not with an answer: it failed, was cancelled or rejected, or reached a
    /// limit.
    #[error("the run ended without an answer: {}", .0.end())]
    NoAnswer(Box<RunResult>),
}

impl Run {
    /// Starts a run: `agent` answers `input`.
    pub fn start<M: HasModel>(
        agent: &Agent<(), M>,
        state: State,
        input: impl Into<Input>,
    ) -> Result<Self, TeamError> {
        Self::start_with(agent, state, input, ())
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
        let team = Arc::new(Team::of(agent, Limits::default())?);
        let State { owner, sessions, unsent, last } = state;
        let input = [unsent, input.into().0].concat();
        let mut machine = Machine::start(Arc::clone(&team.roster), agent.name(), owner, input);
        if last.is_some() {
            machine.set_limits(Limits { history: last, ..Limits::default() });
        }
        Ok(Self::new(machine, team, context.into(), sessions))
    }

    /// Continues a run from its state. `agent` is the first agent of the run; `sessions` is the
    /// store of its session.
    pub fn resume<M: HasModel>(
        agent: &Agent<C, M>,
        state: RunState,
        sessions: Option<Arc<dyn SessionStore>>,
        context: impl Into<Arc<C>>,
    ) -> Result<Self, RunError> {
        let team = Arc::new(Team::of(agent, Limits::default())?);
        if team.parts(state.agent()).is_none() {
            return Err(TeamError::UnknownAgent(state.agent().to_owned()).into());
        }
        if let (Some(key), None) = (state.session(), &sessions) {
            return Err(RunError::NoSessionStore(key.to_owned()));
        }
        let machine = Machine::resume(Arc::clone(&team.roster), state);
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

    /// Starts the next effect. Returns whether anything happened at once.
    fn start_step(&mut self) -> Progress {
        self.effect = self.check_resumed_input();
        if self.effect.is_some() {
            return Progress::Continues;
        }
        let step = self.machine.step();
        if matches!(step, Step::Ask(_) | Step::Done(_)) {
            self.effect = self.compact(matches!(step, Step::Done(_)));
            if self.effect.is_some() {
                return Progress::Continues;
            }
        }
        match step {
            Step::Done(end) => {
                self.effect = self.take_end_hooks(&end);
                if self.effect.is_none() {
                    self.is_over = true;
                    self.trace.ended(&end);
                    self.events.push_back(RunEvent::Ended(end));
                }
            }
            Step::Wait(pauses) => {
                self.is_over = true;
                self.events.push_back(RunEvent::Waiting(pauses));
            }
            Step::Review(calls) => calls.iter().for_each(|call| self.review(call)),
            Step::Call(calls) => {
                let started = calls.iter().filter(|call| self.start_tool(call)).count();
                if started == 0 {
                    return Progress::Waits;
                }
            }
            Step::Cancel(calls) => {
                self.tools.cancel();
                if self.tools.calls().next().is_none() {
                    for call in calls {
                        self.machine.call_ended(&call_key(&call), Outcome::Cancelled);
                    }
                } else {
                    return Progress::Waits;
                }
            }
            Step::View { agent, handoff, items } => {
                let handoff = self.team.handoff(&agent, &handoff);
                let filter = handoff.and_then(|handoff| handoff.view());
                let items = match filter {
                    Some(filter) => filter(items),
                    None => items,
                };
                self.machine.viewed(items);
            }
            step => self.effect = Some(self.effect_of(step)),
        }
        Progress::Continues
    }

    fn review(&mut self, call: &Item) {
        let (tool, context) = (self.tool_of(call), self.context_of(call));
        let needs = tool.is_none_or(|it| it.tool.needs_approval(&context, &arguments(call)));
        let key = call_key(call);
        self.machine.reviewed(&key, needs);
    }

    /// Starts the tool of a call; returns false if it runs already.
    fn start_tool(&mut self, call: &Item) -> bool {
        if self.tools.is_running(call) {
            return false;
        }
        self.tools.start(ToolCall {
            call: call.clone(),
            context: self.context_of(call),
            inner: Arc::new(InnerExchange::new(
                self.machine.inner_run(&call_key(call)),
                self.machine.standing().clone(),
            )),
            tool: self.tool_of(call),
            hooks: self.options.hooks.clone(),
        });
        self.events.push_back(RunEvent::ToolStarted(call.clone()));
        true
    }

    fn record(&mut self, done: Done) {
        match done {
            Done::Machine(record) => record(&mut self.machine),
            Done::Event(event) => self.events.push_back(event),
            Done::Summarized(summary) => self.store_summary(summary),
            Done::Compacted { old, new, compacted } => {
                self.machine.compacted(compacted);
                let continuation = self.machine.view().continuation().cloned();
                self.events.push_back(RunEvent::Compacted { old, new, continuation });
            }
            Done::Answer(Ok(answer)) => self.answer = Some(answer),
            Done::Answer(Err(error)) => self.receive(Some(Err(error))),
            Done::Failed(error) => self.fail(error),
        }
    }

    fn take_answer(&mut self, event: Option<Result<AnswerEvent, ModelError>>) {
        match event {
            None => self.answer = None,
            Some(Err(error)) => {
                self.answer = None;
                self.ask_failed(&error);
            }
            Some(Ok(event)) => {
                if let EventKind::Completed(answered) = event.kind() {
                    self.answer = None;
                    self.trace.answered(answered.usage);
                    let from = self.machine.view().agent().to_owned();
                    self.machine.answered(&answered.into());
                    self.effect = self.answer_hooks(&from, answered.clone());
                    self.events.push_back(RunEvent::Answer(event));
                    self.report_handoff(from);
                } else {
                    self.events.push_back(RunEvent::Answer(event));
                }
            }
        }
    }

    fn take_ended(&mut self, ended: EndedCall) {
        let EndedCall { call, outcome, usage, paused } = ended;
        let key = call_key(&call);
        self.machine.add_usage(&usage);
        if let Some(inner) = paused {
            return self.machine.inner_waits(&key, inner);
        }
        let output = match &outcome {
            Outcome::Output(output) => Some(output.clone()),
            _ => None,
        };
        let agent = self.machine.view().agent().to_owned();
        self.machine.call_ended(&key, outcome);
        self.events.push_back(RunEvent::ToolEnded { call, output });
        self.report_handoff(agent);
    }

    /// Reports a handoff if `from` is no longer the agent.
    fn report_handoff(&mut self, from: String) {
        let to = self.machine.view().agent().to_owned();
        if from != to {
            self.events.push_back(RunEvent::HandedOff { from, to });
        }
    }

    fn ask_failed(&mut self, error: &ModelError) {
        let policy = self.options.retry_policy.as_ref();
        let verdict = policy.map_or(RetryVerdict::ByRules, |policy| policy(error));
        let failed = FailedRequest { verdict, ..failed_request(error) };
        self.machine.ask_failed(&failed, &error.to_string());
        if let Some(delay) = self.machine.delay() {
            self.events.push_back(RunEvent::Retrying { error: error.clone(), delay });
        }
    }
}

/// Whether a step has happened at once, or something else has to happen first.
#[derive(PartialEq, Eq)]
enum Progress {
    Continues,
    Waits,
}

impl<C: Send + Sync + 'static> Stream for Run<C> {
    type Item = RunEvent;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<RunEvent>> {
        let run = self.get_mut();
        loop {
            if let Some(mode) = run.cancellations.poll(context) {
                run.cancel(mode);
            }
            if let Some(event) = run.events.pop_front() {
                return Poll::Ready(Some(event));
            }
            if run.is_over {
                return Poll::Ready(None);
            }
            let span = run.trace.agent(run.machine.view(), &run.team);
            let _entered = span.enter();
            let ended = match run.tools.poll_ended(context) {
                Poll::Ready(ended) => ended,
                Poll::Pending => None,
            };
            if let Some(ended) = ended {
                run.take_ended(ended);
                continue;
            }
            if run.poll_input_check(context) {
                continue;
            }
            if let Some(effect) = &mut run.effect {
                let Poll::Ready(done) = effect.future.as_mut().poll(context) else {
                    return Poll::Pending;
                };
                run.effect = None;
                run.record(done);
                continue;
            }
            if let Some(answer) = &mut run.answer {
                let Poll::Ready(event) = answer.poll_next_unpin(context) else {
                    return Poll::Pending;
                };
                run.receive(event);
                continue;
            }
            if run.awaits_input_check() {
                return Poll::Pending;
            }
            if run.start_step() == Progress::Waits {
                return Poll::Pending;
            }
        }
    }
}

impl<C> fmt::Debug for Run<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Run").field("state", self.machine.view()).finish_non_exhaustive()
    }
}
