//! The fields other than messages and tools.

use serde_json::{Value, json};

use super::{Anthropic, Chat, Responses, decode, decode_all};

#[test]
fn common_fields_become_those_of_responses() {
    let fields = json!({"system": "Be brief.", "temperature": 0.5, "top_p": 0.9, "stream": true,
        "service_tier": "standard_only", "metadata": {"user_id": "u"}});
    let expected = json!({"instructions": "Be brief.", "temperature": 0.5, "top_p": 0.9,
        "stream": true, "service_tier": "default", "safety_identifier": "u"});
    assert_eq!(decode_all(&fields, Responses), expected);
}

#[test]
fn system_texts_are_joined_and_blank_ones_left_out() {
    let text = |text: &str| json!({"type": "text", "text": text});
    let system = json!({"system": [text("One."), text(" "), text("Two.")]});
    for upstream in [Responses, Chat, Anthropic] {
        assert_eq!(decode_all(&system, upstream), json!({"instructions": "One.\n\nTwo."}));
        assert_eq!(decode_all(&json!({"system": ""}), upstream), json!({}));
    }
}

#[test]
fn few_tokens_are_raised_to_the_minimum_of_the_responses_api() {
    let (fields, omissions) = decode(&json!({"max_tokens": 1}), Responses);
    assert_eq!((fields, omissions), (json!({"max_output_tokens": 16}), vec!["max_tokens".into()]));
    for (upstream, field) in [(Anthropic, "max_tokens"), (Chat, "max_completion_tokens")] {
        assert_eq!(decode_all(&json!({"max_tokens": 1}), upstream), json!({field: 1}));
    }
    let expected = json!({"max_output_tokens": 4_000});
    assert_eq!(decode_all(&json!({"max_tokens": 4_000}), Anthropic), expected);
}

#[test]
fn other_fields_are_for_anthropic_only() {
    let own = json!({"top_k": 5, "stop_sequences": ["END"], "container": "c",
        "output_format": {"type": "json_schema", "schema": {}},
        "thinking": {"type": "enabled", "budget_tokens": 2_000},
        "output_config": {"effort": "max"}});
    assert_eq!(decode_all(&own, Anthropic), own);

    let (fields, omissions) = decode(&own, Responses);
    assert_eq!(omissions, ["top_k", "stop_sequences", "output_config.effort", "container"]);
    assert_eq!(fields["reasoning"], json!({"effort": "xhigh", "summary": "auto"}));
    let (fields, omissions) = decode(&own, Chat);
    assert_eq!(omissions, ["top_k", "output_config.effort", "container"]);
    assert_eq!(fields["stop"], json!(["END"]));
    assert_eq!(fields["reasoning"], json!({"effort": "xhigh"}));
}

#[test]
fn default_sampling_is_left_out_for_others() {
    let fields = json!({"temperature": 1, "top_p": 1.0});
    for upstream in [Responses, Chat] {
        assert_eq!(decode_all(&fields, upstream), json!({}));
    }
    assert_eq!(decode_all(&fields, Anthropic), fields);
}

#[test]
fn cache_control_is_left_out_silently() {
    let cached = json!({"cache_control": {"type": "ephemeral"}, "top_k": null,
        "system": [{"type": "text", "text": "S", "cache_control": {"type": "ephemeral"}}]});
    for upstream in [Responses, Chat] {
        assert_eq!(decode_all(&cached, upstream), json!({"instructions": "S"}));
    }
}

#[test]
fn latest_mark_of_the_messages_becomes_that_of_the_request() {
    let text = |ttl: &str| {
        json!([{"type": "text", "text": "T",
        "cache_control": {"type": "ephemeral", "ttl": ttl}}])
    };
    let marked = json!({"messages": [
        {"role": "user", "content": text("5m")},
        {"role": "assistant", "content": text("1h")},
        {"role": "user", "content": "cache_control"}]});
    let expected = json!({"cache_control": {"type": "ephemeral", "ttl": "1h"}});
    assert_eq!(decode_all(&marked, Anthropic), expected);
    for upstream in [Responses, Chat] {
        assert_eq!(decode_all(&marked, upstream), json!({}));
    }

    let mut own = marked.clone();
    own["cache_control"] = json!({"type": "ephemeral"});
    let expected = json!({"cache_control": {"type": "ephemeral"}});
    assert_eq!(decode_all(&own, Anthropic), expected);
}

#[test]
fn mark_of_the_system_alone_is_left_out() {
    let marked = json!({
        "system": [{"type": "text", "text": "S", "cache_control": {"type": "ephemeral"}}]});
    assert_eq!(decode_all(&marked, Anthropic), json!({"instructions": "S"}));
}

#[test]
fn fields_of_the_responses_api_do_not_pass() {
    let foreign = json!({"previous_response_id": "resp_1", "conversation": "conv_1", "store": true,
        "background": true, "input": "x", "instructions": "x",
        "context_management": {"edits": []}});
    for upstream in [Responses, Chat, Anthropic] {
        let (fields, omissions) = decode(&foreign, upstream);
        assert_eq!(fields, json!({}));
        assert_eq!(omissions.len(), 7);
    }
}

#[test]
fn conversation_in_metadata_does_not_pass() {
    let metadata = json!({"metadata": {"user_id": "u", "conversation": "conv_1"}});
    assert_eq!(decode_all(&metadata, Responses), json!({"safety_identifier": "u"}));
    for upstream in [Chat, Anthropic] {
        assert_eq!(decode_all(&metadata, upstream), json!({"user": "u"}));
    }
}

#[test]
fn long_user_id_is_left_out() {
    let id = "u".repeat(65);
    let metadata = json!({"metadata": {"user_id": id}});
    assert_eq!(decode(&metadata, Responses), (json!({}), vec!["metadata.user_id".to_owned()]));
    for upstream in [Chat, Anthropic] {
        assert_eq!(decode_all(&metadata, upstream), json!({"user": id}));
    }
}

#[test]
fn thinking_becomes_reasoning() {
    let enabled = |budget: u64| json!({"type": "enabled", "budget_tokens": budget});
    let hidden = json!({"type": "adaptive", "display": "omitted"});
    for (thinking, effort, expected) in [
        (enabled(1_024), None, json!({"effort": "low", "summary": "auto"})),
        (enabled(2_048), None, json!({"effort": "low", "summary": "auto"})),
        (enabled(8_192), None, json!({"effort": "medium", "summary": "auto"})),
        (enabled(16_384), None, json!({"effort": "high", "summary": "auto"})),
        (enabled(1_024), Some("high"), json!({"effort": "high", "summary": "auto"})),
        (json!({"type": "adaptive"}), None, json!({"summary": "auto"})),
        (json!({"type": "adaptive"}), Some("low"), json!({"effort": "low", "summary": "auto"})),
        (hidden, Some("low"), json!({"effort": "low"})),
        (json!({"type": "disabled"}), Some("low"), json!({"effort": "none"})),
        (Value::Null, Some("medium"), json!({"effort": "medium"})),
        (Value::Null, None, Value::Null),
    ] {
        let mut fields = json!({"thinking": thinking});
        if let Some(effort) = effort {
            fields["output_config"] = json!({"effort": effort});
        }
        assert_eq!(decode_all(&fields, Responses)["reasoning"], expected, "{fields}");
    }
}

#[test]
fn schema_becomes_a_strict_format() {
    let schema = json!({"type": "object", "properties": {}});
    let format = json!({"type": "json_schema", "schema": schema});
    for fields in [json!({"output_config": {"format": format}}), json!({"output_format": format})] {
        let text = &decode_all(&fields, Chat)["text"];
        let expected =
            json!({"type": "json_schema", "name": "output", "strict": true, "schema": schema});
        assert_eq!(text["format"], expected);
    }
}
