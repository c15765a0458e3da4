//! The built-in model keeps the contract of a backend.

use antiphon::item::given;
use antiphon::tracker::Continuation;
use antiphon_agents::model::{EventKind, Model, ModelErrorKind, ModelRequest, ToolDefinition};
use serde_json::json;

#[tokio::test]
async fn tools_are_called_and_their_outputs_used() {
    let model = Model::sim();
    let schema = json!({
        "type": "object", "properties": {"city": {"type": "string"}},
        "required": ["city"], "additionalProperties": false,
    });
    let tool =
        ToolDefinition::function("get_weather", "Gets the weather of a city.", &schema, true);
    let mut request = ModelRequest {
        tools: vec![tool],
        ..ModelRequest::new(model.name()).with_items([given::user("What is the weather in Rome?")])
    };
    let answered = model.backend().respond(request.clone()).await.unwrap().finish().await.unwrap();
    let call = answered.calls().next().expect("the model calls the tool").clone();
    let call_id = call.head().call_id.clone().unwrap();

    let output = given::output(call_id.as_str(), "Sunny, 21 degrees");
    request = request.with_items(answered.output).with_items([output]);
    let mut answer = model.backend().respond(request).await.unwrap();
    let mut text = String::new();
    while let Some(event) = answer.next().await {
        if let EventKind::TextDelta(_, delta) = event.unwrap().into_kind() {
            text += &delta;
        }
    }
    assert!(text.contains("21"), "{text}");
}

#[tokio::test]
async fn server_state_is_a_clear_error() {
    let model = Model::sim();
    let continuation = Some(Continuation::Chain { previous_response_id: None });
    let request = ModelRequest { continuation, ..ModelRequest::new("sim") };
    let error = model.backend().respond(request).await.unwrap_err();
    assert!(matches!(error.kind(), ModelErrorKind::Unsupported(_)));
}
