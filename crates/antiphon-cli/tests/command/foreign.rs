//! Histories as other APIs and frameworks keep them: recorded of the libraries themselves, found
//! faulty by the position of the message, and written as items.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::world::{Ended, World};

const RECORDINGS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/recordings/histories");

/// Every recorded form, as standard error names it, and the position of the message with the calls.
const FORMS: [(&str, &str, usize); 11] = [
    ("langchain-messages-to-dict", "LangChain messages", 2),
    ("langchain-dumpd", "LangChain messages", 2),
    ("langchain-plain", "LangChain messages", 2),
    ("langchain-js-stored", "LangChain messages", 2),
    ("langchain-js-serialized", "LangChain messages", 2),
    ("chat-messages", "Chat Completions messages", 2),
    ("chat-request", "Chat Completions messages", 2),
    ("anthropic-request", "Anthropic messages", 1),
    ("ai-sdk-ui", "UI messages of the AI SDK", 2),
    ("ai-sdk-use-chat-request", "UI messages of the AI SDK", 2),
    ("ai-sdk-model", "model messages of the AI SDK", 2),
];

fn recording(name: &str, state: &str) -> String {
    let path = Path::new(RECORDINGS).join(format!("{name}.{state}.json"));
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn run(args: &[&str], history: &str) -> Ended {
    World::antiphon(args).file("h.json", history).ends()
}

/// What an item is, and what it says.
fn receive(item: &Value) -> Value {
    let text = |content: &Value| match content {
        Value::Array(parts) => parts.iter().filter_map(|part| part["text"].as_str()).collect(),
        content => content.as_str().unwrap_or_default().to_owned(),
    };
    match item["type"].as_str().unwrap() {
        "message" => json!([item["role"], text(&item["content"])]),
        "function_call" => {
            let arguments: Value =
                serde_json::from_str(item["arguments"].as_str().unwrap()).unwrap();
            json!(["call", item["call_id"], arguments])
        }
        kind => json!([kind, item["call_id"], text(&item["output"])]),
    }
}

fn conversation() -> Vec<Value> {
    vec![
        json!(["system", "Be brief."]),
        json!(["user", "Weather in Paris and Rome?"]),
        json!(["assistant", "I look."]),
        json!(["call", "call_1", {"city": "Paris"}]),
        json!(["call", "call_2", {"city": "Rome"}]),
        json!(["function_call_output", "call_1", "20 degrees"]),
        json!(["function_call_output", "call_2", "25 degrees"]),
        json!(["assistant", "20 degrees in Paris, 25 in Rome."]),
        json!(["user", "Thanks."]),
    ]
}

#[test]
fn complete_history_of_any_form_is_valid() {
    for (name, form, _) in FORMS {
        let stderr = format!("note: h.json: read as {form}\n");
        let sound = Ended { code: Some(0), stdout: String::new(), stderr };
        assert_eq!(run(&["check", "h.json"], &recording(name, "whole")), sound, "{name}");
    }
}

#[test]
fn unanswered_call_is_found_at_its_message() {
    for (name, form, position) in FORMS {
        let fault = "unanswered_call No tool output found for function call call_2.";
        let found = Ended {
            code: Some(1),
            stdout: format!("{position} - {fault}\n"),
            stderr: format!("note: h.json: read as {form}\n"),
        };
        assert_eq!(run(&["check", "h.json"], &recording(name, "cut-short")), found, "{name}");
    }
}

#[test]
fn every_form_of_one_conversation_becomes_the_same_items() {
    for (name, form, _) in FORMS {
        let repaired = run(&["repair", "h.json"], &recording(name, "whole"));
        let note = format!("note: h.json: read as {form}, written as Responses items\n");
        assert_eq!((repaired.code, &repaired.stderr), (Some(0), &note), "{name}");
        let items: Vec<Value> = serde_json::from_str(&repaired.stdout).unwrap();
        assert_eq!(items.iter().map(receive).collect::<Vec<_>>(), conversation(), "{name}");
    }
}

#[test]
fn repaired_history_of_any_form_is_valid() {
    for (name, _, position) in FORMS {
        let repaired = run(&["repair", "h.json"], &recording(name, "cut-short"));
        let report = format!(
            "{position} - unanswered_call answered No tool output found for function call call_2.\n"
        );
        assert!(repaired.stderr.ends_with(&report), "{name}: {}", repaired.stderr);
        let sound = Ended { code: Some(0), stdout: String::new(), stderr: String::new() };
        assert_eq!(run(&["check", "h.json"], &repaired.stdout), sound, "{name}");
    }
}

#[test]
fn messages_in_a_request_input_are_replaced() {
    let messages: Value = serde_json::from_str(&recording("chat-messages", "whole")).unwrap();
    let request = json!({"model": "m", "input": messages}).to_string();
    let repaired = run(&["repair", "h.json"], &request);
    let written: Value = serde_json::from_str(&repaired.stdout).unwrap();
    assert_eq!(written["model"], "m");
    assert_eq!(written["input"].as_array().unwrap().len(), conversation().len());
}

#[test]
fn each_line_has_its_own_form() {
    let one_line = |name: &str| {
        let value: Value = serde_json::from_str(&recording(name, "cut-short")).unwrap();
        value.to_string()
    };
    let [chat, chain] = [one_line("chat-request"), one_line("langchain-plain")];
    let input = format!("{chat}\n{chat}\n{chain}\n[]\n");
    let checked = World::antiphon(&["check", "--ndjson"]).input(&input).ends();
    let fault = "2 - unanswered_call No tool output found for function call call_2.";
    assert_eq!(checked.stdout, format!("1:{fault}\n2:{fault}\n3:{fault}\n"));
    let notes = "note: <stdin>:1: read as Chat Completions messages\n\
                 note: <stdin>:3: read as LangChain messages\n\
                 note: <stdin>:4: read as Responses items\n";
    assert_eq!(checked.stderr, notes);
    let repaired = World::antiphon(&["repair", "--ndjson"]).input(&input).ends();
    assert_eq!(repaired.stdout.lines().count(), 4, "{}", repaired.stdout);
}

#[test]
fn json_report_has_the_form() {
    let history = recording("langchain-plain", "cut-short");
    let repaired = run(&["repair", "--report", "json", "h.json"], &history);
    let lines = repaired.stderr.lines().map(|line| serde_json::from_str(line).unwrap());
    let lines: Vec<Value> = lines.collect();
    assert_eq!(lines[0], json!({"read_as": "langchain", "written_as": "responses"}));
    assert_eq!((&lines[1]["position"], &lines[1]["action"]), (&json!(2), &json!("answered")));
}

#[test]
fn held_history_can_have_another_form() {
    let ended = World::antiphon(&["check", "--held", "held.json"])
        .file("held.json", &recording("chat-messages", "cut-short"))
        .input(r#"[{"role":"user","content":"never mind"}]"#)
        .ends();
    let line = "- - unanswered_call No tool output found for function call call_2.\n";
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(1), line));
    assert_eq!(ended.stderr, "note: held.json: read as Chat Completions messages\n");
}

#[test]
fn repair_reports_omitted_parts() {
    let data = json!([{"id": "1", "role": "user", "parts": [
        {"type": "text", "text": "hi"}, {"type": "data-note", "data": {}}
    ]}]);
    let repaired = run(&["repair", "h.json"], &data.to_string());
    let note =
        "note: message 0: its part of type 'data-note' is left out, since no item can hold it\n";
    assert!(repaired.stderr.ends_with(note), "{}", repaired.stderr);
}

#[test]
fn history_of_unknown_form_is_rejected() {
    let cases = [
        (
            r#"[{"role":"user","content":"hi"}, {"type":"human"}]"#,
            concat!(
                r#"1:34: item 1 ({"type":"human"}) looks like a LangChain message; expected its "#,
                "'content', or its fields in 'data' as messages_to_dict writes them",
            ),
        ),
        (
            r#"[{"role":"user","parts":[{"text":"hi"}]}]"#,
            concat!(
                r#"1:2: item 0 ({"role":"user",…}) looks like a content of the Gemini API; "#,
                "expected an item of the Responses API, or a message of Chat Completions, ",
                "Anthropic, the AI SDK or LangChain",
            ),
        ),
        (
            concat!(
                r#"{"messages":[{"type":"human","content":"hi"},"#,
                r#"{"role":"tool","tool_call_id":"c","content":"x"}]}"#,
            ),
            concat!(
                r#"1:46: item 1 ({"role":"tool",…}) looks like a Chat Completions message, but "#,
                "item 0 looks like a LangChain message; expected one form in one history",
            ),
        ),
    ];
    for command in ["check", "repair"] {
        for (history, sentence) in cases {
            let stderr = format!("error: h.json:{sentence}\n");
            let refused = Ended { code: Some(2), stdout: String::new(), stderr };
            assert_eq!(run(&[command, "h.json"], history), refused);
        }
    }
}

#[test]
fn item_of_an_unknown_kind_is_kept() {
    let history = r#"[{"role":"user","content":"hi"},{"type":"something_new","n":1e2}]"#;
    let carried = Ended { code: Some(0), stdout: history.to_owned(), stderr: String::new() };
    assert_eq!(run(&["repair", "h.json"], history), carried);
}
