//! The fields of a request.

use super::*;

#[test]
fn request_asks_for_stream_with_usage() {
    let (body, _) = encoded(&json!({"model": "m"}), &json!([user("hi")]));
    let expected = json!({"model": "m", "messages": [{"role": "user", "content": "hi"}],
        "stream": true, "stream_options": {"include_usage": true}});
    assert_eq!(body, expected);
}

#[test]
fn field_order_is_deterministic() {
    let one = concat!(
        r#"{"user":"u","tools":[{"type":"function","name":"f"}],"temperature":1.0,"model":"m","#,
        r#""max_output_tokens":16}"#,
    );
    let two = concat!(
        r#"{"max_output_tokens":16,"model":"m","temperature":1.0,"#,
        r#""tools":[{"type":"function","name":"f"}],"user":"u"}"#,
    );
    let body = |text: &str| {
        let fields = Object::parse(text.as_bytes()).unwrap();
        let origin = Origin::new(HERE);
        encode(Request { fields: &fields, items: &[], origin: &origin }).unwrap().body
    };
    let expected = concat!(
        r#"{"model":"m","messages":[],"tools":[{"type":"function","function":{"name":"f"}}],"#,
        r#""max_completion_tokens":16,"temperature":1.0,"user":"u","stream":true,"#,
        r#""stream_options":{"include_usage":true}}"#,
    );
    assert_eq!(body(one), expected);
    assert_eq!(body(two), expected);
}

#[test]
fn shared_fields_are_sent_unchanged() {
    let fields = json!({"model": "m", "temperature": 0.5, "top_p": 0.9, "presence_penalty": 0.1,
        "frequency_penalty": 0.2, "service_tier": "flex", "user": "u", "safety_identifier": "s",
        "prompt_cache_key": "k", "prompt_cache_retention": "24h"});
    let body = body(&fields);
    for (name, value) in fields.as_object().unwrap() {
        assert_eq!(&body[name], value, "{name}");
    }
}

#[test]
fn max_output_tokens_becomes_max_completion_tokens() {
    let body = body(&json!({"model": "m", "max_output_tokens": 64}));
    assert_eq!(body["max_completion_tokens"], 64);
    assert_eq!(body.get("max_tokens"), None);
}

#[test]
fn defaults_and_nulls_are_not_sent() {
    let fields = json!({"model": "m", "tool_choice": "auto", "truncation": "disabled",
        "text": {"format": {"type": "text"}}, "store": false, "background": false,
        "metadata": {}, "service_tier": "auto", "parallel_tool_calls": true, "include": [],
        "temperature": null, "prompt": null, "conversation": null, "previous_response_id": null,
        "max_tool_calls": null, "context_management": null, "top_k": null, "stream": false,
        "stream_options": {"include_obfuscation": false}});
    let names: Vec<String> = body(&fields).as_object().unwrap().keys().cloned().collect();
    assert_eq!(names, ["messages", "model", "stream", "stream_options"]);
}

#[test]
fn optional_fields_are_left_out_and_reported() {
    let fields = json!({"model": "m", "truncation": "auto", "max_tool_calls": 3, "store": true,
        "metadata": {"a": "b"}, "client_metadata": {"thread_id": "t"}});
    let (body, omitted) = encoded(&fields, &json!([]));
    assert_eq!(body.as_object().unwrap().len(), 4);
    assert_eq!(omitted, ["store", "metadata", "client_metadata", "truncation", "max_tool_calls"]);
}

#[test]
fn essential_fields_without_counterpart_are_rejected() {
    for (field, value) in [
        ("prompt", json!({"id": "pmpt_1"})),
        ("background", json!(true)),
        ("context_management", json!([{"type": "compaction"}])),
        ("previous_response_id", json!("resp_1")),
        ("conversation", json!("conv_1")),
        ("n", json!(2)),
    ] {
        let mut fields = json!({"model": "m"});
        fields[field] = value;
        assert_eq!(refused_field(&fields), field);
    }
}

#[test]
fn rejection_message_is_a_sentence() {
    let (_, message) = refused(&json!({"model": "m", "background": true}), &json!([]));
    assert_eq!(
        message,
        "'background' cannot be sent as Chat Completions: it has no background responses."
    );
}

#[test]
fn unknown_fields_are_sent_unchanged() {
    let text = concat!(
        r#"{"model":"m","top_k":20,"chat_template_kwargs":{ "enable_thinking": false },"#,
        r#""stop":["x"],"max_tokens":9}"#,
    );
    let fields = Object::parse(text.as_bytes()).unwrap();
    let origin = Origin::new(HERE);
    let encoded = encode(Request { fields: &fields, items: &[], origin: &origin }).unwrap();
    let body = std::str::from_utf8(&encoded.body).unwrap();
    let extras = concat!(
        r#""top_k":20,"chat_template_kwargs":{ "enable_thinking": false },"stop":["x"],"#,
        r#""max_tokens":9}"#,
    );
    assert!(body.ends_with(extras), "{body}");
    assert!(encoded.omissions.is_empty());
}

#[test]
fn field_is_never_written_twice() {
    let fields = json!({"model": "m", "messages": [], "max_output_tokens": 64,
        "max_completion_tokens": 32, "reasoning_effort": "low"});
    let (body, omitted) = encoded(&fields, &json!([user("hi")]));
    assert_eq!(body["messages"][0]["content"], "hi");
    assert_eq!(
        (&body["max_completion_tokens"], &body["reasoning_effort"]),
        (&json!(64), &json!("low"))
    );
    assert_eq!(omitted.len(), 2);
    assert!(omitted.contains(&"messages".into()));
    assert!(omitted.contains(&"max_completion_tokens".into()));
}
