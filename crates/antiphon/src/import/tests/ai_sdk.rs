use serde_json::{Value, json};

use super::*;

fn openai(id: &str) -> Value {
    json!({"openai": {"itemId": id}})
}

#[test]
fn step_becomes_texts_and_calls_then_outputs() {
    let list = json!([{"id": "1", "role": "assistant", "parts": [
        {"type": "step-start"},
        {"type": "text", "text": "I look.", "state": "done"},
        {"type": "tool-f", "toolCallId": "a", "state": "output-available", "input": {"n": 1},
            "output": {"ok": true}},
        {"type": "dynamic-tool", "toolName": "g", "toolCallId": "b", "state": "output-error",
            "input": {}, "errorText": "no"},
        {"type": "step-start"},
        {"type": "tool-f", "toolCallId": "c", "state": "input-available", "input": {}},
        {"type": "tool-f", "toolCallId": "d", "state": "input-streaming"}
    ]}]);
    let expected = json!([
        {"type": "message", "role": "assistant",
            "content": [{"type": "output_text", "text": "I look.", "annotations": []}]},
        {"type": "function_call", "call_id": "a", "name": "f", "arguments": "{\"n\":1}"},
        {"type": "function_call", "call_id": "b", "name": "g", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "a", "output": "{\"ok\":true}"},
        {"type": "function_call_output", "call_id": "b", "output": "no"},
        {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"},
    ]);
    let imported = imported(&list);
    assert_eq!(json!(values(&imported)), expected);
    assert_eq!(imported.sources, vec![Some(0); 6]);
}

#[test]
fn parts_with_one_id_become_one_item() {
    let list = json!([{"role": "assistant", "content": [
        {"type": "reasoning", "text": "one", "providerOptions": openai("rs_1")},
        {"type": "reasoning", "text": "two", "providerOptions": openai("rs_1")},
        {"type": "text", "text": "a", "providerOptions": openai("msg_1")},
        {"type": "tool-call", "toolCallId": "c", "toolName": "f", "input": {},
            "providerOptions": openai("fc_1")}
    ]}]);
    let items = values(&imported(&list));
    assert_eq!(items.len(), 3);
    assert_eq!(items[0]["id"], "rs_1");
    assert_eq!(items[0]["summary"].as_array().unwrap().len(), 2);
    assert_eq!((&items[1]["id"], &items[2]["id"]), (&json!("msg_1"), &json!("fc_1")));
}

#[test]
fn version_4_call_keeps_its_output() {
    let list = json!([{"role": "assistant", "content": "", "parts": [
        {"type": "tool-invocation", "toolInvocation":
            {"state": "result", "toolCallId": "c", "toolName": "f", "args": {"n": 1},
                "result": "ok"}}
    ]}]);
    let items = values(&imported(&list));
    assert_eq!(items[0]["arguments"], "{\"n\":1}");
    assert_eq!(items[1]["output"], "ok");
}

#[test]
fn files_become_parts_and_other_parts_are_reported() {
    let list = json!([
        {"id": "1", "role": "user", "parts": [
            {"type": "file", "mediaType": "image/png", "url": "data:image/png;base64,AA=="},
            {"type": "file", "mediaType": "application/pdf", "filename": "a.pdf",
                "url": "https://example.com/a.pdf"},
            {"type": "data-note", "data": {}}
        ]}
    ]);
    let imported = imported(&list);
    let content = json!([
        {"type": "input_image", "image_url": "data:image/png;base64,AA=="},
        {"type": "input_file", "file_url": "https://example.com/a.pdf", "filename": "a.pdf"}
    ]);
    assert_eq!(values(&imported)[0]["content"], content);
    assert_eq!(imported.omissions, [OmittedPart { position: 0, kind: "data-note".to_owned() }]);
}
