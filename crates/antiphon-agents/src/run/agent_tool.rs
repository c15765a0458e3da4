//! Agents as tools.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::Deserialize;

use super::{Run, RunResult};
use crate::agent::{Agent, WithModel};
use crate::machine::{Decision, End, InnerRun, RunState};
use crate::roster::Limits;
use crate::state::State;
use crate::team::Team;
use crate::tool::{
    Approval, OnUnknownOutcome, Parameters, SpecError, Tool, ToolContext, ToolError, ToolOutput,
    ToolSpec,
};
use crate::usage::RunUsage;

/// An agent that another agent calls as a tool.
///
/// A call runs the agent to its end: the argument is its input, and its last answer is the output.
/// The run has a state of its own, so the agent knows nothing about the outer conversation. It
/// shares the context, and its tokens count as tokens of the outer run. If the outer run is
/// cancelled, so is the inner one.
///
/// If calls of the inner run need a decision, the outer run waits for it: they are among
/// [`Run::waiting`], and [`Run::approve`] and the other decisions accept their `call_id`. The state
/// of the outer run has that of the inner one, so both survive a restart.
///
/// ```
/// use antiphon_agents::model::{ScriptedAnswer, ScriptedBackend};
/// use antiphon_agents::{Agent, Model, Run, State};
/// use serde_json::json;
///
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// let call = ScriptedAnswer::new().call("call_1", "translate", json!({"input": "Hello."}));
/// let translator = Agent::new("translator").model(Model::scripted(["Bonjour."]));
/// let writer = Agent::new("writer")
///     .tool(translator.as_tool("translate", "Translates a text to French."))
///     .model(Model::new("m", ScriptedBackend::new([call, "It is: Bonjour.".into()])));
/// let result = Run::start(&writer, State::empty(), "Hello?").unwrap().finish().await.unwrap();
/// assert_eq!(result.text(), "It is: Bonjour.");
/// assert_eq!(result.usage().requests, 3);
/// # });
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct AgentTool<C> {
    agent: Agent<C, WithModel>,
    spec: ToolSpec,
    limits: Limits,
}

/// The exchange between a run and the run of an agent inside a call.
#[derive(Debug, Default)]
pub(super) struct InnerExchange(Mutex<Exchanged>);

/// The data that both runs give each other.
#[derive(Debug, Default)]
pub(super) struct Exchanged {
    /// The inner run to continue.
    pub(super) resumed: Option<InnerRun>,
    /// The decisions about all calls of a tool.
    pub(super) standing: BTreeMap<String, Decision>,
    /// The tokens of the inner run in this call.
    pub(super) usage: RunUsage,
    /// The inner run, if it waits for decisions.
    pub(super) paused: Option<InnerRun>,
}

impl InnerExchange {
    pub(super) fn new(resumed: Option<InnerRun>, standing: BTreeMap<String, Decision>) -> Self {
        Self(Mutex::new(Exchanged { resumed, standing, ..Exchanged::default() }))
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, Exchanged> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The arguments of a call.
#[derive(Deserialize, JsonSchema)]
struct Arguments {
    /// The whole task, with everything that the agent needs to know.
    input: String,
}

impl<C> Agent<C, WithModel> {
    /// A tool that runs this agent. Its only argument is the text `input`.
    pub fn as_tool(&self, name: impl Into<String>, description: impl Into<String>) -> AgentTool<C> {
        let parameters = Parameters::from_type::<Arguments>();
        let spec = ToolSpec::function(name, description, parameters);
        AgentTool { agent: self.clone(), spec, limits: Limits::default() }
    }
}

impl<C> AgentTool<C> {
    /// Sets the limits of the inner run.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Requires an approval of every call, besides those of the agent's own calls.
    #[must_use]
    pub fn always_needs_approval(mut self) -> Self {
        self.spec.approval = Approval::Always;
        self
    }

    /// Sets the treatment of a call whose process died. With [`OnUnknownOutcome::Retry`], the inner
    /// run starts again where it waited last, or at its beginning.
    #[must_use]
    pub fn on_unknown(mut self, policy: OnUnknownOutcome) -> Self {
        self.spec.on_unknown = policy;
        self
    }
}

#[diagnostic::do_not_recommend]
#[async_trait]
impl<C: Send + Sync + 'static> Tool<C> for AgentTool<C> {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn check(&self) -> Result<(), SpecError> {
        match Team::new(&self.agent, self.limits.clone()) {
            Ok(_) => Ok(()),
            Err(error) => {
                Err(SpecError::Agent { tool: self.spec.name.clone(), reason: error.to_string() })
            }
        }
    }

    async fn call(
        &self,
        context: ToolContext<C>,
        arguments: &str,
    ) -> Result<ToolOutput, ToolError> {
        let exchange = context.extension::<InnerExchange>().unwrap_or_default();
        let resumed = exchange.lock().resumed.take();
        let mut run = match resumed {
            Some(inner) => self.resume(&inner, &context)?,
            None => self.start(self.spec.parse::<Arguments>(arguments)?.input, &context)?,
        };
        run.machine.add_standing(exchange.lock().standing.clone());
        let before = run.machine.view().usage();
        while run.next().await.is_some() {
            exchange.lock().usage = run.machine.view().usage().since(&before);
        }
        let waiting = run.waiting();
        if !waiting.is_empty() {
            let inner = InnerRun::new(run.suspend().to_json(), &waiting);
            exchange.lock().paused = Some(inner);
            return Err(ToolError::new("the agent waits for decisions"));
        }
        output_of(&run.into_result().await.map_err(|error| ToolError::new(error.to_string()))?)
    }
}

impl<C: Send + Sync + 'static> AgentTool<C> {
    fn start(&self, input: String, context: &ToolContext<C>) -> Result<Run<C>, ToolError> {
        let run = Run::start_with(&self.agent, State::empty(), input, context.shared());
        Ok(run.map_err(ToolError::fatal)?.limits(self.limits.clone()))
    }

    fn resume(&self, inner: &InnerRun, context: &ToolContext<C>) -> Result<Run<C>, ToolError> {
        let state = RunState::read(&inner.state).map_err(ToolError::fatal)?;
        let run = Run::resume(&self.agent, state, None, context.shared());
        let mut run = run.map_err(ToolError::fatal)?.limits(self.limits.clone());
        for (key, decision) in inner.decisions() {
            let decided = run.machine.decide(key.call_id.as_str(), decision);
            decided.map_err(ToolError::fatal)?;
        }
        Ok(run)
    }
}

fn output_of(result: &RunResult) -> Result<ToolOutput, ToolError> {
    match result.end() {
        End::Answered { .. } => Ok(result.text().into()),
        End::StoppedAtTool { .. } => {
            let output = result.items().last().map(|item| item.object());
            let text = output.and_then(|output| output.string("output").map(String::from));
            Ok(text.unwrap_or_default().into())
        }
        end => {
            Err(ToolError::new(format!("The agent '{}' did not finish: {end}.", result.agent())))
        }
    }
}
