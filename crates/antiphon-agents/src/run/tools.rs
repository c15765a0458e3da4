//! Runs tools, each in a task of its own: a panic ends only its call.

use std::collections::HashMap;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use antiphon::Item;
use tokio::task::{Id, JoinSet};
use tokio_util::sync::CancellationToken;

use super::agent_tool::InnerExchange;
use super::team::TeamTool;
use super::trace::{ToolSpan, tool_failed};
use crate::guardrail::{CallVerdict, OutputVerdict, ToolGuardrail};
use crate::hooks::Hooks;
use crate::machine::{InnerRun, call_key};
use crate::rules::Outcome;
use crate::tool::{ToolContext, ToolError, ToolOutput, arguments, output_item};
use crate::usage::RunUsage;

/// The running tools of a run. Dropping it aborts them.
#[derive(Default)]
pub(super) struct RunningTools {
    tasks: JoinSet<Outcome>,
    calls: HashMap<Id, RunningCall>,
    cancellation: CancellationToken,
}

/// Cancels the tools that started tasks of their own.
impl Drop for RunningTools {
    fn drop(&mut self) {
        self.cancellation.cancel();
    }
}

struct RunningCall {
    call: Item,
    inner: Arc<InnerExchange>,
}

/// A call that has ended, or that waits.
pub(super) struct EndedCall {
    pub(super) call: Item,
    pub(super) outcome: Outcome,
    /// The tokens of a run inside it.
    pub(super) usage: RunUsage,
    /// The run inside it, if that waits for decisions: the call has not ended.
    pub(super) paused: Option<InnerRun>,
}

/// A call with the parts of its run.
pub(super) struct ToolCall<C> {
    pub(super) call: Item,
    pub(super) context: ToolContext<C>,
    pub(super) inner: Arc<InnerExchange>,
    /// `None` if no agent has it any more.
    pub(super) tool: Option<TeamTool<C>>,
    pub(super) hooks: Vec<Arc<dyn Hooks<C>>>,
}

impl RunningTools {
    /// Starts a call, which does not run yet.
    pub(super) fn start<C: Send + Sync + 'static>(&mut self, mut call: ToolCall<C>) {
        let context = call.context.with_cancellation(self.cancellation.child_token());
        call.context = context.with_extension(Arc::clone(&call.inner) as _);
        let running = RunningCall { call: call.call.clone(), inner: Arc::clone(&call.inner) };
        let span = ToolSpan::new(&call.call);
        let task = self.tasks.spawn(span.run(call.run_with_hooks()));
        self.calls.insert(task.id(), running);
    }

    /// Whether a call runs.
    pub(super) fn is_running(&self, call: &Item) -> bool {
        self.calls().any(|running| call_key(running) == call_key(call))
    }

    /// The next call that ends; `None` if none runs.
    pub(super) fn poll_ended(&mut self, context: &mut Context<'_>) -> Poll<Option<EndedCall>> {
        let Poll::Ready(ended) = self.tasks.poll_join_next_with_id(context) else {
            return Poll::Pending;
        };
        let Some(ended) = ended else { return Poll::Ready(None) };
        let (id, outcome) = match ended {
            Ok((id, outcome)) => (id, outcome),
            Err(error) if error.is_panic() => {
                (error.id(), Outcome::Failed("The tool failed unexpectedly.".into()))
            }
            Err(error) => (error.id(), Outcome::Cancelled),
        };
        let RunningCall { call, inner } = self.calls.remove(&id).expect("every task runs a call");
        let mut inner = inner.lock();
        let (usage, paused) = (inner.usage, inner.paused.take());
        Poll::Ready(Some(EndedCall { call, outcome, usage, paused }))
    }

    /// Cancels all tools. Each ends with its output if it has one already.
    pub(super) fn cancel(&mut self) {
        self.cancellation.cancel();
        self.tasks.abort_all();
    }

    /// The calls that run.
    pub(super) fn calls(&self) -> impl Iterator<Item = &Item> {
        self.calls.values().map(|running| &running.call)
    }
}

impl<C: Send + Sync + 'static> ToolCall<C> {
    async fn run_with_hooks(self) -> Outcome {
        let hooks = if self.is_resumed() { &[] } else { &self.hooks[..] };
        for hook in hooks {
            if let Err(error) = hook.tool_started(&self.context, &self.call).await {
                return Outcome::Raised(format!("a hook failed: {error}"));
            }
        }
        let outcome = self.run().await;
        let has_ended = self.inner.lock().paused.is_none();
        if let (Outcome::Output(output), true) = (&outcome, has_ended) {
            for hook in &self.hooks {
                if let Err(error) = hook.tool_ended(&self.context, &self.call, output).await {
                    // The tool had its effect, so its output stays.
                    tracing::warn!(%error, "a hook failed after a tool");
                }
            }
        }
        outcome
    }

    /// Whether a run inside the call continues: the call was checked before.
    fn is_resumed(&self) -> bool {
        self.inner.lock().resumed.is_some()
    }

    async fn run(&self) -> Outcome {
        let Some(tool) = &self.tool else {
            return Outcome::Failed("There is no tool with this name any more.".into());
        };
        let arguments = arguments(&self.call);
        let guardrails = tool.guardrails();
        if !self.is_resumed()
            && let Err(outcome) = self.check_before(&guardrails, &arguments).await
        {
            return outcome;
        }
        let running = tool.tool.call(self.context.clone(), &arguments);
        let result = match within(tool.tool.spec().timeout, running).await {
            Ok(output) => match self.check_after(&guardrails, output).await {
                Ok(output) => Ok(output),
                Err(outcome) => return outcome,
            },
            Err(error) => Err(error),
        };
        self.outcome(tool, result)
    }

    /// Runs the guardrails before the call. An error is the outcome of a call that does not run.
    async fn check_before(
        &self,
        guardrails: &[&dyn ToolGuardrail<C>],
        arguments: &str,
    ) -> Result<(), Outcome> {
        for guardrail in guardrails {
            match guardrail.before(&self.context, arguments).await {
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
    async fn check_after(
        &self,
        guardrails: &[&dyn ToolGuardrail<C>],
        mut output: ToolOutput,
    ) -> Result<ToolOutput, Outcome> {
        for guardrail in guardrails {
            match guardrail.after(&self.context, &output).await {
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

    fn outcome(&self, tool: &TeamTool<C>, result: Result<ToolOutput, ToolError>) -> Outcome {
        if let Err(error) = &result {
            tool_failed(error.kind());
        }
        let result = match result {
            Ok(output) => Ok(output),
            Err(error) if tool.tool.spec().ends_run(&error) => {
                return Outcome::Raised(error.message().to_owned());
            }
            Err(error) => Err(match tool.error_text() {
                Some(text) => text.apply(&error),
                None => error,
            }),
        };
        if let (Err(error), true) = (&result, tool.is_handoff) {
            return Outcome::Failed(error.message().to_owned());
        }
        match output_item(&self.call, &result) {
            Ok(output) => Outcome::Output(output),
            Err(error) => Outcome::Raised(error.to_string()),
        }
    }
}

async fn within(
    limit: Option<Duration>,
    running: impl Future<Output = Result<ToolOutput, ToolError>>,
) -> Result<ToolOutput, ToolError> {
    let Some(limit) = limit else { return running.await };
    let result = tokio::time::timeout(limit, running).await;
    result.unwrap_or_else(|_| Err(ToolError::timed_out(limit)))
}
