//! Tools from closures.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use serde_json::Value;

use super::{
    Approval, ErrorText, Grammar, IntoToolResult, OnToolError, OnUnknownOutcome, Parameters, Tool,
    ToolArgument, ToolContext, ToolError, ToolKind, ToolOutput, ToolSpec,
};

/// A tool from a closure with JSON arguments of the type `A`.
///
/// ```
/// use antiphon_agents::tool::{FunctionTool, Tool, ToolContext, ToolError, ToolOutput};
/// use schemars::JsonSchema;
/// use serde::Deserialize;
///
/// #[derive(Deserialize, JsonSchema)]
/// struct Sum {
///     summands: Vec<f64>,
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), ToolError> {
/// let sum = FunctionTool::new("sum", "Adds numbers.", async |_: ToolContext, args: Sum| {
///     Ok::<_, ToolError>(args.summands.iter().sum::<f64>())
/// });
/// let context = ToolContext::new((), "sum", "call_1");
/// assert_eq!(sum.call(context, r#"{"summands":[1,2.5]}"#).await?, ToolOutput::text("3.5"));
/// # Ok(())
/// # }
/// ```
///
/// [`FunctionTool::custom`] makes a tool whose input is text, and the macro
/// [`tool`](macro@super::tool) one from a function.
pub struct FunctionTool<C, A = Value> {
    spec: ToolSpec,
    run: Arc<Run<C, A>>,
    needs_approval: Option<Arc<ApprovalRule<C, A>>>,
}

type ToolFuture = Pin<Box<dyn Future<Output = Result<ToolOutput, ToolError>> + Send>>;
type Run<C, A> = dyn Fn(ToolContext<C>, A) -> ToolFuture + Send + Sync;
type ApprovalRule<C, A> = dyn Fn(&ToolContext<C>, &A) -> bool + Send + Sync;

impl<C: Send + Sync + 'static, A: ToolArgument> FunctionTool<C, A> {
    /// Creates a tool. The fields of `A` are its parameters, and their documentation comments the
    /// descriptions for the model. A tool without parameters uses
    /// [`NoArguments`](super::NoArguments).
    pub fn new<F, R>(
        name: impl Into<String>,
        description: impl Into<String>,
        run: impl Fn(ToolContext<C>, A) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = R> + Send + 'static,
        R: IntoToolResult,
    {
        let spec = ToolSpec::function(name, description, Parameters::from_type::<A>());
        Self::from_spec(spec, run)
    }
}

impl<C: Send + Sync + 'static> FunctionTool<C> {
    /// Creates a tool with a JSON schema of its arguments, for example one of another program. The
    /// provider uses the schema as a hint; the arguments are validated before the tool runs.
    pub fn from_schema<F, R>(
        name: impl Into<String>,
        description: impl Into<String>,
        schema: Value,
        run: impl Fn(ToolContext<C>, Value) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = R> + Send + 'static,
        R: IntoToolResult,
    {
        let parameters = Parameters::from_schema(schema).not_strict();
        let spec = ToolSpec::function(name, description, parameters);
        Self::from_spec(spec, run)
    }
}

impl<C: Send + Sync + 'static> FunctionTool<C, String> {
    /// Creates a custom tool: its input is text, without JSON.
    ///
    /// ```
    /// use antiphon_agents::tool::{FunctionTool, Grammar, Tool, ToolContext};
    ///
    /// let sql = FunctionTool::custom("sql", "Runs a query.", async |_: ToolContext, query| {
    ///     format!("no rows match {query}")
    /// });
    /// let sql = sql.grammar(Grammar::Regex("SELECT .+".to_owned()));
    /// let definition = sql.spec().definition().unwrap().to_json();
    /// assert_eq!(definition["format"]["syntax"], "regex");
    /// ```
    pub fn custom<F, R>(
        name: impl Into<String>,
        description: impl Into<String>,
        run: impl Fn(ToolContext<C>, String) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = R> + Send + 'static,
        R: IntoToolResult,
    {
        Self::from_spec(ToolSpec::custom(name, description, None), run)
    }

    /// Restricts the form of a custom tool's input.
    #[must_use]
    pub fn grammar(mut self, grammar: Grammar) -> Self {
        self.spec.kind = ToolKind::Custom(Some(grammar));
        self
    }
}

impl<C: Send + Sync + 'static, A> FunctionTool<C, A> {
    fn from_spec<F, R>(
        spec: ToolSpec,
        run: impl Fn(ToolContext<C>, A) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = R> + Send + 'static,
        R: IntoToolResult,
    {
        let run = move |context, arguments| {
            let result = run(context, arguments);
            Box::pin(async move { result.await.into_tool_result() }) as ToolFuture
        };
        Self { spec, run: Arc::new(run), needs_approval: None }
    }

    /// Lets the provider use the schema as a hint; see [`Parameters::not_strict`].
    #[must_use]
    pub fn not_strict(mut self) -> Self {
        if let ToolKind::Function(parameters) = self.spec.kind {
            self.spec.kind = ToolKind::Function(parameters.not_strict());
        }
        self
    }

    /// Requires an approval of every call.
    #[must_use]
    pub fn always_needs_approval(mut self) -> Self {
        self.spec.approval = Approval::Always;
        self.needs_approval = None;
        self
    }

    /// Requires an approval of the calls for which `rule` returns true.
    #[must_use]
    pub fn needs_approval_if(
        mut self,
        rule: impl Fn(&ToolContext<C>, &A) -> bool + Send + Sync + 'static,
    ) -> Self {
        self.spec.approval = Approval::ByCall;
        self.needs_approval = Some(Arc::new(rule));
        self
    }

    /// Cancels a call that does not end in time.
    #[must_use]
    pub fn timeout(mut self, limit: Duration) -> Self {
        self.spec.timeout = Some(limit);
        self
    }

    /// Sets the treatment of a call whose outcome is unknown.
    #[must_use]
    pub fn on_unknown(mut self, policy: OnUnknownOutcome) -> Self {
        self.spec.on_unknown = policy;
        self
    }

    /// Sets the effect of an error on the run.
    #[must_use]
    pub fn on_error(mut self, policy: OnToolError) -> Self {
        self.spec.on_error = policy;
        self
    }

    /// Writes the text of an error for the model, in place of its message.
    #[must_use]
    pub fn error_text(
        mut self,
        text: impl Fn(&ToolError) -> String + Send + Sync + 'static,
    ) -> Self {
        self.spec.error_text = Some(ErrorText::new(text));
        self
    }
}

#[async_trait]
impl<C: Send + Sync + 'static, A: ToolArgument> Tool<C> for FunctionTool<C, A> {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn call(
        &self,
        context: ToolContext<C>,
        arguments: &str,
    ) -> Result<ToolOutput, ToolError> {
        (self.run)(context, self.spec.parse(arguments)?).await
    }

    fn needs_approval(&self, context: &ToolContext<C>, arguments: &str) -> bool {
        match &self.needs_approval {
            None => self.spec.approval != Approval::Never,
            // With invalid arguments, the tool will not run.
            Some(rule) => self.spec.parse(arguments).is_ok_and(|it| rule(context, &it)),
        }
    }
}

impl<C, A> Clone for FunctionTool<C, A> {
    fn clone(&self) -> Self {
        Self {
            spec: self.spec.clone(),
            run: Arc::clone(&self.run),
            needs_approval: self.needs_approval.clone(),
        }
    }
}

impl<C, A> fmt::Debug for FunctionTool<C, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FunctionTool").field("spec", &self.spec).finish_non_exhaustive()
    }
}
