//! Approvals that depend on the call.

use antiphon_agents::tool::{Approval, FunctionTool, Tool, ToolContext, tool};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::{Shop, context};

#[derive(Deserialize, JsonSchema)]
struct Refund {
    cents: u32,
}

#[tool(needs_approval = |refund| refund.cents > 5_000)]
async fn by_struct(refund: Refund) -> String {
    refund.cents.to_string()
}

#[tool(needs_approval = |cx, arguments| arguments.cents > 10 && cx.context().currency == "EUR")]
async fn by_context(_cx: &ToolContext<Shop>, cents: u32, _order: String) -> String {
    cents.to_string()
}

#[tool(needs_approval = |cents| *cents > 5_000)]
async fn by_value(cents: u32) -> String {
    cents.to_string()
}

fn is_large(refund: &Refund) -> bool {
    refund.cents > 5_000
}

#[tool(needs_approval = is_large)]
async fn by_function(refund: Refund) -> String {
    refund.cents.to_string()
}

fn needs_approval(tool: &impl Tool<Shop>, arguments: &str) -> bool {
    assert_eq!(tool.spec().approval, Approval::ByCall);
    tool.needs_approval(&context(), arguments)
}

#[test]
fn closure_decides_by_the_arguments() {
    let (small, large) = (r#"{"cents":100}"#, r#"{"cents":9000}"#);
    for (arguments, expected) in [(small, false), (large, true)] {
        assert_eq!(needs_approval(&by_struct, arguments), expected);
        assert_eq!(needs_approval(&by_value, arguments), expected);
        assert_eq!(needs_approval(&by_function, arguments), expected);
    }
}

#[test]
fn closure_decides_by_the_context() {
    assert!(needs_approval(&by_context, r#"{"cents":11,"_order":"A1"}"#));
    assert!(!needs_approval(&by_context, r#"{"cents":9,"_order":"A1"}"#));
}

#[test]
fn call_that_will_not_run_needs_no_approval() {
    assert!(!needs_approval(&by_struct, r#"{"cents":"9000"}"#));
}

#[test]
fn closures_of_function_tools_decide() {
    let tool = FunctionTool::new("refund", "", async |_: ToolContext<Shop>, refund: Refund| {
        refund.cents.to_string()
    });
    assert!(!tool.needs_approval(&context(), r#"{"cents":9000}"#));
    let ruled = tool.clone().needs_approval_if(|_, refund| refund.cents > 5_000);
    assert!(needs_approval(&ruled, r#"{"cents":9000}"#));
    assert!(!needs_approval(&ruled, r#"{"cents":9}"#));
    let always = Tool::needs_approval(&ruled.always_needs_approval(), &context(), "{}");
    assert!(always);
}
