//! Handoffs: an agent passes the conversation to another one.

use std::sync::Arc;

use antiphon::Item;

use super::{Agent, Parts};
use crate::model::ToolDefinition;
use crate::tool::{NoArguments, Parameters, ToolSpec};

/// A function that chooses the items that the next agent is given.
pub(crate) type Filter = Arc<dyn Fn(Vec<Item>) -> Vec<Item> + Send + Sync>;

/// A handoff to an agent. The model sees it as a tool.
///
/// ```
/// use antiphon_agents::{Agent, Handoff};
///
/// let billing = Agent::<(), _>::new("billing");
/// let handoff = Handoff::to(&billing)
///     .description("Refunds and invoices.")
///     .filter(|items| items.into_iter().rev().take(5).rev().collect());
/// assert_eq!(handoff.tool_name(), "transfer_to_billing");
/// ```
pub struct Handoff<C> {
    target: Arc<Parts<C>>,
    name: String,
    description: String,
    filter: Option<Filter>,
}

impl<C> Handoff<C> {
    /// A handoff to `agent`.
    pub fn to<M>(agent: &Agent<C, M>) -> Self {
        let target = Arc::clone(agent.parts());
        let name = format!("transfer_to_{}", as_tool_name(&target.name));
        let description = format!("Passes the conversation to the agent '{}'.", target.name);
        Self { target, name, description, filter: None }
    }

    /// The name of the tool; by default `transfer_to_` and the name of the agent.
    #[must_use]
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// The description of the tool, which the model reads.
    #[must_use]
    pub fn description(mut self, description: impl Into<String>) -> Self {
        self.description = description.into();
        self
    }

    /// Chooses the items that the next agent is given. Stored items do not change.
    ///
    /// If a server owns the state, the run continues in a new conversation or chain that begins
    /// with these items; see [`RunState::forks`](crate::machine::RunState::forks).
    #[must_use]
    pub fn filter(
        mut self,
        filter: impl Fn(Vec<Item>) -> Vec<Item> + Send + Sync + 'static,
    ) -> Self {
        self.filter = Some(Arc::new(filter));
        self
    }

    /// The name of the tool.
    pub fn tool_name(&self) -> &str {
        &self.name
    }

    /// The description of the tool.
    pub fn tool_description(&self) -> &str {
        &self.description
    }

    /// The name of the next agent.
    pub fn target(&self) -> &str {
        &self.target.name
    }

    pub(crate) fn target_parts(&self) -> &Arc<Parts<C>> {
        &self.target
    }

    /// The tool that the model sees.
    pub(crate) fn definition(&self) -> ToolDefinition {
        let parameters = Parameters::from_type::<NoArguments>();
        let spec = ToolSpec::function(self.name.clone(), self.description.clone(), parameters);
        spec.definition().expect("the name of a handoff is valid")
    }

    pub(crate) fn view(&self) -> Option<&Filter> {
        self.filter.as_ref()
    }
}

/// The name with `_` for every character that the name of a tool cannot have.
fn as_tool_name(name: &str) -> String {
    let allowed = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-');
    name.chars().map(|letter| if allowed(letter) { letter } else { '_' }).collect()
}

impl<C, M> From<&Agent<C, M>> for Handoff<C> {
    fn from(agent: &Agent<C, M>) -> Self {
        Self::to(agent)
    }
}

impl<C> Clone for Handoff<C> {
    fn clone(&self) -> Self {
        Self {
            target: Arc::clone(&self.target),
            name: self.name.clone(),
            description: self.description.clone(),
            filter: self.filter.clone(),
        }
    }
}
