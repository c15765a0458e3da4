//! The contents, and the ids of calls.

use serde_json::{Value, json};

use super::{Responses, error, items, origin, try_decode};
use crate::dialect::gemini::signature;
use crate::dialect::{Dialect, Seal};
use crate::repair::check;
use crate::transcript::Origin;

fn user(parts: &Value) -> Value {
    json!({"role": "user", "parts": parts})
}

fn model(parts: &Value) -> Value {
    json!({"role": "model", "parts": parts})
}

fn call(name: &str) -> Value {
    json!({"functionCall": {"name": name, "args": {"city": "Berlin"}}})
}

fn response(name: &str) -> Value {
    json!({"functionResponse": {"name": name, "response": {"output": "12 C"}}})
}

/// The call ids of calls and outputs, in order.
fn call_ids(contents: &Value) -> Vec<String> {
    let items = items(contents).into_iter();
    items.filter_map(|item| item["call_id"].as_str().map(str::to_owned)).collect()
}

#[test]
fn documented_function_calling_becomes_items() {
    // Google's guide "Function calling with the Gemini API".
    let contents = json!([
        user(&json!([{"text": "What's the weather in London?"}])),
        model(&json!([{"functionCall": {"name": "get_weather", "args": {"city": "London"}}}])),
        user(&json!([{"functionResponse": {"name": "get_weather",
            "response": {"temperature": 15, "unit": "celsius"}}}]))
    ]);
    let expected = json!([
        {"type": "message", "role": "user",
            "content": [{"type": "input_text", "text": "What's the weather in London?"}]},
        {"type": "function_call", "call_id": "call_get_weather_1", "name": "get_weather",
            "arguments": r#"{"city":"London"}"#},
        {"type": "function_call_output", "call_id": "call_get_weather_1",
            "output": r#"{"temperature":15,"unit":"celsius"}"#}
    ]);
    assert_eq!(json!(items(&contents)), expected);
}

#[test]
fn field_names_in_snake_case_are_read() {
    let contents = json!([
        user(&json!([{"inline_data": {"mime_type": "image/png", "data": "iVBO"}}])),
        model(&json!([{"function_call": {"name": "f", "args": {}}}])),
        user(&json!([{"function_response": {"name": "f", "response": {"output": "x"}}}]))
    ]);
    let items = items(&contents);
    assert_eq!(items[0]["content"][0]["image_url"], "data:image/png;base64,iVBO");
    assert_eq!(items[1]["call_id"], items[2]["call_id"]);
    assert_eq!(items[2]["output"], "x");
}

#[test]
fn derived_ids_depend_only_on_the_contents_before() {
    let mut contents = vec![user(&json!([{"text": "Hello"}]))];
    let mut before: Vec<String> = Vec::new();
    for _ in 0..3 {
        contents.push(model(&json!([call("look"), call("look"), call("find")])));
        contents.push(user(&json!([response("look"), response("find"), response("look")])));
        let ids = call_ids(&json!(contents));
        assert_eq!(ids[..before.len()], before);
        before = ids;
    }
    let expected = ["call_look_1", "call_look_2", "call_find_1"];
    assert_eq!(before[..3], expected);
    assert_eq!(before[3..6], ["call_look_1", "call_find_1", "call_look_2"]);
    assert_eq!(before[6..9], ["call_look_3", "call_look_4", "call_find_2"]);
}

#[test]
fn own_ids_stay() {
    let own = |kind: &str, id: &str| json!({kind: {"id": id, "name": "f", "response": {}}});
    let contents = json!([
        user(&json!([{"text": "Hello"}])),
        model(&json!([own("functionCall", "a"), own("functionCall", "b")])),
        user(&json!([own("functionResponse", "b"), own("functionResponse", "a")]))
    ]);
    assert_eq!(call_ids(&contents), ["a", "b", "b", "a"]);
}

#[test]
fn id_on_one_side_only_is_paired_by_name() {
    let own = |kind: &str| json!({kind: {"id": "x", "name": "look", "response": {}}});
    for parts in [[call("look"), own("functionResponse")], [own("functionCall"), response("look")]]
    {
        let [called, responded] = parts;
        let contents = json!([
            user(&json!([{"text": "Hello"}])),
            model(&json!([called])),
            user(&json!([responded]))
        ]);
        let ids = call_ids(&contents);
        assert_eq!(ids[0], ids[1]);
    }
}

#[test]
fn response_belongs_to_the_last_turn_first() {
    let contents = json!([
        user(&json!([{"text": "Hello"}])),
        model(&json!([call("look")])),
        user(&json!([{"text": "Never mind. Again."}])),
        model(&json!([call("look")])),
        user(&json!([response("look")]))
    ]);
    assert_eq!(call_ids(&contents), ["call_look_1", "call_look_2", "call_look_2"]);
}

#[test]
fn faults_of_the_state_are_found_in_items() {
    let hello = user(&json!([{"text": "Hello"}]));
    let faults = |contents: Value| -> Vec<&str> {
        let decoded = try_decode(&json!({"contents": contents}), Responses).unwrap();
        check(&decoded.items).iter().map(|(_, fault)| fault.name()).collect()
    };
    assert_eq!(faults(json!([hello, model(&json!([call("look")])), hello])), ["unanswered_call"]);
    let orphan = json!([hello, user(&json!([response("look")]))]);
    assert_eq!(faults(orphan), ["output_without_call"]);
    let twice = json!({"functionResponse": {"id": "a", "name": "f", "response": {}}});
    let called = json!({"functionCall": {"id": "a", "name": "f"}});
    let doubled = json!([hello, model(&json!([called])), user(&json!([twice, twice]))]);
    assert_eq!(faults(doubled), ["duplicate_output"]);
}

#[test]
fn chunks_of_a_stream_are_one_message() {
    let contents = json!([
        user(&json!([{"text": "Hello"}])),
        model(&json!([{"text": "Hel"}])),
        model(&json!([{"text": "lo."}])),
        model(&json!([{"text": ""}])),
        user(&json!([{"text": "And?"}]))
    ]);
    let items = items(&contents);
    assert_eq!(items.len(), 3);
    assert_eq!(items[1]["content"][0]["text"], "Hello.");
}

#[test]
fn media_become_parts() {
    let parts = json!([
        {"text": "See"},
        {"inlineData": {"mimeType": "application/pdf", "data": "JV-_", "displayName": "a.pdf"}},
        {"fileData": {"mimeType": "image/png", "fileUri": "https://x.test/a.png"}},
        {"fileData": {"fileUri": "https://x.test/a.pdf"}}
    ]);
    let expected = json!([
        {"type": "input_text", "text": "See"},
        {"type": "input_file", "file_data": "data:application/pdf;base64,JV+/",
            "filename": "a.pdf"},
        {"type": "input_image", "image_url": "https://x.test/a.png"},
        {"type": "input_file", "file_url": "https://x.test/a.pdf"}
    ]);
    assert_eq!(items(&json!([user(&parts)]))[0]["content"], expected);
    let stored = json!([{"fileData": {"fileUri": "gs://bucket/a"}}]);
    let message = error(&json!({"contents": [user(&stored)]}));
    assert!(message.contains("contents[0].parts[0].fileData.fileUri"), "{message}");
}

#[test]
fn response_with_media_has_parts() {
    let response = json!({"functionResponse": {"name": "f", "id": "a", "response": {"output": "x"},
        "parts": [{"inlineData": {"mimeType": "image/png", "data": "iVBO"}}]}});
    let called = json!({"functionCall": {"id": "a", "name": "f"}});
    let items = items(&json!([
        user(&json!([{"text": "Hello"}])),
        model(&json!([called])),
        user(&json!([response]))
    ]));
    let expected = json!([{"type": "input_text", "text": "x"},
        {"type": "input_image", "image_url": "data:image/png;base64,iVBO"}]);
    assert_eq!(items[2]["output"], expected);
}

#[test]
fn signature_becomes_the_reasoning_before_its_part() {
    let seal = |dialect: Dialect, origin: &Origin, content: &str| {
        Seal { dialect, origin: origin.clone(), content: content.to_owned() }.to_text()
    };
    let own = seal(Dialect::Responses, &origin(), r#"{"encrypted_content":"gAAA"}"#);
    let block = r#"{"type":"thinking","thinking":"Hm","signature":"EqQB"}"#;
    let other = seal(Dialect::Anthropic, &origin(), block);
    let signature = signature::encode(&[own, other.clone()]);
    let mut called = call("look");
    called["thoughtSignature"] = json!(signature);
    let items = items(&json!([
        user(&json!([{"text": "Hello"}])),
        model(&json!([{"text": "Let me think.", "thought": true}, {"text": "One"}, called]))
    ]));
    let kinds: Vec<_> = items.iter().map(|item| item["type"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["message", "message", "reasoning", "reasoning", "function_call"]);
    assert_eq!(items[2]["encrypted_content"], "gAAA");
    assert_eq!(items[2]["summary"], json!([{"type": "summary_text", "text": "Let me think."}]));
    assert_eq!((&items[3]["encrypted_content"], &items[3]["summary"]), (&json!(other), &json!([])));
}

#[test]
fn foreign_signature_is_left_out() {
    let signed = |signature: &str| {
        let mut called = call("look");
        called["thoughtSignature"] = json!(signature);
        let hello = user(&json!([{"text": "Hello"}]));
        let contents = json!([hello, model(&json!([called])), user(&json!([response("look")]))]);
        let decoded = try_decode(&json!({"contents": contents}), Responses).unwrap();
        assert_eq!(decoded.items.len(), 3);
        decoded.omissions.len()
    };
    assert_eq!(signed("skip_thought_signature_validator"), 0);
    for foreign in ["EqQBCkgIBxABGAIqQ", "bm90IGEgc2VhbA==", "!"] {
        assert_eq!(signed(foreign), 1, "{foreign}");
    }
}

#[test]
fn parts_of_hosted_tools_are_left_out() {
    let contents = json!([
        user(&json!([{"text": "Hello"}])),
        model(&json!([{"executableCode": {"language": "PYTHON", "code": "1"}}, {"text": "1"}]))
    ]);
    let decoded = try_decode(&json!({"contents": contents}), Responses).unwrap();
    let places: Vec<_> = decoded.omissions.iter().map(|it| it.place.to_string()).collect();
    assert_eq!(places, ["contents[1].parts[0].executableCode"]);
    assert_eq!(decoded.items.len(), 2);
}

#[test]
fn invalid_content_is_named() {
    let parts = |parts: Value| json!({"contents": [{"role": "user", "parts": parts}]});
    for (fields, message) in [
        (json!({"contents": null}), "* GenerateContentRequest.contents: contents is not specified"),
        (json!({"contents": []}), "* GenerateContentRequest.contents: contents is not specified"),
        (json!({"contents": ["x"]}), "Invalid value at 'contents[0]' (TYPE_MESSAGE), \"x\""),
        (
            json!({"contents": [{"role": "system", "parts": [{"text": "x"}]}]}),
            "* GenerateContentRequest.contents[0].role: Please use a valid role: user, model.",
        ),
        (
            parts(json!([])),
            "* GenerateContentRequest.contents[0].parts: contents.parts must not be empty.",
        ),
        (
            parts(json!([{"text": 5}])),
            "Invalid value at 'contents[0].parts[0].text' (TYPE_STRING), 5",
        ),
        (
            parts(json!([{}])),
            "* GenerateContentRequest.contents[0].parts[0]: required oneof field 'data' must have \
             one initialized field",
        ),
        (
            parts(json!([{"functionResponse": {"response": {}}}])),
            "* GenerateContentRequest.contents[0].parts[0].functionResponse.name: name is not \
             specified",
        ),
    ] {
        assert_eq!(error(&fields), message);
    }
}
