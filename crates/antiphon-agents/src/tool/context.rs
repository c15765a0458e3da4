//! The context of a call.

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use antiphon::CallId;
use tokio_util::sync::CancellationToken;

use crate::usage::RunUsage;

/// The context of a call: the value `C` that the application shares with all tools of a run, and
/// the facts about this call. A clone is cheap.
///
/// A unit test creates one without a run:
///
/// ```
/// use antiphon_agents::tool::ToolContext;
///
/// struct Shop {
///     currency: &'static str,
/// }
///
/// let context = ToolContext::new(Shop { currency: "EUR" }, "refund", "call_1");
/// assert_eq!(context.context().currency, "EUR");
/// assert_eq!(context.call_id().as_str(), "call_1");
/// ```
pub struct ToolContext<C = ()> {
    shared: Arc<C>,
    call: Arc<CallFacts>,
    cancellation: CancellationToken,
    extension: Option<Arc<dyn Any + Send + Sync>>,
}

#[derive(Clone, Debug)]
struct CallFacts {
    tool: String,
    call_id: CallId,
    agent: String,
    usage: RunUsage,
}

impl<C> ToolContext<C> {
    /// Creates the context of a call: the shared value or an [`Arc`] of it, the name of the tool,
    /// the `call_id`.
    pub fn new(
        shared: impl Into<Arc<C>>,
        tool: impl Into<String>,
        call_id: impl Into<CallId>,
    ) -> Self {
        let call = CallFacts {
            tool: tool.into(),
            call_id: call_id.into(),
            agent: String::new(),
            usage: RunUsage::default(),
        };
        Self {
            shared: shared.into(),
            call: call.into(),
            cancellation: CancellationToken::new(),
            extension: None,
        }
    }

    /// Sets the name of the agent that calls the tool.
    #[must_use]
    pub fn with_agent(mut self, agent: impl Into<String>) -> Self {
        Arc::make_mut(&mut self.call).agent = agent.into();
        self
    }

    /// Sets the usage of the run.
    #[must_use]
    pub fn with_usage(mut self, usage: RunUsage) -> Self {
        Arc::make_mut(&mut self.call).usage = usage;
        self
    }

    /// Sets the token that cancels the call.
    #[must_use]
    pub fn with_cancellation(mut self, cancellation: CancellationToken) -> Self {
        self.cancellation = cancellation;
        self
    }

    /// Sets a value that the runner shares with its own tools.
    #[must_use]
    pub(crate) fn with_extension(mut self, extension: Arc<dyn Any + Send + Sync>) -> Self {
        self.extension = Some(extension);
        self
    }

    /// The value of this type that the runner shares with its own tools.
    pub(crate) fn extension<T: Any + Send + Sync>(&self) -> Option<Arc<T>> {
        self.extension.clone()?.downcast().ok()
    }

    /// The value that the application shares with all tools of the run.
    pub fn context(&self) -> &C {
        &self.shared
    }

    /// The same value, for a task that outlives the call.
    pub fn shared(&self) -> Arc<C> {
        Arc::clone(&self.shared)
    }

    /// The id of the call, its idempotency key: no tool runs twice for one `call_id`, except after
    /// an unknown outcome with [`OnUnknownOutcome::Retry`](super::OnUnknownOutcome::Retry).
    pub fn call_id(&self) -> &CallId {
        &self.call.call_id
    }

    /// The name of the tool.
    pub fn tool(&self) -> &str {
        &self.call.tool
    }

    /// The name of the agent that calls the tool; empty outside a run.
    pub fn agent(&self) -> &str {
        &self.call.agent
    }

    /// The usage of the run before this call.
    pub fn usage(&self) -> RunUsage {
        self.call.usage
    }

    /// The token that is cancelled when the run no longer needs the output.
    pub fn cancellation(&self) -> &CancellationToken {
        &self.cancellation
    }
}

impl<C> Clone for ToolContext<C> {
    fn clone(&self) -> Self {
        Self {
            shared: self.shared(),
            call: Arc::clone(&self.call),
            cancellation: self.cancellation.clone(),
            extension: self.extension.clone(),
        }
    }
}

/// Without the shared value, which may contain secrets.
impl<C> fmt::Debug for ToolContext<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolContext")
            .field("call", &self.call)
            .field("is_cancelled", &self.cancellation.is_cancelled())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct NotClone(&'static str);

    #[test]
    fn clones_share_the_value_and_the_token() {
        let token = CancellationToken::new();
        let usage = RunUsage { requests: 2, ..RunUsage::default() };
        let context = ToolContext::new(NotClone("shop"), "refund", "call_1")
            .with_agent("billing")
            .with_usage(usage)
            .with_cancellation(token.clone());
        let copy = context.clone();
        token.cancel();
        assert!(copy.cancellation().is_cancelled());
        assert_eq!(copy.context().0, "shop");
        assert_eq!((copy.agent(), copy.tool(), copy.usage()), ("billing", "refund", usage));
        assert!(Arc::ptr_eq(&copy.shared(), &context.shared()));
    }

    #[test]
    fn debug_hides_the_shared_value() {
        let text = format!("{:?}", ToolContext::new(NotClone("secret"), "refund", "call_1"));
        assert!(text.contains("call_1") && !text.contains("secret"), "{text}");
    }
}
