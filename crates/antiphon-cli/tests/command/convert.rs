//! `antiphon convert`: streams in, streams out, and how the process ends.

use serde_json::Value;

use crate::world::{Ended, World};

const CHAT: &str = concat!(
    r#"data: {"id":"c1","object":"chat.completion.chunk","model":"m","choices":[{"index":0,"#,
    r#""delta":{"role":"assistant","content":""},"finish_reason":null}]}"#,
    "\n\n",
    r#"data: {"id":"c1","object":"chat.completion.chunk","model":"m","#,
    r#""choices":[{"index":0,"delta":{"content":"Hello"},"finish_reason":null}]}"#,
    "\n\n",
    r#"data: {"id":"c1","object":"chat.completion.chunk","model":"m","#,
    r#""choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}"#,
    "\n\ndata: [DONE]\n\n",
);

const PARTS: &str = concat!(
    r#"{"type":"tool-input-start","id":"call_123","toolName":"get_weather"}"#,
    "\n",
    r#"{"type":"tool-input-delta","id":"call_123","delta":"{\"location\":\"NYC\"}"}"#,
    "\n",
    r#"{"type":"tool-call","toolCallId":"call_123","toolName":"get_weather","#,
    r#""input":{"location":"NYC"}}"#,
    "\n",
    r#"{"type":"finish","finishReason":"tool-calls","usage":{"inputTokens":1,"outputTokens":2}}"#,
    "\n",
);

fn convert(args: &[&str], input: &str) -> Ended {
    World::antiphon(&[&["convert"], args].concat()).input(input).ends()
}

/// The events of a stream that ended well.
fn events(args: &[&str], input: &str) -> Vec<Value> {
    let ended = convert(&[args, &["--ndjson"]].concat(), input);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    lines(&ended.stdout)
}

fn lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn kinds(events: &[Value]) -> Vec<&str> {
    events.iter().map(|event| event["type"].as_str().unwrap()).collect()
}

#[test]
fn event_stream_is_written_as_an_event_stream() {
    let ended = convert(&["--from", "chat", "--to", "responses"], CHAT);
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""));
    assert!(
        ended.stdout.starts_with("event: response.created\ndata: {\"type\":\"response.created\",")
    );
    assert!(ended.stdout.ends_with("}\n\ndata: [DONE]\n\n"), "{}", ended.stdout);
    assert!(ended.stdout.contains("event: response.output_text.delta\n"));

    let ended = convert(&["--from", "chat", "--to", "anthropic"], CHAT);
    assert!(ended.stdout.starts_with("event: message_start\n"));
    assert!(ended.stdout.ends_with("event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n"));
}

#[test]
fn call_announced_twice_is_one_item() {
    let received = events(&["--from", "ai-sdk", "--to", "responses"], PARTS);
    let added = |kind: &&str| **kind == *"response.output_item.added";
    assert_eq!(kinds(&received).iter().filter(|kind| added(kind)).count(), 1);
    let call = &received.last().unwrap()["response"]["output"][0];
    assert_eq!((&call["call_id"], &call["name"]), (&"call_123".into(), &"get_weather".into()));

    let received = events(&["--from", "ai-sdk", "--to", "anthropic"], PARTS);
    let starts = kinds(&received).iter().filter(|kind| **kind == "content_block_start").count();
    assert_eq!(starts, 1);
}

#[test]
fn folded_answer_is_one_object() {
    let ended = convert(&["--from", "chat", "--to", "responses", "--fold"], CHAT);
    let response: Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!(response["object"], "response");
    assert_eq!(response["output"][0]["content"][0]["text"], "Hello");

    let ended = convert(&["--from", "chat", "--to", "anthropic", "--fold"], CHAT);
    let message: Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!(message["content"][0]["text"], "Hello");
    assert_eq!(message["stop_reason"], "end_turn");
}

#[test]
fn malformed_line_is_reported_and_the_stream_ends() {
    let input = PARTS.replacen("{\"type\":\"tool-call\"", "oops", 1);
    let ended = convert(&["--from", "ai-sdk", "--to", "responses", "--ndjson"], &input);
    assert_eq!(ended.code, Some(1));
    assert!(
        ended.stderr.starts_with("error: line 3: this is not a JSON object: "),
        "{}",
        ended.stderr
    );
    let received = lines(&ended.stdout);
    assert_eq!(kinds(&received)[..2], ["response.created", "response.in_progress"]);
    assert_eq!(received.last().unwrap()["type"], "response.failed");
    assert_eq!(
        kinds(&received).iter().filter(|kind| **kind == "response.output_item.done").count(),
        1
    );

    let input =
        CHAT.replacen("data: {\"id\"", "data: {id", 2).replacen("data: {id", "data: {\"id\"", 1);
    let ended = convert(&["--from", "chat", "--to", "anthropic"], &input);
    assert!(ended.stderr.starts_with("error: line 3: "), "{}", ended.stderr);
    assert!(ended.stdout.contains("event: error\n"), "{}", ended.stdout);
}

#[test]
fn truncated_input_is_reported() {
    let broken = &CHAT[..CHAT.rfind("data: {").unwrap()];
    for input in [broken, ""] {
        let ended = convert(&["--from", "chat", "--to", "responses", "--ndjson"], input);
        assert_eq!(ended.code, Some(1));
        assert_eq!(ended.stderr, "error: the input ended before the response did\n");
        assert_eq!(lines(&ended.stdout).last().unwrap()["type"], "response.failed");
    }
}

#[test]
fn whole_answer_in_any_layout_is_converted() {
    let whole = r#"{
  "object": "chat.completion", "model": "m",
  "choices": [{"index": 0, "message": {"role": "assistant", "content": "Hello"},
    "finish_reason": "stop"}]
}
"#;
    for input in [whole.to_owned(), whole.replace('\n', "")] {
        let ended = convert(&["--from", "chat", "--to", "responses", "--fold"], &input);
        assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""));
        let again = convert(&["--from", "responses", "--to", "anthropic", "--fold"], &ended.stdout);
        let message: Value = serde_json::from_str(&again.stdout).unwrap();
        assert_eq!(message["content"][0]["text"], "Hello");
    }
}

#[test]
fn server_error_is_reported_verbatim() {
    let input = "{\n  \"error\": {\n    \"message\": \"Incorrect API key provided.\",\n    \
                 \"type\": \"invalid_request_error\"\n  }\n}\n";
    for from in ["chat", "anthropic", "responses"] {
        let ended = convert(&["--from", from, "--to", "responses", "--ndjson"], input);
        assert_eq!(ended.stderr, "note: the response failed: Incorrect API key provided.\n");
        let received = lines(&ended.stdout);
        assert_eq!(received.last().unwrap()["type"], "response.failed");
    }
}

#[test]
fn input_of_another_dialect_is_reported() {
    for input in ["<html>no</html>\n", "hello\n", "{\"detail\":\"Not Found\"}\n"] {
        let ended = convert(&["--from", "chat", "--to", "responses"], input);
        let sentence = "error: there is no answer in the dialect 'chat' in the input\n";
        assert_eq!((ended.code, ended.stderr.as_str()), (Some(1), sentence), "{input}");
        assert!(ended.stdout.contains("event: response.failed\n"));
    }
}

#[test]
fn truncated_arguments_are_not_empty() {
    let input = concat!(
        r#"{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"a","#,
        r#""function":{"name":"rm","arguments":"{\"path\":\"/tmp"}}]}}]}"#,
        "\n",
        r#"{"choices":[{"index":0,"delta":{},"finish_reason":"length"}]}"#,
        "\n",
    );
    let ended = convert(&["--from", "chat", "--to", "anthropic", "--fold"], input);
    let message: Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!(message["content"][0]["input"], serde_json::json!({"_raw": "{\"path\":\"/tmp"}));
}

#[test]
fn omitted_content_is_reported() {
    let input = PARTS.replacen(
        "{\"type\":\"finish\"",
        "{\"type\":\"tool-result\",\"toolCallId\":\"call_123\",\"toolName\":\"get_weather\",\
         \"result\":\"Sunny\"}\n{\"type\":\"finish\"",
        1,
    );
    let ended = convert(&["--from", "ai-sdk", "--to", "anthropic"], &input);
    let note = "note: left out: item 'function_call_output', in Anthropic Messages\n";
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), note));
}

#[test]
fn excluded_calls_are_suppressed_and_reported() {
    let args =
        ["convert", "--from", "ai-sdk", "--to", "responses", "--ndjson", "--request", "r.json"];
    let world = World::antiphon(&args).file("r.json", r#"{"tool_choice":"none"}"#).input(PARTS);
    let ended = world.ends();
    assert_eq!(ended.code, Some(0));
    assert_eq!(
        ended.stderr,
        "note: a call of 'get_weather' was suppressed: the request's tool_choice rules it out\n"
    );
    assert_eq!(lines(&ended.stdout).last().unwrap()["response"]["output"], Value::Array(vec![]));
}

#[test]
fn raw_reasoning_goes_by_either_name() {
    let input = concat!(
        r#"data: {"type":"response.reasoning_text.delta","output_index":0,"item_id":"rs_1","#,
        r#""content_index":0,"delta":"Hm."}"#,
        "\n\n",
        r#"data: {"type":"response.completed","response":{"status":"completed"}}"#,
        "\n\n",
    );
    for (whose, name) in [
        ("openai", "response.reasoning_text.delta"),
        ("open-responses", "response.reasoning.delta"),
    ] {
        let args = ["--from", "responses", "--to", "responses", "--event-names", whose];
        assert!(kinds(&events(&args, input)).contains(&name));
    }
}

#[test]
fn unsupported_conversion_is_rejected() {
    let cases = [
        (
            ["--from", "soap", "--to", "responses"],
            "--from: 'soap' is none of 'responses', 'chat', 'anthropic' and 'ai-sdk'",
        ),
        (
            ["--from", "chat", "--to", "soap"],
            "--to: 'soap' is none of 'responses', 'chat', 'anthropic' and 'ai-sdk'",
        ),
        (
            ["--from", "chat", "--to", "ai-sdk"],
            "--to: cannot convert to 'ai-sdk'; use responses, chat or anthropic",
        ),
    ];
    for (args, sentence) in cases {
        let ended = convert(&args, CHAT);
        assert_eq!((ended.code, ended.stderr), (Some(2), format!("error: {sentence}\n")));
        assert_eq!(ended.stdout, "");
    }
}
