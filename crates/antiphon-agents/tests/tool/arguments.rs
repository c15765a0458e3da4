//! The parameters of a tool's function.

use antiphon_agents::tool::{Tool, ToolContext, ToolError, ToolOutput, tool};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::{Shop, call, context, definition};

#[derive(Deserialize, JsonSchema)]
struct Refund {
    order: String,
    cents: u32,
}

/// Refunds an order.
#[tool]
async fn refund(cx: &ToolContext<Shop>, refund: Refund) -> Result<String, ToolError> {
    Ok(format!("{} {} {}", refund.order, refund.cents, cx.context().currency))
}

#[tokio::test]
async fn struct_holds_the_arguments() {
    let output = call(refund, r#"{"order":"A1","cents":5}"#).await;
    assert_eq!(output, Ok(ToolOutput::text("A1 5 EUR")));
}

#[tokio::test]
async fn function_can_be_called_directly() {
    let arguments = Refund { order: "A1".to_owned(), cents: 5 };
    assert_eq!(refund().run(&context(), arguments).await.unwrap(), "A1 5 EUR");
}

/// Forecasts the weather.
#[tool]
async fn forecast(
    /// The name of the city.
    city: String,
    #[schemars(range(min = 1, max = 14))] days: u8,
    #[serde(default)] hourly: bool,
    unit: Option<Unit>,
) -> String {
    let unit = unit.map_or("", |unit| match unit {
        Unit::Celsius => "C",
        Unit::Fahrenheit => "F",
    });
    format!("{city} {days} {hourly} {unit}")
}

#[derive(Deserialize, JsonSchema)]
enum Unit {
    Celsius,
    Fahrenheit,
}

#[tokio::test]
async fn parameters_become_fields() {
    let output = call(forecast, r#"{"city":"Bonn","days":3,"hourly":null,"unit":"Celsius"}"#);
    assert_eq!(output.await, Ok(ToolOutput::text("Bonn 3 false C")));
    let output = call(forecast, r#"{"city":"Bonn","days":3}"#);
    assert_eq!(output.await, Ok(ToolOutput::text("Bonn 3 false ")));
    let schema = &definition(&forecast)["parameters"];
    assert_eq!(schema["required"], json!(["city", "days", "hourly", "unit"]));
    assert_eq!(schema["properties"]["city"]["description"], "The name of the city.");
    assert_eq!(schema["properties"]["days"]["maximum"], 14);
}

#[tokio::test]
async fn invalid_arguments_do_not_reach_the_function() {
    let error = call(forecast, r#"{"city":"Bonn","days":20,"zip":1}"#).await.unwrap_err();
    assert_eq!(
        error.message(),
        "Invalid arguments. The tool `forecast` did not run.\n\
         - `days`: expected at most 14, got 20\n\
         - `zip`: unknown field; the fields are `city`, `days`, `hourly`, `unit`\n\
         Correct the arguments and call `forecast` again."
    );
}

/// Converts money.
#[tool]
async fn convert(cx: ToolContext<Shop>, from: Unit, to: Unit) -> String {
    let is_same = matches!((from, to), (Unit::Celsius, Unit::Celsius));
    format!("{is_same} {}", cx.context().currency)
}

#[tokio::test]
async fn owned_context_and_types_of_the_application() {
    let output = call(convert, r#"{"from":"Celsius","to":"Fahrenheit"}"#).await;
    assert_eq!(output, Ok(ToolOutput::text("false EUR")));
}

/// Looks up an order.
#[tool]
async fn find(
    /// The number of the order.
    order: String,
) -> String {
    order
}

#[tokio::test]
async fn single_value_becomes_a_field() {
    assert_eq!(call(find, r#"{"order":"A1"}"#).await, Ok(ToolOutput::text("A1")));
    let schema = &definition(&find)["parameters"];
    let order = json!({"type": "string", "description": "The number of the order."});
    assert_eq!(schema["properties"], json!({"order": order}));
    let error = call(find, r#"{"order":7}"#).await.unwrap_err();
    assert!(error.message().contains("`order`: expected a string, got 7"), "{error}");
}

/// Refunds an order.
#[tool]
async fn destructured(Refund { order, cents }: Refund) -> String {
    format!("{order} {cents}")
}

#[tokio::test]
async fn struct_can_be_destructured() {
    let output = call(destructured, r#"{"order":"A1","cents":5}"#).await;
    assert_eq!(output, Ok(ToolOutput::text("A1 5")));
}

/// Tells the time.
#[tool]
async fn time() -> &'static str {
    "12:00"
}

#[tokio::test]
async fn tool_without_parameters_belongs_to_every_context() {
    for arguments in ["", "{}"] {
        assert_eq!(call(time, arguments).await, Ok(ToolOutput::text("12:00")));
    }
    let elsewhere = ToolContext::new((), "time", "call_1");
    assert_eq!(time().call(elsewhere, "{}").await, Ok(ToolOutput::text("12:00")));
}

trait Priced {
    fn currency(&self) -> &str;
}

impl Priced for Shop {
    fn currency(&self) -> &str {
        self.currency
    }
}

/// Names the currency.
#[tool]
async fn currency<C>(cx: &ToolContext<C>) -> String
where
    C: Priced + Send + Sync + 'static,
{
    cx.context().currency().to_owned()
}

#[tokio::test]
async fn generic_tool_belongs_to_every_context_with_the_trait() {
    assert_eq!(call(currency, "{}").await, Ok(ToolOutput::text("EUR")));
}

#[tool]
async fn without_context_value(cx: &antiphon_agents::tool::ToolContext) -> String {
    cx.call_id().to_string()
}

#[tokio::test]
async fn context_may_have_no_value() {
    let unit = ToolContext::new((), "tool", "call_2");
    assert_eq!(without_context_value().call(unit, "{}").await, Ok(ToolOutput::text("call_2")));
}

#[tokio::test]
async fn tool_can_be_local_and_have_a_keyword_as_name() {
    /// Finds a match.
    #[tool]
    async fn r#match(r#type: String, mut count: u8) -> String {
        count += 1;
        [r#type, count.to_string()].join(" ")
    }

    assert_eq!(definition(&r#match)["name"], "match");
    let output = call(r#match, r#"{"type":"a","count":1}"#).await;
    assert_eq!(output, Ok(ToolOutput::text("a 2")));
}

mod hygiene {
    //! The macro refers to nothing by a name that the caller can redefine.
    #![allow(dead_code, non_camel_case_types, reason = "the names only have to exist")]

    pub(super) struct Result;
    pub(super) struct Option;
    pub(super) struct String;
    #[derive(super::Deserialize, super::JsonSchema)]
    pub(super) struct Arguments {}
    pub(super) mod std {}
    pub(super) mod core {}
    pub(super) mod serde {}

    #[antiphon_agents::tool]
    pub(super) async fn hygienic(first: Arguments, arguments: u8, context: bool) -> &'static str {
        let _ = (first, arguments, context);
        "ok"
    }
}

#[tokio::test]
async fn names_of_the_caller_do_not_matter() {
    let arguments = r#"{"first":{},"arguments":2,"context":true}"#;
    assert_eq!(call(hygiene::hygienic, arguments).await, Ok(ToolOutput::text("ok")));
}
