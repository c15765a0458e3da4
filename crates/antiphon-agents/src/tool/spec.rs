//! The description of a tool: everything except its function.

use std::time::Duration;

use super::{
    Approval, ErrorText, Grammar, InvalidArguments, OnUnknownOutcome, Parameters, SchemaFault,
    ToolArgument, ToolError, ToolErrorKind,
};
use crate::model::ToolDefinition;
use crate::roster::ToolFacts;

/// The longest name of a tool in characters.
const LONGEST_NAME: usize = 64;

/// The description of a tool. A runner applies the policies; see [`Tool::call`](super::Tool::call).
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ToolSpec {
    /// The name by which the model calls the tool: at most 64 letters, digits, `_` and `-`.
    pub name: String,
    /// The model's instructions for its use.
    pub description: String,
    /// The form of its input.
    pub kind: ToolKind,
    /// The time after which the runner cancels a call; `None` for no limit.
    pub timeout: Option<Duration>,
    /// Whether its calls need an approval.
    pub approval: Approval,
    /// The treatment of a call whose outcome is unknown.
    pub on_unknown: OnUnknownOutcome,
    /// The effect of its errors on the run.
    pub on_error: OnToolError,
    /// The text of an error for the model; `None` for that of the agent, or else its message.
    pub error_text: Option<ErrorText>,
}

/// The form of a tool's input.
#[derive(Clone, Debug, PartialEq)]
pub enum ToolKind {
    /// JSON that matches a schema.
    Function(Parameters),
    /// Text, whose form a grammar may restrict.
    Custom(Option<Grammar>),
}

/// The effect of a tool's error on the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnToolError {
    /// The model reads the error as the output of the call, and the run continues.
    #[default]
    Output,
    /// The run ends with the error.
    EndRun,
}

/// The reason why a run cannot start with a tool.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SpecError {
    /// The name has a form that the API does not allow.
    #[error("'{0}' cannot be the name of a tool: use 1 to 64 letters, digits, '_' and '-'")]
    Name(String),
    /// The parameters have no schema that the API accepts.
    #[error("the tool '{tool}' has no valid schema: {fault}")]
    Parameters {
        /// The name of the tool.
        tool: String,
        /// The reason.
        fault: SchemaFault,
    },
    /// The agents of an agent that is a tool do not fit together.
    #[error("the agent in the tool '{tool}' cannot run: {reason}")]
    Agent {
        /// The name of the tool.
        tool: String,
        /// The reason.
        reason: String,
    },
}

impl ToolSpec {
    /// Describes a function.
    pub fn function(
        name: impl Into<String>,
        description: impl Into<String>,
        parameters: Parameters,
    ) -> Self {
        Self::new(name.into(), description.into(), ToolKind::Function(parameters))
    }

    /// Describes a tool whose input is text.
    pub fn custom(
        name: impl Into<String>,
        description: impl Into<String>,
        grammar: Option<Grammar>,
    ) -> Self {
        Self::new(name.into(), description.into(), ToolKind::Custom(grammar))
    }

    fn new(name: String, description: String, kind: ToolKind) -> Self {
        Self {
            name,
            description,
            kind,
            timeout: None,
            approval: Approval::default(),
            on_unknown: OnUnknownOutcome::default(),
            on_error: OnToolError::default(),
            error_text: None,
        }
    }

    /// The definition in the JSON of the Responses API.
    ///
    /// ```
    /// use antiphon_agents::tool::{Parameters, ToolSpec};
    ///
    /// let parameters = Parameters::from_argument::<String>("city", "");
    /// let definition = ToolSpec::function("weather", "", parameters).definition().unwrap();
    /// assert_eq!(definition.json(), concat!(
    ///     r#"{"type":"function","name":"weather","parameters":{"additionalProperties":false,"#,
    ///     r#""properties":{"city":{"type":"string"}},"required":["city"],"type":"object"},"#,
    ///     r#""strict":true}"#,
    /// ));
    /// ```
    pub fn definition(&self) -> Result<ToolDefinition, SpecError> {
        if !is_name(&self.name) {
            return Err(SpecError::Name(self.name.clone()));
        }
        Ok(match &self.kind {
            ToolKind::Function(parameters) => {
                let schema = parameters.schema();
                let schema = schema
                    .map_err(|fault| SpecError::Parameters { tool: self.name.clone(), fault })?;
                let is_strict = parameters.is_strict();
                ToolDefinition::function(&self.name, &self.description, schema, is_strict)
            }
            ToolKind::Custom(grammar) => {
                let format = grammar.as_ref().map(Grammar::to_json);
                ToolDefinition::custom(&self.name, &self.description, format)
            }
        })
    }

    /// The facts that decide the steps of a run.
    pub fn facts(&self) -> ToolFacts {
        ToolFacts { approval: self.approval, on_unknown: self.on_unknown }
    }

    /// Validates the arguments of a call and reads them as `T`; see [`Parameters::parse`]. The
    /// input of a custom tool is a string.
    pub fn parse<T: ToolArgument>(&self, arguments: &str) -> Result<T, InvalidArguments> {
        let parsed = match &self.kind {
            ToolKind::Function(parameters) => parameters.parse(arguments),
            ToolKind::Custom(_) => Parameters::parse_text(arguments),
        };
        parsed.map_err(|faults| InvalidArguments { tool: self.name.clone(), faults })
    }

    /// Whether `error` ends the run. Otherwise the model reads it as the output of the call.
    pub fn ends_run(&self, error: &ToolError) -> bool {
        match error.kind() {
            ToolErrorKind::Fatal => true,
            ToolErrorKind::InvalidArguments => false,
            ToolErrorKind::Failed | ToolErrorKind::TimedOut => self.on_error == OnToolError::EndRun,
        }
    }
}

/// The name with `_` for every character that the name of a tool cannot have.
pub(crate) fn as_tool_name(name: &str) -> String {
    name.chars().map(|letter| if is_allowed(letter) { letter } else { '_' }).collect()
}

fn is_name(name: &str) -> bool {
    (1..=LONGEST_NAME).contains(&name.len()) && name.chars().all(is_allowed)
}

fn is_allowed(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-')
}
