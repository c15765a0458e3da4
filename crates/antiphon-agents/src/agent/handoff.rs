//! Handoffs: an agent passes the conversation to another one.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use antiphon::Item;
use async_trait::async_trait;

use super::{Agent, Parts, filters};
use crate::model::ToolDefinition;
use crate::roster::{HandoffFacts, transfer_text};
use crate::tool::{
    IntoToolResult, NoArguments, Parameters, SpecError, Tool, ToolArgument, ToolContext, ToolError,
    ToolKind, ToolOutput, ToolSpec, as_tool_name,
};

/// A function that chooses the items that the next agent is given.
pub(crate) type Filter = Arc<dyn Fn(Vec<Item>) -> Vec<Item> + Send + Sync>;

type Predicate<C> = Arc<dyn Fn(&C) -> bool + Send + Sync>;
type HandoffFuture = Pin<Box<dyn Future<Output = Result<(), ToolError>> + Send>>;
type Function<C> = Arc<dyn Fn(&ToolSpec, ToolContext<C>, &str) -> HandoffFuture + Send + Sync>;

/// A handoff to an agent. The model sees it as a tool.
///
/// If an answer has several handoffs, the first one counts. The model reads as the output of each
/// other one that it was not made.
///
/// ```
/// use antiphon_agents::{Agent, Handoff, ToolContext};
/// use schemars::JsonSchema;
/// use serde::Deserialize;
///
/// #[derive(Deserialize, JsonSchema)]
/// struct Reason {
///     /// The reason for the handoff in one sentence.
///     reason: String,
/// }
///
/// let billing = Agent::<(), _>::new("billing").handoff_to("triage");
/// let handoff = Handoff::to(&billing)
///     .description("Refunds and invoices.")
///     .on_handoff(async |cx: ToolContext, input: Reason| {
///         println!("{}: {}", cx.call_id(), input.reason);
///     })
///     .nested();
/// assert_eq!(handoff.tool_name(), "transfer_to_billing");
/// let triage = Agent::new("triage").handoff(handoff);
/// # let _ = triage;
/// ```
pub struct Handoff<C> {
    target: Target<C>,
    spec: ToolSpec,
    filter: Option<Filter>,
    function: Option<Function<C>>,
    is_enabled: Option<Predicate<C>>,
}

/// The next agent.
enum Target<C> {
    Agent(Arc<Parts<C>>),
    /// An agent of the run, by its name.
    Name(String),
}

impl<C> Handoff<C> {
    /// A handoff to `agent`.
    pub fn to<M>(agent: &Agent<C, M>) -> Self {
        Self::new(Target::Agent(Arc::clone(agent.parts())))
    }

    /// A handoff to the agent with this name, which the run reaches in another way. So agents can
    /// hand over to each other. A run does not start if no agent has the name:
    /// [`TeamError::UnknownTarget`](crate::TeamError::UnknownTarget).
    pub fn to_name(agent: impl Into<String>) -> Self {
        Self::new(Target::Name(agent.into()))
    }

    fn new(target: Target<C>) -> Self {
        let agent = target.name();
        let name = format!("transfer_to_{}", as_tool_name(agent));
        let description = format!("Passes the conversation to the agent '{agent}'.");
        let parameters = Parameters::from_type::<NoArguments>();
        let spec = ToolSpec::function(name, description, parameters);
        Self { target, spec, filter: None, function: None, is_enabled: None }
    }

    /// The name of the tool; by default `transfer_to_` and the name of the agent.
    #[must_use]
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.spec.name = name.into();
        self
    }

    /// The description of the tool, which the model reads.
    #[must_use]
    pub fn description(mut self, description: impl Into<String>) -> Self {
        self.spec.description = description.into();
        self
    }

    /// Chooses the items that the next agent is given, after the filters that were added before.
    /// Stored items do not change.
    ///
    /// If a server owns the state, the run continues in a new conversation or chain that begins
    /// with these items; see [`RunState::forks`](crate::machine::RunState::forks).
    #[must_use]
    pub fn filter(
        mut self,
        filter: impl Fn(Vec<Item>) -> Vec<Item> + Send + Sync + 'static,
    ) -> Self {
        self.filter = Some(match self.filter {
            Some(first) => Arc::new(move |items| filter(first(items))),
            None => Arc::new(filter),
        });
        self
    }

    /// Gives the next agent the whole conversation as one message of the user: a line for each
    /// message, call and output, with its text as a JSON string. Images and files are JSON, too;
    /// reasoning is left out. Compacted items stay before the message. It is a
    /// [`filter`](Self::filter).
    #[must_use]
    pub fn nested(self) -> Self {
        self.filter(|items| filters::nested(&items))
    }

    /// Gives the next agent no calls, no outputs and no reasoning. It is a
    /// [`filter`](Self::filter).
    #[must_use]
    pub fn remove_tools(self) -> Self {
        self.filter(filters::without_tools)
    }

    /// Offers the handoff to the model, or not.
    #[must_use]
    pub fn enabled(self, is_enabled: bool) -> Self {
        self.enabled_if(move |_| is_enabled)
    }

    /// Offers the handoff to the model if `rule` returns true for the context of the run. It is
    /// asked before each request, and for each call: a model that calls a disabled handoff reads
    /// that it is not available.
    #[must_use]
    pub fn enabled_if(mut self, rule: impl Fn(&C) -> bool + Send + Sync + 'static) -> Self {
        self.is_enabled = Some(Arc::new(rule));
        self
    }

    /// The name of the tool.
    pub fn tool_name(&self) -> &str {
        &self.spec.name
    }

    /// The description of the tool.
    pub fn tool_description(&self) -> &str {
        &self.spec.description
    }

    /// The name of the next agent.
    pub fn target(&self) -> &str {
        self.target.name()
    }

    /// The next agent, unless the handoff has its name only.
    pub(crate) fn target_parts(&self) -> Option<&Arc<Parts<C>>> {
        match &self.target {
            Target::Agent(parts) => Some(parts),
            Target::Name(_) => None,
        }
    }

    /// The tool that the model sees.
    pub(crate) fn definition(&self) -> Result<ToolDefinition, SpecError> {
        self.spec.definition()
    }

    pub(crate) fn facts(&self) -> HandoffFacts {
        HandoffFacts {
            target: self.target().to_owned(),
            has_view: self.filter.is_some(),
            has_function: self.has_function(),
        }
    }

    /// Whether a call runs as a tool before the handoff is made.
    pub(crate) fn has_function(&self) -> bool {
        self.function.is_some() || self.is_enabled.is_some()
    }

    pub(crate) fn view(&self) -> Option<&Filter> {
        self.filter.as_ref()
    }

    pub(crate) fn is_enabled(&self, context: &C) -> bool {
        self.is_enabled.as_ref().is_none_or(|rule| rule(context))
    }
}

impl<C: Send + Sync + 'static> Handoff<C> {
    /// Requires arguments of the type `T`. Arguments that do not match are returned to the model,
    /// and the handoff is not made.
    #[must_use]
    pub fn input<T: ToolArgument>(self) -> Self {
        self.on_handoff(async |_: ToolContext<C>, _: T| {})
    }

    /// Runs a function with the arguments of the model before the handoff is made. A handoff
    /// without arguments uses [`NoArguments`].
    ///
    /// It runs once for each call, with its `call_id` as the key for idempotency, like a tool. If
    /// it fails, the model reads the error, and the agent continues.
    #[must_use]
    pub fn on_handoff<T, F, R>(
        mut self,
        run: impl Fn(ToolContext<C>, T) -> F + Send + Sync + 'static,
    ) -> Self
    where
        T: ToolArgument,
        F: Future<Output = R> + Send + 'static,
        R: IntoToolResult,
    {
        self.spec.kind = ToolKind::Function(Parameters::from_type::<T>());
        self.function = Some(Arc::new(move |spec, context, arguments| {
            let running = spec.parse(arguments).map(|input| run(context, input));
            Box::pin(async move {
                running?.await.into_tool_result()?;
                Ok(())
            })
        }));
        self
    }
}

/// A call of a handoff that runs as a tool.
pub(crate) struct HandoffTool<C>(pub(crate) Handoff<C>);

#[async_trait]
impl<C: Send + Sync + 'static> Tool<C> for HandoffTool<C> {
    fn spec(&self) -> &ToolSpec {
        &self.0.spec
    }

    async fn call(
        &self,
        context: ToolContext<C>,
        arguments: &str,
    ) -> Result<ToolOutput, ToolError> {
        let handoff = &self.0;
        if !handoff.is_enabled(context.context()) {
            let name = handoff.tool_name();
            return Err(ToolError::new(format!("The handoff '{name}' is not available.")));
        }
        if let Some(function) = &handoff.function {
            function(&handoff.spec, context, arguments).await?;
        }
        Ok(ToolOutput::text(transfer_text(handoff.target())))
    }
}

impl<C> Target<C> {
    fn name(&self) -> &str {
        match self {
            Self::Agent(parts) => &parts.name,
            Self::Name(name) => name,
        }
    }
}

impl<C, M> From<&Agent<C, M>> for Handoff<C> {
    fn from(agent: &Agent<C, M>) -> Self {
        Self::to(agent)
    }
}

impl<C> Clone for Target<C> {
    fn clone(&self) -> Self {
        match self {
            Self::Agent(parts) => Self::Agent(Arc::clone(parts)),
            Self::Name(name) => Self::Name(name.clone()),
        }
    }
}

impl<C> Clone for Handoff<C> {
    fn clone(&self) -> Self {
        Self {
            target: self.target.clone(),
            spec: self.spec.clone(),
            filter: self.filter.clone(),
            function: self.function.clone(),
            is_enabled: self.is_enabled.clone(),
        }
    }
}
