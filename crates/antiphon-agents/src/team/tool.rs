//! Runs the tool of a call, between its guardrails.

use std::sync::Arc;
use std::time::Duration;

use antiphon::Item;

use crate::agent::Parts;
use crate::guardrail::{CallVerdict, OutputVerdict, ToolGuardrail};
use crate::rules::Outcome;
use crate::time_limit::within;
use crate::tool::{
    ErrorText, Tool, ToolContext, ToolError, ToolErrorKind, ToolOutput, arguments, output_item,
};

/// A tool, or a handoff that runs as one.
pub(crate) struct TeamTool<C> {
    pub(crate) tool: Arc<dyn Tool<C>>,
    pub(super) is_handoff: bool,
    pub(super) owner: Arc<Parts<C>>,
}

/// The outcome of a call whose tool no agent has.
pub(crate) fn no_such_tool() -> Outcome {
    Outcome::Failed("There is no tool with this name any more.".into())
}

impl<C: Send + Sync + 'static> TeamTool<C> {
    /// Runs a call. Returns its outcome, and the kind of its error if the tool failed.
    ///
    /// `is_checked` is whether the guardrails before it have passed: a run inside the call
    /// continues.
    pub(crate) async fn run(
        &self,
        call: &Item,
        context: ToolContext<C>,
        is_checked: bool,
    ) -> (Outcome, Option<ToolErrorKind>) {
        let arguments = arguments(call);
        let guardrails = self.guardrails();
        if !is_checked && let Err(outcome) = check_before(&guardrails, &context, &arguments).await {
            return (outcome, None);
        }
        let running = self.tool.call(context.clone(), &arguments);
        match ended(self.tool.spec().timeout, running).await {
            Ok(output) => match check_after(&guardrails, &context, output).await {
                Ok(output) => (output_of(call, &Ok(output)), None),
                Err(outcome) => (outcome, None),
            },
            Err(error) => {
                let kind = error.kind();
                (self.failed(call, error), Some(kind))
            }
        }
    }

    fn failed(&self, call: &Item, error: ToolError) -> Outcome {
        if self.tool.spec().ends_run(&error) {
            return Outcome::Raised(error.message().to_owned());
        }
        let error = match self.error_text() {
            Some(text) => text.apply(&error),
            None => error,
        };
        match self.is_handoff {
            true => Outcome::Failed(error.message().to_owned()),
            false => output_of(call, &Err(error)),
        }
    }

    /// The guardrails of its agent that check its calls. Handoffs have none.
    fn guardrails(&self) -> Vec<&dyn ToolGuardrail<C>> {
        let name = &self.tool.spec().name;
        let is_for_it = |tool: &Option<String>| tool.as_ref().is_none_or(|tool| tool == name);
        let all = self.owner.tool_guardrails.iter().filter(|_| !self.is_handoff);
        all.filter(|(tool, _)| is_for_it(tool)).map(|(_, guardrail)| &**guardrail).collect()
    }

    /// The function that writes the text of its errors, if it or its agent has one.
    fn error_text(&self) -> Option<&ErrorText> {
        self.tool.spec().error_text.as_ref().or(self.owner.error_text.as_ref())
    }
}

fn output_of(call: &Item, result: &Result<ToolOutput, ToolError>) -> Outcome {
    match output_item(call, result) {
        Ok(output) => Outcome::Output(output),
        Err(error) => Outcome::Raised(error.to_string()),
    }
}

/// Runs the guardrails before the call. An error is the outcome of a call that does not run.
async fn check_before<C: Send + Sync + 'static>(
    guardrails: &[&dyn ToolGuardrail<C>],
    context: &ToolContext<C>,
    arguments: &str,
) -> Result<(), Outcome> {
    for guardrail in guardrails {
        match guardrail.before(context, arguments).await {
            CallVerdict::Pass => {}
            CallVerdict::Reject(text) => return Err(Outcome::Failed(text)),
            CallVerdict::Trip => {
                let text = "A guardrail rejected this call, so it was not executed.".into();
                return Err(Outcome::Tripped { guardrail: guardrail.name().into(), text });
            }
        }
    }
    Ok(())
}

/// Runs the guardrails after the call, each with the output of the one before.
async fn check_after<C: Send + Sync + 'static>(
    guardrails: &[&dyn ToolGuardrail<C>],
    context: &ToolContext<C>,
    mut output: ToolOutput,
) -> Result<ToolOutput, Outcome> {
    for guardrail in guardrails {
        match guardrail.after(context, &output).await {
            OutputVerdict::Pass => {}
            OutputVerdict::Replace(other) => output = other,
            OutputVerdict::Trip => {
                let text = "The call was executed. A guardrail rejected its output.".into();
                return Err(Outcome::Tripped { guardrail: guardrail.name().into(), text });
            }
        }
    }
    Ok(output)
}

/// Waits for the result of a tool.
async fn ended(
    limit: Option<Duration>,
    running: impl Future<Output = Result<ToolOutput, ToolError>>,
) -> Result<ToolOutput, ToolError> {
    let Some(limit) = limit else { return running.await };
    within(limit, running).await.unwrap_or_else(|| Err(ToolError::timed_out(limit)))
}
