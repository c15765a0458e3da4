//! Agents: a model with instructions, tools and handoffs.

mod filters;
mod handoff;

use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use schemars::JsonSchema;

pub use handoff::Handoff;
pub(crate) use handoff::HandoffTool;

use crate::guardrail::{InputGuardrail, OutputGuardrail, ToolGuardrail};
use crate::model::{Model, ModelSettings, ToolChoice};
use crate::output::OutputType;
use crate::roster::StopRule;
use crate::tool::{ErrorText, HostedTool, Tool, ToolError};

/// An agent. `C` is the context that the application shares with its tools; a clone is cheap.
///
/// `M` is [`WithModel`] once the agent has a model. The first agent of a run needs one; an agent
/// without a model uses that of the agent before it.
///
/// ```
/// use antiphon_agents::{Agent, Model};
///
/// let billing = Agent::new("billing").instructions("You refund orders.");
/// let triage = Agent::new("triage").handoff(&billing).model(Model::scripted(["Hello."]));
/// # let _: Agent<(), _> = triage;
/// ```
pub struct Agent<C = (), M = NoModel> {
    parts: Arc<Parts<C>>,
    model: PhantomData<M>,
}

/// An agent without a model of its own.
#[derive(Clone, Copy, Debug)]
pub enum NoModel {}

/// An agent with a model of its own.
#[derive(Clone, Copy, Debug)]
pub enum WithModel {}

/// An agent that can be the first of a run.
#[diagnostic::on_unimplemented(
    message = "the first agent of a run has no model",
    label = "this agent has no model",
    note = "give it one: `Agent::new(\"name\").model(Model::responses(\"MODEL\"))`"
)]
pub trait HasModel {}

impl HasModel for WithModel {}

/// A first agent whose tools share no context, so that a run needs none.
#[diagnostic::on_unimplemented(
    message = "the tools of this agent share a context, and the run has none",
    label = "this agent needs a context",
    note = "give its value to the run: `Run::start_with(&agent, state, input, context)`"
)]
pub trait WithoutContext {
    /// The kind of its model.
    type Model: HasModel;

    /// The same agent.
    fn without_context(&self) -> &Agent<(), Self::Model>;
}

impl<M: HasModel> WithoutContext for Agent<(), M> {
    type Model = M;

    fn without_context(&self) -> &Self {
        self
    }
}

/// The instructions of an agent.
pub(crate) enum Instructions<C> {
    Text(String),
    Function(Box<dyn Fn(&C) -> String + Send + Sync>),
}

pub(crate) struct Parts<C> {
    pub(crate) name: String,
    pub(crate) instructions: Option<Arc<Instructions<C>>>,
    pub(crate) model: Option<Model>,
    pub(crate) settings: ModelSettings,
    pub(crate) tool_choice: Option<ToolChoice>,
    pub(crate) tools: Vec<Arc<dyn Tool<C>>>,
    pub(crate) hosted: Vec<HostedTool>,
    pub(crate) handoffs: Vec<Handoff<C>>,
    pub(crate) output: Option<OutputType>,
    pub(crate) stop: StopRule,
    pub(crate) input_guardrails: Vec<Arc<dyn InputGuardrail<C>>>,
    pub(crate) output_guardrails: Vec<Arc<dyn OutputGuardrail<C>>>,
    /// Input guardrails that run beside the first request.
    pub(crate) concurrent_guardrails: Vec<Arc<dyn InputGuardrail<C>>>,
    /// The guardrails of all tools, and those of the tool with a name.
    pub(crate) tool_guardrails: Vec<(Option<String>, Arc<dyn ToolGuardrail<C>>)>,
    pub(crate) error_text: Option<ErrorText>,
}

impl<C> Agent<C, NoModel> {
    /// Creates an agent. Its name identifies it in a run, and in the state of a run.
    pub fn new(name: impl Into<String>) -> Self {
        let parts = Parts {
            name: name.into(),
            instructions: None,
            model: None,
            settings: ModelSettings::default(),
            tool_choice: None,
            tools: Vec::new(),
            hosted: Vec::new(),
            handoffs: Vec::new(),
            output: None,
            stop: StopRule::default(),
            input_guardrails: Vec::new(),
            output_guardrails: Vec::new(),
            concurrent_guardrails: Vec::new(),
            tool_guardrails: Vec::new(),
            error_text: None,
        };
        Self { parts: Arc::new(parts), model: PhantomData }
    }
}

impl<C, M> Agent<C, M> {
    /// The name.
    pub fn name(&self) -> &str {
        &self.parts.name
    }

    /// The model that answers.
    #[must_use]
    pub fn model(self, model: Model) -> Agent<C, WithModel> {
        let Self { parts, .. } = self.with(|parts| parts.model = Some(model));
        Agent { parts, model: PhantomData }
    }

    /// The instructions.
    #[must_use]
    pub fn instructions(self, text: impl Into<String>) -> Self {
        let text = Instructions::Text(text.into());
        self.with(|parts| parts.instructions = Some(Arc::new(text)))
    }

    /// The instructions, from the context of the run.
    #[must_use]
    pub fn instructions_from(
        self,
        function: impl Fn(&C) -> String + Send + Sync + 'static,
    ) -> Self {
        let function = Instructions::Function(Box::new(function));
        self.with(|parts| parts.instructions = Some(Arc::new(function)))
    }

    /// Adds a tool.
    #[must_use]
    pub fn tool(self, tool: impl Tool<C>) -> Self {
        self.with(|parts| parts.tools.push(Arc::new(tool)))
    }

    /// Adds tools.
    #[must_use]
    pub fn tools(self, tools: impl IntoIterator<Item = impl Tool<C>>) -> Self {
        tools.into_iter().fold(self, Self::tool)
    }

    /// Adds a tool that the provider runs.
    #[must_use]
    pub fn hosted_tool(self, tool: HostedTool) -> Self {
        self.with(|parts| parts.hosted.push(tool))
    }

    /// Adds an agent to which this one can hand over.
    #[must_use]
    pub fn handoff(self, handoff: impl Into<Handoff<C>>) -> Self {
        self.with(|parts| parts.handoffs.push(handoff.into()))
    }

    /// Adds an agent of the run, by its name, to which this one can hand over: agents can hand over
    /// to each other. See [`Handoff::to_name`].
    #[must_use]
    pub fn handoff_to(self, agent: impl Into<String>) -> Self {
        self.handoff(Handoff::to_name(agent))
    }

    /// The last answer is JSON of this type. An answer that is not is returned to the model once,
    /// with the error.
    #[must_use]
    pub fn output<T: JsonSchema>(self) -> Self {
        let output = OutputType::new::<T>();
        self.with(|parts| parts.output = Some(output))
    }

    /// The last answer is JSON of this type, as with [`output`](Self::output), but the provider
    /// uses the schema as a hint only: a type with maps or values of any form has no strict schema.
    #[must_use]
    pub fn output_not_strict<T: JsonSchema>(self) -> Self {
        let output = OutputType::new::<T>().not_strict();
        self.with(|parts| parts.output = Some(output))
    }

    /// The parameters of requests.
    #[must_use]
    pub fn settings(self, settings: ModelSettings) -> Self {
        self.with(|parts| parts.settings = settings)
    }

    /// The tools that the model may or must call.
    #[must_use]
    pub fn tool_choice(self, choice: ToolChoice) -> Self {
        self.with(|parts| parts.tool_choice = Some(choice))
    }

    /// The calls whose output ends the run.
    #[must_use]
    pub fn stop_at(self, stop: StopRule) -> Self {
        self.with(|parts| parts.stop = stop)
    }

    /// Adds a tool whose calls this guardrail checks.
    #[must_use]
    pub fn guarded_tool(self, tool: impl Tool<C>, guardrail: impl ToolGuardrail<C>) -> Self {
        let name = tool.spec().name.clone();
        self.tool(tool).with(|parts| {
            parts.tool_guardrails.push((Some(name), Arc::new(guardrail)));
        })
    }

    /// Adds a check of the calls of all tools of the agent.
    #[must_use]
    pub fn tool_guardrail(self, guardrail: impl ToolGuardrail<C>) -> Self {
        self.with(|parts| parts.tool_guardrails.push((None, Arc::new(guardrail))))
    }

    /// Writes the text of a tool's error for the model, in place of its message. A tool with its
    /// own [`ErrorText`] uses that.
    #[must_use]
    pub fn tool_error_text(
        self,
        text: impl Fn(&ToolError) -> String + Send + Sync + 'static,
    ) -> Self {
        self.with(|parts| parts.error_text = Some(ErrorText::new(text)))
    }

    /// Adds a check of the input of a run that begins with this agent, beside the first request.
    ///
    /// No event of the answer is reported, no tool runs and no answer is stored before it has
    /// passed. If it trips, the answer is cancelled, and only the input is stored.
    /// A server stores the answer of a cancelled request in its conversation, perhaps later. So in
    /// a conversation the run waits for the end of the answer, and deletes it there.
    #[must_use]
    pub fn concurrent_input_guardrail(self, guardrail: impl InputGuardrail<C>) -> Self {
        self.with(|parts| parts.concurrent_guardrails.push(Arc::new(guardrail)))
    }

    /// Adds a check of the input of a run that begins with this agent, before the first request.
    #[must_use]
    pub fn input_guardrail(self, guardrail: impl InputGuardrail<C>) -> Self {
        self.with(|parts| parts.input_guardrails.push(Arc::new(guardrail)))
    }

    /// Adds a check of the last answer.
    #[must_use]
    pub fn output_guardrail(self, guardrail: impl OutputGuardrail<C>) -> Self {
        self.with(|parts| parts.output_guardrails.push(Arc::new(guardrail)))
    }

    pub(crate) fn parts(&self) -> &Arc<Parts<C>> {
        &self.parts
    }

    fn with(mut self, change: impl FnOnce(&mut Parts<C>)) -> Self {
        change(Arc::make_mut(&mut self.parts));
        self
    }
}

impl<C> Instructions<C> {
    pub(crate) fn text(&self, context: &C) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Function(function) => function(context),
        }
    }
}

impl<C, M> Clone for Agent<C, M> {
    fn clone(&self) -> Self {
        Self { parts: Arc::clone(&self.parts), model: PhantomData }
    }
}

/// `C` need not be `Clone`.
impl<C> Clone for Parts<C> {
    fn clone(&self) -> Self {
        Self {
            name: self.name.clone(),
            instructions: self.instructions.clone(),
            model: self.model.clone(),
            settings: self.settings.clone(),
            tool_choice: self.tool_choice.clone(),
            tools: self.tools.clone(),
            hosted: self.hosted.clone(),
            handoffs: self.handoffs.clone(),
            output: self.output.clone(),
            stop: self.stop.clone(),
            input_guardrails: self.input_guardrails.clone(),
            output_guardrails: self.output_guardrails.clone(),
            concurrent_guardrails: self.concurrent_guardrails.clone(),
            tool_guardrails: self.tool_guardrails.clone(),
            error_text: self.error_text.clone(),
        }
    }
}

impl<C: 'static, M> fmt::Debug for Agent<C, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tools: Vec<_> = self.parts.tools.iter().map(|tool| &tool.spec().name).collect();
        let handoffs: Vec<_> = self.parts.handoffs.iter().map(Handoff::target).collect();
        f.debug_struct("Agent")
            .field("name", &self.parts.name)
            .field("model", &self.parts.model)
            .field("tools", &tools)
            .field("handoffs", &handoffs)
            .finish_non_exhaustive()
    }
}
