//! Runs tools, each in a task of its own: a panic ends only its call.

use std::collections::HashMap;
use std::sync::Arc;
use std::task::{Context, Poll};

use antiphon::Item;
use tokio::task::{Id, JoinSet};
use tokio_util::sync::CancellationToken;

use crate::hooks::Hooks;
use crate::machine::call_key;
use crate::rules::Outcome;
use crate::tool::{Tool, ToolContext, ToolError, ToolOutput, output_item};

/// The running tools of a run. Dropping it aborts them.
#[derive(Default)]
pub(super) struct RunningTools {
    tasks: JoinSet<Outcome>,
    calls: HashMap<Id, Item>,
    cancellation: CancellationToken,
}

/// A call that has ended.
pub(super) struct EndedCall {
    pub(super) call: Item,
    pub(super) outcome: Outcome,
}

impl RunningTools {
    /// Starts a call if it does not run yet; returns whether it did.
    pub(super) fn start<C: Send + Sync + 'static>(
        &mut self,
        call: &Item,
        tool: Option<Arc<dyn Tool<C>>>,
        context: ToolContext<C>,
        hooks: &[Arc<dyn Hooks<C>>],
    ) -> bool {
        if self.calls.values().any(|running| call_key(running) == call_key(call)) {
            return false;
        }
        let context = context.with_cancellation(self.cancellation.child_token());
        let task = self.tasks.spawn(run_with_hooks(tool, context, call.clone(), hooks.to_vec()));
        self.calls.insert(task.id(), call.clone());
        true
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
        let call = self.calls.remove(&id).expect("every task runs a call");
        Poll::Ready(Some(EndedCall { call, outcome }))
    }

    /// Cancels all tools. Each ends with its output if it has one already.
    pub(super) fn cancel(&mut self) {
        self.cancellation.cancel();
        self.tasks.abort_all();
    }

    /// The calls that run.
    pub(super) fn calls(&self) -> impl Iterator<Item = &Item> {
        self.calls.values()
    }
}

async fn run_with_hooks<C: Send + Sync + 'static>(
    tool: Option<Arc<dyn Tool<C>>>,
    context: ToolContext<C>,
    call: Item,
    hooks: Vec<Arc<dyn Hooks<C>>>,
) -> Outcome {
    for hook in &hooks {
        if let Err(error) = hook.tool_started(&context, &call).await {
            return Outcome::Raised(format!("a hook failed: {error}"));
        }
    }
    let outcome = run(tool, context.clone(), call.clone()).await;
    if let Outcome::Output(output) = &outcome {
        for hook in &hooks {
            if let Err(error) = hook.tool_ended(&context, &call, output).await {
                // The tool had its effect, so its output stays.
                tracing::warn!(%error, "a hook failed after a tool");
            }
        }
    }
    outcome
}

async fn run<C: Send + Sync + 'static>(
    tool: Option<Arc<dyn Tool<C>>>,
    context: ToolContext<C>,
    call: Item,
) -> Outcome {
    let Some(tool) = tool else {
        return Outcome::Failed("There is no tool with this name any more.".into());
    };
    let arguments = arguments(&call);
    let running = tool.call(context, &arguments);
    let result = match tool.spec().timeout {
        None => running.await,
        Some(limit) => match tokio::time::timeout(limit, running).await {
            Ok(result) => result,
            Err(_) => Err(ToolError::timed_out(limit)),
        },
    };
    outcome(&*tool, &call, &result)
}

fn outcome<C: 'static>(
    tool: &dyn Tool<C>,
    call: &Item,
    result: &Result<ToolOutput, ToolError>,
) -> Outcome {
    if let Err(error) = result
        && tool.spec().ends_run(error)
    {
        return Outcome::Raised(error.message().to_owned());
    }
    match output_item(call, result) {
        Ok(output) => Outcome::Output(output),
        Err(error) => Outcome::Raised(error.to_string()),
    }
}

/// The text that a tool reads: the arguments or the input, or else the whole call.
pub(super) fn arguments(call: &Item) -> String {
    let object = call.object();
    let text = object.string("arguments").or_else(|| object.string("input"));
    text.map_or_else(|| call.text().to_owned(), Into::into)
}
