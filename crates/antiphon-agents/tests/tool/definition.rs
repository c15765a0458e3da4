//! The definitions of tools.

use std::time::Duration;

use antiphon_agents::tool::{
    Approval, FunctionTool, Grammar, NoArguments, OnToolError, OnUnknownOutcome, Parameters,
    SpecError, Tool, ToolContext, ToolSpec, tool,
};
use serde_json::json;

use crate::{Shop, definition};

/// Refunds an order.
///
/// Only for orders that were paid.
#[tool(
    name = "refund-order",
    needs_approval,
    timeout = "5s",
    on_unknown = Ask,
    on_error = EndRun,
)]
async fn refund(order: String) -> String {
    order
}

#[test]
fn attributes_and_comments_make_the_spec() {
    let spec = Tool::<()>::spec(&refund);
    assert_eq!(spec.timeout, Some(Duration::from_secs(5)));
    assert_eq!(spec.approval, Approval::Always);
    assert_eq!(spec.on_unknown, OnUnknownOutcome::Ask);
    assert_eq!(spec.on_error, OnToolError::EndRun);
    assert_eq!(
        definition(&refund),
        json!({
            "type": "function",
            "name": "refund-order",
            "description": "Refunds an order.\n\nOnly for orders that were paid.",
            "parameters": {
                "type": "object",
                "properties": {"order": {"type": "string"}},
                "required": ["order"],
                "additionalProperties": false,
            },
            "strict": true,
        })
    );
}

const DESCRIPTION: &str = "Searches everywhere.";

#[tool(
    description = DESCRIPTION,
    strict = false,
    timeout = Duration::from_millis(20),
    needs_approval = false
)]
async fn search(headers: std::collections::HashMap<String, String>) -> String {
    format!("{headers:?}")
}

#[test]
fn tool_without_strict_may_take_a_map() {
    let definition = definition(&search);
    assert_eq!(definition["strict"], false);
    assert_eq!(definition["description"], "Searches everywhere.");
    let headers = &definition["parameters"]["properties"]["headers"];
    assert_eq!(*headers, json!({"type": "object", "additionalProperties": {"type": "string"}}));
    assert_eq!(Tool::<()>::spec(&search).timeout, Some(Duration::from_millis(20)));
}

#[tool]
async fn strict_map(headers: std::collections::HashMap<String, String>) -> String {
    format!("{headers:?}")
}

#[test]
fn error_names_the_tool_and_the_field() {
    let error = Tool::<()>::spec(&strict_map).definition().unwrap_err();
    assert_eq!(
        error.to_string(),
        "the tool 'strict_map' has no valid schema: `headers` is a map, and a strict schema lists \
         all keys: use a list of structs with a field for the key, or turn off `strict`"
    );
}

#[test]
fn name_of_the_wrong_form_is_an_error() {
    for name in ["", "two words", "ü", &"x".repeat(65)] {
        let spec = ToolSpec::function(name, "", Parameters::from_type::<NoArguments>());
        assert_eq!(spec.definition(), Err(SpecError::Name(name.to_owned())));
    }
    let longest = "x".repeat(64);
    let spec = ToolSpec::function(longest, "", Parameters::from_type::<NoArguments>());
    assert!(spec.definition().is_ok());
}

#[test]
fn custom_tool_has_its_grammar() {
    let run = async |_: ToolContext<Shop>, query: String| query;
    let sql = FunctionTool::custom("sql", "Runs a query.", run);
    let expected = json!({"type": "custom", "name": "sql", "description": "Runs a query."});
    assert_eq!(definition(&sql), expected);
    let format = json!({"type": "grammar", "syntax": "lark", "definition": "start: /a/"});
    let sql = sql.grammar(Grammar::Lark("start: /a/".to_owned()));
    assert_eq!(definition(&sql)["format"], format);
}

#[test]
fn spec_has_the_facts_of_the_run() {
    let facts = Tool::<()>::spec(&refund).facts();
    assert_eq!(facts.approval, Approval::Always);
    assert_eq!(facts.on_unknown, OnUnknownOutcome::Ask);
}
