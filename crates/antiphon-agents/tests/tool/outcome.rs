//! The outputs and errors of calls.

use std::sync::Arc;

use antiphon_agents::tool::{
    ContentPart, FunctionTool, OnToolError, Tool, ToolContext, ToolError, ToolErrorKind,
    ToolOutput, tool,
};
use serde::Serialize;
use serde_json::{Value, json};

use crate::{Shop, call, definition};

#[derive(Serialize)]
struct Receipt {
    order: String,
    cents: u32,
}

#[tool]
async fn buy(order: String) -> Result<Receipt, ToolError> {
    Ok(Receipt { order, cents: 5 })
}

#[tool]
async fn parse(number: String) -> Result<i32, std::num::ParseIntError> {
    number.parse()
}

#[tool]
async fn draw() -> Result<ToolOutput, ToolError> {
    Ok(ContentPart::ImageUrl("data:,".to_owned()).into())
}

#[tool]
async fn delete() {}

#[tool]
async fn send() -> Result<(), ToolError> {
    Err(ToolError::fatal("the disk is full"))
}

#[tokio::test]
async fn results_become_outputs_and_errors() {
    let bought = call(buy, r#"{"order":"A1"}"#).await;
    assert_eq!(bought, Ok(ToolOutput::text(r#"{"order":"A1","cents":5}"#)));
    assert_eq!(call(parse, r#"{"number":"7"}"#).await, Ok(ToolOutput::text("7")));
    let error = call(parse, r#"{"number":"x"}"#).await.unwrap_err();
    assert_eq!(error, ToolError::new("invalid digit found in string"));
    let image = ContentPart::ImageUrl("data:,".to_owned());
    assert_eq!(call(draw, "").await, Ok(ToolOutput::parts([image])));
    assert_eq!(call(delete, "").await, Ok(ToolOutput::text("Done.")));
}

#[tokio::test]
async fn errors_end_the_run_by_policy() {
    let fatal = call(send, "").await.unwrap_err();
    let failed = ToolError::new("no such order");
    let invalid = call(buy, "[]").await.unwrap_err();
    assert_eq!(invalid.kind(), ToolErrorKind::InvalidArguments);
    let mut spec = Tool::<()>::spec(&buy).clone();
    let ends_run = |spec: &antiphon_agents::tool::ToolSpec| {
        [&fatal, &failed, &invalid].map(|error| spec.ends_run(error))
    };
    assert_eq!(ends_run(&spec), [true, false, false]);
    spec.on_error = OnToolError::EndRun;
    assert_eq!(ends_run(&spec), [true, true, false]);
}

#[tokio::test]
async fn custom_tool_is_given_the_text_as_it_is() {
    let run = async |_: ToolContext<Shop>, input: String| input;
    let echo = FunctionTool::custom("echo", "", run);
    for input in ["", "{}", "a \"b\"\n"] {
        assert_eq!(call(echo.clone(), input).await, Ok(ToolOutput::text(input)));
    }
}

#[tokio::test]
async fn function_with_a_foreign_schema_validates_its_arguments() {
    let schema = json!({
        "type": "object",
        "properties": {"path": {"type": "string"}},
        "required": ["path"],
    });
    let read = FunctionTool::from_schema("read", "", schema, async |_, arguments: Value| {
        arguments["path"].clone()
    });
    assert_eq!(definition(&read)["strict"], false);
    let output = call(read.clone(), r#"{"path":"a","more":1}"#).await;
    assert_eq!(output, Ok(ToolOutput::text("a")));
    let error = call(read, "{}").await.unwrap_err();
    assert!(error.message().contains("`path`: missing; expected a string"), "{error}");
}

#[tokio::test]
async fn tools_of_different_types_share_a_list() {
    let tools: Vec<Arc<dyn Tool<Shop>>> = vec![Arc::new(delete), Arc::new(draw)];
    for tool in tools {
        assert!(call(tool, "{}").await.is_ok());
    }
}
