//! Guardrails: checks of the input, of the calls of tools and of the last answer of a run.

use antiphon::Item;
use async_trait::async_trait;

use crate::tool::{ToolContext, ToolOutput};

/// The verdict of a guardrail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The run continues.
    Pass,
    /// The run ends.
    Trip,
}

/// A check of the input of a run, before the first request or beside it.
#[async_trait]
pub trait InputGuardrail<C>: Send + Sync + 'static {
    /// The name, for the end of the run.
    fn name(&self) -> &str;

    /// Checks the input.
    async fn check(&self, context: &C, input: &[Item]) -> Verdict;
}

/// A check of the last answer, before it is stored.
///
/// A server's conversation stores the answer at once: a rejected one is deleted there. A chain
/// continues from the response before it.
#[async_trait]
pub trait OutputGuardrail<C>: Send + Sync + 'static {
    /// The name, for the end of the run.
    fn name(&self) -> &str;

    /// Checks the items of the answer.
    async fn check(&self, context: &C, answer: &[Item]) -> Verdict;
}

/// The verdict of a guardrail about a call before its tool runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CallVerdict {
    /// The tool runs.
    Pass,
    /// The tool does not run, and the model reads this text.
    Reject(String),
    /// The tool does not run, and the run ends.
    Trip,
}

/// The verdict of a guardrail about the output of a tool.
#[derive(Clone, Debug, PartialEq)]
pub enum OutputVerdict {
    /// The model reads the output.
    Pass,
    /// The model reads this output in its place.
    Replace(ToolOutput),
    /// The output is not stored, and the run ends.
    Trip,
}

/// A check of the calls of tools: before, with the arguments, and after, with the output. Errors of
/// tools are not checked.
///
/// ```
/// use antiphon_agents::tool::{ToolContext, ToolOutput, tool};
/// use antiphon_agents::{Agent, CallVerdict, Model, OutputVerdict, Run, State, ToolGuardrail};
///
/// /// Reads a file.
/// #[tool]
/// async fn read(path: String) -> String {
///     format!("the password of {path} is 1234")
/// }
///
/// struct NoSecrets;
///
/// #[async_trait::async_trait]
/// impl ToolGuardrail<()> for NoSecrets {
///     fn name(&self) -> &str {
///         "no secrets"
///     }
///
///     async fn before(&self, _: &ToolContext, arguments: &str) -> CallVerdict {
///         match arguments.contains("/etc") {
///             true => CallVerdict::Reject("Files in /etc cannot be read.".into()),
///             false => CallVerdict::Pass,
///         }
///     }
///
///     async fn after(&self, _: &ToolContext, output: &ToolOutput) -> OutputVerdict {
///         match output {
///             ToolOutput::Text(text) if text.contains("password") => {
///                 OutputVerdict::Replace("(withheld)".into())
///             }
///             _ => OutputVerdict::Pass,
///         }
///     }
/// }
///
/// let agent = Agent::new("reader").guarded_tool(read, NoSecrets);
/// # let _: Agent = agent;
/// ```
#[async_trait]
pub trait ToolGuardrail<C>: Send + Sync + 'static {
    /// The name, for the end of the run.
    fn name(&self) -> &str;

    /// Checks a call before its tool runs, and after its approval.
    async fn before(&self, context: &ToolContext<C>, arguments: &str) -> CallVerdict
    where
        C: Send + Sync,
    {
        let _ = (context, arguments);
        CallVerdict::Pass
    }

    /// Checks the output of a call before it is stored.
    async fn after(&self, context: &ToolContext<C>, output: &ToolOutput) -> OutputVerdict
    where
        C: Send + Sync,
    {
        let _ = (context, output);
        OutputVerdict::Pass
    }
}
