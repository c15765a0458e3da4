//! Runs tools, each in a task of its own: a panic ends only its call.

use std::collections::HashMap;
use std::sync::Arc;
use std::task::{Context, Poll};

use antiphon::Item;
use tokio::task::{Id, JoinSet};
use tokio_util::sync::CancellationToken;

use super::agent_tool::InnerExchange;
use super::trace::{ToolSpan, tool_failed};
use crate::hooks::Hooks;
use crate::machine::{InnerRun, call_key};
use crate::rules::Outcome;
use crate::team::{TeamTool, no_such_tool};
use crate::tool::ToolContext;
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
        let Some(tool) = &self.tool else { return no_such_tool() };
        let (outcome, error) = tool.run(&self.call, self.context.clone(), self.is_resumed()).await;
        if let Some(kind) = error {
            tool_failed(kind);
        }
        outcome
    }
}
