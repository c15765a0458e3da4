//! The reasons why agents do not fit together.

use crate::tool::{SchemaFault, SpecError};

/// The reason why the agents of a run do not fit together.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TeamError {
    /// Two different agents have one name.
    #[error("two agents have the name '{0}'")]
    RepeatedAgent(String),
    /// Two tools or handoffs of an agent have one name.
    #[error("the agent '{agent}' has two tools with the name '{tool}'")]
    RepeatedTool {
        /// The name of the agent.
        agent: String,
        /// The name of the tool.
        tool: String,
    },
    /// A handoff names an agent that the run does not reach.
    #[error(
        "the agent '{agent}' hands over to '{target}', which is no agent of the run: \
         add a handoff to it with `Handoff::to`, or correct the name"
    )]
    UnknownTarget {
        /// The agent with the handoff.
        agent: String,
        /// The name in the handoff.
        target: String,
    },
    /// The state of a run names an agent that the first agent does not reach.
    #[error("the run stopped at the agent '{0}', which this agent does not reach")]
    UnknownAgent(String),
    /// A tool is not valid.
    #[error(transparent)]
    Tool(#[from] SpecError),
    /// The output type of an agent has no schema that the API accepts.
    /// [`Agent::output_not_strict`](crate::Agent::output_not_strict) accepts more types.
    #[error("the output type of the agent '{agent}' has no valid schema: {fault}")]
    Output {
        /// The name of the agent.
        agent: String,
        /// The reason.
        fault: SchemaFault,
    },
    /// The settings of an agent have a field that the run itself sets.
    #[error("the settings of the agent '{agent}' have the field '{field}': {}", instead_of(.field))]
    Setting {
        /// The name of the agent.
        agent: String,
        /// The name of the field.
        field: String,
    },
}

debug_as_text!(TeamError);

/// The fields of a request that the run sets, each with the way to set it.
pub(super) const OWN_FIELDS: [(&str, &str); 8] = [
    ("conversation", "name it with `State::conversation`, the one owner of the items"),
    ("previous_response_id", "name it with `State::chain_after`, the one owner of the items"),
    ("input", "give it to `Run::start`"),
    ("instructions", "set them with `Agent::instructions`"),
    ("model", "set it with `Agent::model`"),
    ("tools", "add them with `Agent::tool` or `Agent::hosted_tool`"),
    ("tool_choice", "set it with `Agent::tool_choice`"),
    ("stream", "answers are always streamed"),
];

/// The way to set a field of a request that the settings must not have.
fn instead_of(field: &str) -> &'static str {
    OWN_FIELDS.iter().find(|(name, _)| *name == field).map_or("remove it", |(_, way)| *way)
}
