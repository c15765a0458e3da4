//! The compact form of a request.

use antiphon::Item;
use antiphon::dialect::{Dialect, Seal};
use antiphon::transcript::Origin;
use serde_json::{Value, json};

use super::Given;
use crate::alphabet::{id, one_of, put, text};

/// The origin of the request's upstream.
pub(super) const ORIGIN: &str = "up m-1";

/// The number of bytes for the fields.
const FIELDS: usize = 4;
/// The bytes of an item: type, id, `call_id`, text.
type Bytes = [u8; 4];

pub(super) fn compact(bytes: &[u8]) -> Option<Given> {
    let (fields, items) = bytes.split_first_chunk::<FIELDS>()?;
    let items =
        items.as_chunks().0.iter().map(|bytes| {
            Item::parse(item(*bytes).to_string().into()).expect("only items are made")
        });
    Some(Given { fields: fields_of(*fields).to_string(), items: items.collect() })
}

fn fields_of([tools, choice, thinking, rest]: [u8; FIELDS]) -> Value {
    let model = one_of(&["m-1", "claude-opus-4-1", "claude-3-5-haiku", "o3"], rest);
    let mut fields = json!({"model": model, "tools": tools_of(tools)});
    let tool_choice = match choice % 8 {
        0 => json!("auto"),
        1 => json!("required"),
        2 => json!("none"),
        3 => json!({"type": "function", "name": "f"}),
        4 => json!({"type": "custom", "name": "shell"}),
        5 => json!({"type": "allowed_tools", "mode": "required",
            "tools": [{"type": "function", "name": "f"}]}),
        6 => json!({"type": text(choice)}),
        _ => json!(null),
    };
    fields["tool_choice"] = tool_choice;
    if thinking & 1 == 1 {
        fields["reasoning"] =
            json!({"effort": one_of(&["none", "low", "high", "odd"], thinking >> 1)});
    }
    if thinking & 8 == 8 {
        fields["max_output_tokens"] = json!(one_of(&[1, 1024, 2000, u64::MAX], thinking >> 4));
    }
    if rest & 4 == 4 {
        fields["instructions"] = text(rest >> 3).into();
    }
    if rest & 64 == 64 {
        fields["text"] = json!({"verbosity": "low", "format": {"type": "json_schema", "name": "s",
            "schema": {"type": "object"}, "strict": true}});
    }
    if rest & 128 == 128 {
        fields["temperature"] = json!(1.5);
        fields["stop_sequences"] = json!([text(tools)]);
        fields["parallel_tool_calls"] = json!(false);
    }
    fields
}

fn tools_of(tools: u8) -> Value {
    let all = [
        json!({"type": "function", "name": "f", "parameters": {"type": "object"}, "strict": true}),
        json!({"type": "custom", "name": "shell", "format": {"type": "text"}}),
        json!({"type": "function", "name": "g", "description": text(tools), "parameters": null}),
        json!({"type": "namespace", "name": "n", "tools": [{"type": "function", "name": "f"}]}),
        json!({"type": "web_search"}),
    ];
    let chosen = all.into_iter().enumerate().filter(|(at, _)| tools & (1 << at) != 0);
    chosen.map(|(_, tool)| tool).collect()
}

fn item([what, id_byte, call, text_id]: Bytes) -> Value {
    let said = text(text_id);
    let (mut item, prefix) = match what % 32 {
        0..5 => (message("user", &content("input_text", text_id)), "msg"),
        5..10 => (message("assistant", &content("output_text", text_id)), "msg"),
        10 => (message("system", &content("input_text", text_id)), "msg"),
        11 => (message("developer", &content("input_text", text_id)), "msg"),
        12..16 => (reasoning(call, said), "rs"),
        16..20 => (json!({"type": "function_call", "name": "f", "arguments": said}), "fc"),
        20 => (json!({"type": "custom_tool_call", "name": "shell", "input": said}), "ctc"),
        21..26 => (json!({"type": "function_call_output", "output": output(text_id)}), "fco"),
        26 => (json!({"type": "custom_tool_call_output", "output": output(text_id)}), "ctco"),
        27 => (
            json!({"type": "anthropic:server_tool_use", "content": {"type": "server_tool_use",
            "id": "srvtoolu_1", "name": said, "input": {}}}),
            "ext",
        ),
        28 => (json!({"type": "anthropic:odd", "content": said}), "ext"),
        29 => (message("user", &json!([media(call, said)])), "msg"),
        30 => (json!({"type": "web_search_call", "status": "completed"}), "ws"),
        _ => (json!({"type": "compaction", "encrypted_content": said}), "cmp"),
    };
    put(&mut item, "id", id(prefix, id_byte));
    if matches!(prefix, "fc" | "ctc" | "fco" | "ctco") {
        put(&mut item, "call_id", id("call", call));
    }
    item
}

fn message(role: &str, content: &Value) -> Value {
    json!({"type": "message", "role": role, "content": content})
}

fn content(kind: &str, text_id: u8) -> Value {
    let said = text(text_id);
    match text_id >> 5 {
        0..4 => json!(said),
        4 => json!([{"type": kind, "text": said}]),
        5 => json!([{"type": kind, "text": said}, {"type": kind, "text": "\n"}]),
        6 => json!([{"type": "refusal", "refusal": said}]),
        _ => json!([]),
    }
}

fn output(text_id: u8) -> Value {
    let said = text(text_id);
    match text_id >> 5 {
        0..4 => json!(said),
        4 => json!([{"type": "input_text", "text": said}]),
        5 => json!([media(text_id, said)]),
        6 => json!([]),
        _ => json!({"sky": said}),
    }
}

fn media(which: u8, said: &str) -> Value {
    match which % 6 {
        0 => json!({"type": "input_image", "image_url": "https://a.example/b.png", "detail": said}),
        1 => json!({"type": "input_image", "image_url": format!("data:image/png;base64,{said}")}),
        2 => json!({"type": "input_image", "file_id": said}),
        3 => json!({"type": "input_file", "filename": said,
            "file_data": "data:application/pdf;base64,JVBERi0="}),
        4 => json!({"type": "input_audio", "input_audio": {"data": "AAAA", "format": "wav"}}),
        _ => json!({"type": said}),
    }
}

/// Reasoning: sealed by this upstream, by another one, or not sealed.
fn reasoning(which: u8, said: &str) -> Value {
    let mut item = json!({"type": "reasoning", "summary": []});
    let origin = if which & 8 == 8 { "other m-2" } else { ORIGIN };
    let (dialect, content) = match which % 6 {
        0 => (Dialect::Anthropic, json!({"type": "thinking", "thinking": said, "signature": "E"})),
        1 => (Dialect::Anthropic, json!({"type": "redacted_thinking", "data": said})),
        2 => (Dialect::Chat, json!({"reasoning_content": said})),
        3 => (Dialect::Chat, json!({"reasoning": said, "reasoning_details": [{"index": 0}]})),
        4 => (Dialect::AiSdk, json!({said: said})),
        _ => {
            item["encrypted_content"] = said.into();
            return item;
        }
    };
    let seal = Seal { dialect, origin: Origin::new(origin), content: content.to_string() };
    item["encrypted_content"] = seal.to_text().into();
    item
}
