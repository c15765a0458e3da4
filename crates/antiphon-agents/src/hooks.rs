//! Hooks: functions of the application that run at points of a run.

use antiphon::Item;
use async_trait::async_trait;

use crate::machine::End;
use crate::model::{Answered, ModelRequest};
use crate::tool::ToolContext;

/// The error of a hook. It ends the run.
pub type HookError = Box<dyn std::error::Error + Send + Sync>;

/// Functions that run at points of a run. The run waits for each.
///
/// What has happened before a hook is recorded: if a hook fails after an answer, the answer is not
/// asked for again.
#[async_trait]
pub trait Hooks<C>: Send + Sync + 'static {
    /// An agent answers for the first time, or again after another agent.
    async fn agent_started(&self, context: &C, agent: &str) -> Result<(), HookError>
    where
        C: Send + Sync,
    {
        let _ = (context, agent);
        Ok(())
    }

    /// The agent `from` has passed the conversation to the agent `to`, which starts next.
    async fn handed_off(&self, context: &C, from: &str, to: &str) -> Result<(), HookError>
    where
        C: Send + Sync,
    {
        let _ = (context, from, to);
        Ok(())
    }

    /// The model is asked.
    async fn model_asked(&self, context: &C, request: &ModelRequest) -> Result<(), HookError>
    where
        C: Send + Sync,
    {
        let _ = (context, request);
        Ok(())
    }

    /// The model has answered.
    async fn model_answered(
        &self,
        context: &C,
        agent: &str,
        answer: &Answered,
    ) -> Result<(), HookError>
    where
        C: Send + Sync,
    {
        let _ = (context, agent, answer);
        Ok(())
    }

    /// A tool starts to run a call.
    async fn tool_started(&self, context: &ToolContext<C>, call: &Item) -> Result<(), HookError>
    where
        C: Send + Sync,
    {
        let _ = (context, call);
        Ok(())
    }

    /// A call has an output.
    async fn tool_ended(
        &self,
        context: &ToolContext<C>,
        call: &Item,
        output: &Item,
    ) -> Result<(), HookError>
    where
        C: Send + Sync,
    {
        let _ = (context, call, output);
        Ok(())
    }

    /// The run has ended.
    async fn run_ended(&self, context: &C, end: &End) -> Result<(), HookError>
    where
        C: Send + Sync,
    {
        let _ = (context, end);
        Ok(())
    }
}
