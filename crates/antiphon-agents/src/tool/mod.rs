//! Tools: functions that a model can call.
//!
//! The macro [`tool`](macro@tool) makes a tool from an `async fn`, and [`FunctionTool`] from a
//! closure. The trait [`Tool`] is for types that are tools. The provider runs a [`HostedTool`].
//!
//! ```
//! use antiphon_agents::tool::{Tool, ToolContext, ToolError, ToolOutput, tool};
//! use schemars::JsonSchema;
//! use serde::{Deserialize, Serialize};
//!
//! struct Shop {
//!     currency: &'static str,
//! }
//!
//! #[derive(Deserialize, JsonSchema)]
//! struct Refund {
//!     /// The number of the order.
//!     order: String,
//!     cents: u32,
//! }
//!
//! #[derive(Serialize)]
//! struct Receipt {
//!     text: String,
//! }
//!
//! /// Refunds an order.
//! #[tool(needs_approval = |refund| refund.cents > 5_000, timeout = "5s")]
//! async fn refund(cx: &ToolContext<Shop>, refund: Refund) -> Result<Receipt, ToolError> {
//!     let text = format!("{}: {} {}", refund.order, refund.cents, cx.context().currency);
//!     Ok(Receipt { text })
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), ToolError> {
//! let context = ToolContext::new(Shop { currency: "cents" }, "refund", "call_1");
//! assert!(refund().needs_approval(&context, r#"{"order":"A1","cents":9000}"#));
//!
//! let output = refund().call(context.clone(), r#"{"order":"A1","cents":100}"#).await?;
//! assert_eq!(output, ToolOutput::text(r#"{"text":"A1: 100 cents"}"#));
//!
//! // The model reads the error and corrects its call.
//! let error = refund().call(context, r#"{"order":"A1","cents":"100"}"#).await.unwrap_err();
//! assert_eq!(error.message(), "Invalid arguments. The tool `refund` did not run.\n\
//!     - `cents`: expected an integer, got the string \"100\"\n\
//!     Correct the arguments and call `refund` again.");
//! # Ok(())
//! # }
//! ```

mod context;
mod error;
mod function;
mod grammar;
mod hosted;
mod output;
mod output_item;
mod parameters;
mod spec;

use std::sync::Arc;

use async_trait::async_trait;

pub use context::ToolContext;
pub use error::{ErrorText, ToolError, ToolErrorKind};
pub use function::FunctionTool;
pub use grammar::Grammar;
pub use hosted::{HostedTool, HostedToolError};
pub use output::{ContentPart, IntoToolOutput, IntoToolResult, ToolOutput};
pub(crate) use output_item::arguments;
pub use output_item::{CallRef, OutputError, output_item, tool_name};
pub use parameters::{
    ArgumentFault, InvalidArguments, NoArguments, Parameters, SchemaFault, ToolArgument,
};
pub(crate) use spec::as_tool_name;
pub use spec::{OnToolError, SpecError, ToolKind, ToolSpec};

pub use crate::roster::{Approval, OnUnknownOutcome};

/// Makes a tool from an `async fn`.
///
/// ```
/// use antiphon_agents::tool::{Tool, ToolContext, tool};
///
/// /// Forecasts the weather.
/// #[tool(timeout = "10s", on_unknown = Retry)]
/// async fn forecast(
///     /// The name of the city.
///     city: String,
///     #[schemars(range(min = 1, max = 14))] days: u8,
/// ) -> String {
///     format!("{days} days of sun in {city}")
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// // A unit test calls the function itself, or the tool with the text of a model.
/// assert_eq!(forecast().run("Bonn".to_owned(), 2).await, "2 days of sun in Bonn");
/// let context = ToolContext::new((), "forecast", "call_1");
/// assert!(forecast().call(context, r#"{"city":"Bonn","days":2}"#).await.is_ok());
/// # }
/// ```
///
/// The name of the function becomes a function that returns the tool, a value of the type
/// `ForecastTool`. An agent accepts both: `.tool(forecast)` and `.tool(forecast())`. The
/// documentation comment is the description for the model.
///
/// # Parameters
///
/// The first parameter may be the context of the call, `cx: &ToolContext<C>` or
/// `cx: ToolContext<C>`. The tool then belongs to agents with the context `C`. Without it, the tool
/// belongs to every agent. The other parameters are the arguments that the model writes:
///
/// - One parameter whose type is a struct: its fields are the arguments.
/// - Any other parameters: each is a field of the arguments, with the parameter's name. It may have
///   a documentation comment and attributes of Serde and schemars.
///
/// Their types implement `serde::Deserialize` and `schemars::JsonSchema`; [`Parameters`] describes
/// the schema that the provider is sent. Invalid arguments do not reach the function: the model
/// reads [all errors](InvalidArguments) as the output of its call.
///
/// The function returns a type that implements [`IntoToolResult`]: usually `Result<T, ToolError>`,
/// where `T` implements `serde::Serialize`.
///
/// # Attributes
///
/// - `name = "refund-order"`: the name for the model; by default the name of the function.
/// - `description = TEXT`: an expression in place of the documentation comment.
/// - `needs_approval`: every call needs an approval. With a closure, the calls for which it returns
///   true: `needs_approval = |args| args.cents > 5_000`. A closure with two parameters is given the
///   context first. The arguments are the struct, the only argument, or a struct of the parameters.
/// - `timeout = "5s"`: the runner cancels a call after this time, in `ms`, `s`, `m` or `h`, or a
///   `Duration`; by default there is no limit.
/// - `on_unknown = Retry`, `Ask` or `Fail` (default): see [`OnUnknownOutcome`].
/// - `on_error = Output` (default) or `EndRun`: see [`OnToolError`].
/// - `error_text = |error| ...`: the text of an error for the model, a `String`; by default that of
///   the agent, or else the message of the [`ToolError`].
/// - `strict = false`: for arguments without a strict schema, see [`SchemaFault`].
/// - `crate = path`: the path of this crate, if it is not `::antiphon_agents`.
pub use antiphon_agents_macros::tool;

/// A tool that an agent with the context `C` can call.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a tool for agents with the context `{C}`",
    label = "not a `Tool<{C}>`",
    note = "a tool is a function with `#[tool]`, a `FunctionTool`, or a type with `Tool`",
    note = "a tool with the parameter `&ToolContext<T>` belongs to agents with the context `T`"
)]
#[async_trait]
pub trait Tool<C>: Send + Sync + 'static {
    /// The name, the description, the parameters and the policies. They never change.
    fn spec(&self) -> &ToolSpec;

    /// Checks the tool before a run starts with it. An agent that is a tool checks its own tools
    /// and handoffs here; the default accepts the tool.
    fn check(&self) -> Result<(), SpecError> {
        Ok(())
    }

    /// Runs a call. `arguments` is the text that the model wrote: JSON for a function, any text for
    /// a custom tool. Use [`ToolSpec::parse`] to validate and read it.
    ///
    /// The runner enforces the timeout and asks for approvals before. It may drop the future when
    /// the run is cancelled.
    async fn call(&self, context: ToolContext<C>, arguments: &str)
    -> Result<ToolOutput, ToolError>;

    /// Whether this call needs an approval before it runs. The default follows the
    /// [`Approval`] of the spec, and requires one for [`Approval::ByCall`].
    fn needs_approval(&self, context: &ToolContext<C>, arguments: &str) -> bool {
        let _ = (context, arguments);
        self.spec().approval != Approval::Never
    }
}

#[async_trait]
impl<C: Send + Sync + 'static, T: Tool<C> + ?Sized> Tool<C> for Arc<T> {
    fn spec(&self) -> &ToolSpec {
        (**self).spec()
    }

    fn check(&self) -> Result<(), SpecError> {
        (**self).check()
    }

    async fn call(
        &self,
        context: ToolContext<C>,
        arguments: &str,
    ) -> Result<ToolOutput, ToolError> {
        (**self).call(context, arguments).await
    }

    fn needs_approval(&self, context: &ToolContext<C>, arguments: &str) -> bool {
        (**self).needs_approval(context, arguments)
    }
}

/// A tool without state, as `#[tool]` makes it.
pub trait DeclaredTool: 'static {
    /// The tool.
    fn tool() -> &'static Self;
}

/// A function with `#[tool]` returns its tool, and stands for it: `.tool(refund)`.
#[diagnostic::do_not_recommend]
#[async_trait]
impl<C, F, T> Tool<C> for F
where
    C: Send + Sync + 'static,
    F: Fn() -> T + Send + Sync + 'static,
    T: Tool<C> + DeclaredTool,
{
    fn spec(&self) -> &ToolSpec {
        T::tool().spec()
    }

    async fn call(
        &self,
        context: ToolContext<C>,
        arguments: &str,
    ) -> Result<ToolOutput, ToolError> {
        T::tool().call(context, arguments).await
    }

    fn needs_approval(&self, context: &ToolContext<C>, arguments: &str) -> bool {
        T::tool().needs_approval(context, arguments)
    }
}

/// Used by the code that `#[tool]` writes.
#[doc(hidden)]
pub mod __private {
    pub use async_trait::async_trait;
    pub use {schemars, serde};

    /// The type of an argument, by which `#[tool]` names it: if the type has no schema, the
    /// compiler reports that once, and not for each use.
    #[diagnostic::on_unimplemented(
        message = "`{Self}` cannot be an argument of a tool",
        label = "has no JSON schema, or cannot be read from JSON",
        note = "add `#[derive(serde::Deserialize, schemars::JsonSchema)]` to `{Self}`"
    )]
    pub trait Argument {
        /// The same type.
        type Itself;
    }

    #[diagnostic::do_not_recommend]
    impl<T: super::ToolArgument> Argument for T {
        type Itself = T;
    }
}
