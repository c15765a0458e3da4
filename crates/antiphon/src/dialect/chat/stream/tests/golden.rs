//! The golden inputs, each with its result in one line.

use std::fs;
use std::path::PathBuf;

use serde_json::Value;

use super::Server;
use crate::stream::Decoder;
use crate::stream::tests::world::ClientView;

/// Each input with the end of its response, then its items.
const EXPECTED: [(&str, &str, &[&str]); 39] = [
    ("azure-content-filter", "incomplete content_filter", &["says The attackers"]),
    ("azure-prompt-filter-results", "completed", &["says Hello!"]),
    ("deepseek-insufficient-system-resource", "failed server_error", &["thinks Add"]),
    ("deepseek-reasoning", "completed", &["thinks Add them.", "says 4."]),
    (
        "gemini-thought-signature",
        "completed",
        &[
            "thinks ",
            r#"calls get_weather {"city":"Rome"}"#,
            r#"calls get_weather {"city":"Oslo"}"#,
        ],
    ),
    ("llamacpp-error", "failed server_error", &["says Let"]),
    ("llamacpp-reasoning", "completed", &["thinks Sum it up.", "says 4"]),
    ("llamacpp-tool-call", "completed", &[r#"calls get_weather {"city":"Rome"}"#]),
    ("ollama-error-as-string", "failed server_error", &["says Let"]),
    (
        "ollama-index-zero-for-every-call",
        "completed",
        &[r#"calls write_file {"path":"a.py"}"#, r#"calls write_file {"path":"b.py"}"#],
    ),
    ("ollama-reasoning", "completed", &["thinks Easy one.", "says 4"]),
    ("ollama-tool-call-without-id", "completed", &[r#"calls read_file {"path":"a.ts"}"#]),
    (
        "ollama-tool-calls-without-index",
        "completed",
        &[r#"calls get_weather {"city":"Rome"}"#, r#"calls get_weather {"city":"Oslo"}"#],
    ),
    ("openai-broke-off", "failed server_error", &["says Half of a sen"]),
    ("openai-custom-tool-call", "completed", &["calls run_sql SELECT name\nFROM users;"]),
    ("openai-error-mid-stream", "failed server_error", &["says Let me"]),
    ("openai-legacy-function-call", "completed", &["calls get_weather {\n  \"city\": \"Rome\"\n}"]),
    ("openai-length", "incomplete max_output_tokens", &["says Once upon a time"]),
    (
        "openai-length-in-a-tool-call",
        "incomplete max_output_tokens",
        &["says Looking it up.", r#"calls search {"query":"the lon"#],
    ),
    ("openai-logprobs", "completed", &["says Yes."]),
    (
        "openai-parallel-tool-calls",
        "completed",
        &[r#"calls get_weather {"city": "Rome"}"#, r#"calls get_weather {"city": "Oslo"}"#],
    ),
    ("openai-refusal", "completed", &["says I'm sorry, I can't help with that."]),
    (
        "openai-search-annotations",
        "completed",
        &["says Rust 1.0 came out in 2015 \
           ([rust-lang.org](https://blog.rust-lang.org/2015/05/15/Rust-1.0.html))."],
    ),
    ("openai-text", "completed", &["says Hello \"there\"!\n"]),
    ("openai-tool-call-in-pieces", "completed", &[r#"calls get_weather {"city":"Rome"}"#]),
    ("openai-two-choices", "completed", &["says Heads"]),
    ("openrouter-error-mid-stream", "failed server_error", &["says Let"]),
    (
        "openrouter-reasoning-details",
        "completed",
        &["thinks Let me look.", r#"calls get_weather {"city": "Rome"}"#],
    ),
    ("proxy-arguments-as-object", "completed", &[r#"calls get_weather {"city":"Rome","days":2}"#]),
    ("sglang-id-and-name-in-every-piece", "completed", &[r#"calls get_weather {"city": "Rome"}"#]),
    ("sglang-null-id-and-name", "completed", &[r#"calls get_weather {"city": "Rome"}"#]),
    ("sglang-reasoning", "completed", &["thinks Simple sum.", "says 4"]),
    ("vllm-abort", "failed server_error", &["says Let"]),
    ("vllm-another-id-in-every-piece", "completed", &[r#"calls get_weather {"city": "Rome"}"#]),
    ("vllm-continuous-usage", "completed", &["says Hello"]),
    ("vllm-error-mid-stream", "failed server_error", &["says Let"]),
    (
        "vllm-reasoning-then-tool-call",
        "completed",
        &[
            "thinks \nThe userasks about Rome.\n",
            "says \n\n",
            r#"calls get_weather {"city": "Rome"}"#,
        ],
    ),
    ("vllm-reasoning-under-both-names", "completed", &["thinks Two and twois four.", "says 4"]),
    ("vllm-tool-call-in-pieces", "completed", &[r#"calls get_weather {"city": "Rome"}"#]),
];

#[test]
fn golden_inputs_yield_expected_items() {
    for (case, end, items) in EXPECTED {
        let received = decode(case);
        assert_eq!(end_of(&received), end, "{case}");
        let message_text: Vec<String> = received.output().iter().map(saying).collect();
        assert_eq!(message_text, items, "{case}");
    }
}

#[test]
fn every_golden_input_has_expectation() {
    let names = fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().file_name());
    let names: Vec<String> = names.map(|name| name.into_string().unwrap()).collect();
    let cases = names.iter().filter_map(|name| name.strip_suffix(".sse"));
    let mut cases: Vec<&str> = cases.filter(|case| !case.contains('.')).collect();
    cases.sort_unstable();
    assert_eq!(cases, EXPECTED.map(|(case, ..)| case));
}

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden/chat")
}

fn decode(case: &str) -> ClientView {
    let server = Server::default();
    let (mut decoder, mut assembler) = (server.decoder(), server.world.assembler());
    let mut frames = Decoder::new(1 << 20);
    frames.push(&fs::read(folder().join(format!("{case}.sse"))).unwrap());
    while let Some(frame) = frames.next_frame().unwrap() {
        decoder.decode(&frame.data, &mut assembler).unwrap();
    }
    decoder.finish(&mut assembler);
    server.world.ends(assembler)
}

fn end_of(received: &ClientView) -> String {
    let response = &received.last()["response"];
    let reason = [&response["incomplete_details"]["reason"], &response["error"]["code"]];
    let reason: Vec<&str> = reason.into_iter().filter_map(Value::as_str).collect();
    [vec![response["status"].as_str().unwrap()], reason].concat().join(" ")
}

fn saying(item: &Value) -> String {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let content = &item["content"][0];
    match item["type"].as_str().unwrap() {
        "reasoning" => format!("thinks {}", text(&item["summary"][0]["text"])),
        "message" => format!("says {}{}", text(&content["text"]), text(&content["refusal"])),
        _ => {
            let input = text(&item["arguments"]) + &text(&item["input"]);
            format!("calls {} {input}", text(&item["name"]))
        }
    }
}
