//! The response object around the output.

use serde_json::{Value, json};

use super::checker::RESPONSE_KEYS;
use crate::json::Object;
use crate::stream::Envelope;

/// Keys that may be null, by the specification's `ResponseResource`.
const NULLABLE: [&str; 11] = [
    "completed_at",
    "incomplete_details",
    "previous_response_id",
    "instructions",
    "error",
    "reasoning",
    "usage",
    "max_output_tokens",
    "max_tool_calls",
    "safety_identifier",
    "prompt_cache_key",
];

fn envelope(request: &Value, reported: &[Value], conversation: Option<&str>) -> Value {
    let request = request.to_string();
    let request = Object::parse(request.as_bytes()).unwrap();
    let mut envelope = Envelope::new("resp_ours", 1_770_000_000, &request, conversation);
    for reported in reported {
        let reported = reported.to_string();
        envelope.copy_upstream_fields(&Object::parse(reported.as_bytes()).unwrap());
    }
    serde_json::from_str(&envelope.render(std::iter::empty())).unwrap()
}

fn is_whole(response: &Value) {
    for key in RESPONSE_KEYS {
        let value = response.get(key).unwrap_or_else(|| panic!("{key} is missing"));
        assert!(NULLABLE.contains(&key) || !value.is_null(), "{key} is null");
    }
}

#[test]
fn response_always_has_every_key() {
    is_whole(&envelope(&json!({}), &[], None));
    is_whole(&envelope(&json!({"model": "sim", "input": "Hi"}), &[json!({})], None));
}

#[test]
fn nulls_do_not_replace_defaults() {
    let nulls: Value = RESPONSE_KEYS.iter().map(|key| ((*key).to_owned(), Value::Null)).collect();
    is_whole(&envelope(&nulls, &[], None));
    is_whole(&envelope(&json!({"model": "sim"}), &[nulls], None));
}

#[test]
fn upstream_can_report_a_default() {
    let request = json!({"temperature": 0.2, "parallel_tool_calls": false});
    let reported = json!({"temperature": 1.0, "parallel_tool_calls": true});
    let response = envelope(&request, &[reported], None);
    assert_eq!(response["temperature"], 1.0);
    assert_eq!(response["parallel_tool_calls"], true);
}

#[test]
fn null_replaces_a_request_only_if_it_is_the_default() {
    let request = json!({"temperature": 0.2, "max_output_tokens": 9});
    let reported = json!({"temperature": null, "max_output_tokens": null});
    let response = envelope(&request, &[reported], None);
    assert_eq!(response["temperature"], 0.2);
    assert_eq!(response["max_output_tokens"], Value::Null);
}

/// Every field has its place, whether or not it has its default; further ones follow.
#[test]
fn fields_have_one_order() {
    let order = |request: &str| -> Vec<String> {
        let request = Object::parse(request.as_bytes()).unwrap();
        let envelope = Envelope::new("resp_ours", 1_770_000_000, &request, Some("conv_1"));
        let response = envelope.render(std::iter::empty());
        let response = Object::parse(response.as_bytes()).unwrap();
        response.iter().map(|(key, _)| key.to_owned()).collect()
    };
    let changed =
        order(r#"{"user":"u1","store":false,"top_p":0.5,"model":"m","instructions":"i"}"#);
    assert_eq!(changed.last().unwrap(), "user");
    assert_eq!(changed[..changed.len() - 1], order("{}"));
}

#[test]
fn request_is_echoed_by_default() {
    let request = json!({"model": "sim", "temperature": 0.2, "instructions": "Be brief.",
        "metadata": {"a": "b"}, "user": "u1", "store": false, "previous_response_id": "resp_0"});
    let response = envelope(&request, &[], None);
    for (key, value) in request.as_object().unwrap() {
        assert_eq!(response[key], *value);
    }
    assert_eq!(response["conversation"], Value::Null);
}

#[test]
fn upstream_fields_win_over_the_echo() {
    let reported = json!({"model": "sim-2026", "service_tier": "priority", "acme_trace": [1]});
    let response = envelope(
        &json!({"model": "sim", "service_tier": "auto"}),
        std::slice::from_ref(&reported),
        None,
    );
    for (key, value) in reported.as_object().unwrap() {
        assert_eq!(response[key], *value);
    }
}

#[test]
fn identity_and_state_are_ours() {
    let reported = json!({"id": "resp_up", "created_at": 1, "status": "completed", "store": false,
        "completed_at": 2, "previous_response_id": "resp_other", "conversation": {"id": "conv_up"},
        "instructions": "Other.", "output": [1], "metadata": {"x": "y"}, "background": true,
        "error": {"code": "x"}, "incomplete_details": {"reason": "x"}, "object": "other"});
    let response = envelope(&json!({"model": "sim"}), &[reported], Some("conv_ours"));
    assert_eq!(response, envelope(&json!({"model": "sim"}), &[], Some("conv_ours")));
    assert_eq!(response["conversation"], json!({"id": "conv_ours"}));
}

#[test]
fn echoed_tools_have_all_keys() {
    let tools = json!([
        {"type": "function", "name": "f"},
        {"type": "function", "name": "g", "description": "G.", "parameters": {}, "strict": true},
        {"type": "web_search"},
    ]);
    let response = envelope(&json!({"tools": tools}), &[], None);
    let completed = json!({"type": "function", "name": "f", "description": null,
        "parameters": null, "strict": null});
    assert_eq!(response["tools"], json!([completed, tools[1], tools[2]]));

    let reported = json!({"tools": [{"type": "function", "name": "h"}]});
    let response = envelope(&json!({}), &[reported], None);
    assert_eq!(response["tools"][0]["strict"], Value::Null);
    assert!(response["tools"][0].get("strict").is_some());
}

#[test]
fn echoed_text_and_reasoning_have_required_keys() {
    let response = envelope(&json!({"text": {"verbosity": "low"}, "reasoning": {}}), &[], None);
    let text = json!({"format": {"type": "text"}, "verbosity": "low"});
    assert_eq!(response["text"], text);
    assert_eq!(response["reasoning"], json!({"effort": null, "summary": null}));

    let format = json!({"type": "json_schema", "name": "x", "schema": {"type": "object"}});
    let response = envelope(&json!({"text": {"format": format}}), &[], None);
    let completed = json!({"type": "json_schema", "name": "x", "schema": {"type": "object"},
        "description": null, "strict": false});
    assert_eq!(response["text"]["format"], completed);
}

#[test]
fn echoed_fields_keep_their_bytes() {
    let request =
        br#"{"model":"sim","tools":[{"type":"web_search" , "n":1e2}],"temperature":0.10}"#;
    let request = Object::parse(request).unwrap();
    let envelope = Envelope::new("resp_ours", 0, &request, None);
    let text = envelope.render(std::iter::empty());
    assert!(text.contains(r#""tools":[{"type":"web_search" , "n":1e2}]"#));
    assert!(text.contains(r#""temperature":0.10"#));
}

#[test]
fn rendered_output_replaces_the_field() {
    let request = Object::parse(b"{}").unwrap();
    let envelope = Envelope::new("resp_ours", 0, &request, None);
    let rendered: Value = serde_json::from_str(&envelope.render(["1", "[2]"].into_iter())).unwrap();
    assert_eq!(rendered["output"], json!([1, [2]]));
}

#[test]
fn multi_line_request_is_echoed_in_one_line() {
    let request =
        Object::parse(b"{\"model\":\"sim\",\"tools\":[\n{\r\n\"type\":\"web_search\"}]}").unwrap();
    let envelope = Envelope::new("resp_ours", 0, &request, None);
    let ids = Box::new(NoIds);
    let mut assembler =
        crate::stream::Assembler::new(envelope, crate::stream::UsedIds::default(), ids, true);
    assembler.apply_event(&r#"{"type":"response.completed"}"#.into()).unwrap();
    let created = assembler.next_event().unwrap();
    assert!(!created.data.contains(&b'\n') && !created.data.contains(&b'\r'));
    assert!(!assembler.finish(0).event.data.contains(&b'\n'));
}

/// The test has no items, so it needs no ids.
struct NoIds;

impl crate::item::IdSource for NoIds {
    fn fill(&mut self, _: &mut [u8]) {
        unreachable!("no item came");
    }
}
