//! Tests of the writer through its public interface: the stream for Gemini clients, and the whole
//! answer.

use bytes::Bytes;
use serde_json::{Value, json};

use super::{GeminiWriter, Rejection};
use crate::dialect::gemini::decode_request;
use crate::dialect::{Dialect, RequestContext, StreamDecoder, UpstreamApi};
use crate::json::Object;
use crate::stream::tests::world::World;
use crate::stream::{Assembler, Event, Failure};
use crate::transcript::Origin;

struct Written {
    chunks: Vec<Value>,
    folded: Value,
}

fn origin() -> Origin {
    Origin::new("host model")
}

/// Converts these events of a Responses upstream. If they do not end the response, it is truncated.
fn convert(events: &[Value]) -> Written {
    let thinking = json!({"generationConfig": {"thinkingConfig": {"includeThoughts": true}}});
    convert_for(&thinking, events)
}

fn convert_for(request: &Value, events: &[Value]) -> Written {
    let request = request.to_string();
    let mut assembler = World::default().assembler();
    let mut decoder = StreamDecoder::new(Dialect::Responses, RequestContext::unknown(origin()));
    let mut writer = GeminiWriter::new(&Object::parse_str(&request).unwrap(), origin());
    let mut received = Vec::new();
    for event in events {
        decoder.decode(&Bytes::from(event.to_string()), &mut assembler).unwrap();
        write_events(&mut assembler, &mut writer, &mut received);
    }
    decoder.finish(&mut assembler);
    assembler.fail(Failure::server_error("The upstream broke off."));
    write_events(&mut assembler, &mut writer, &mut received);
    let finished = assembler.finish(1_770_000_060);
    let response = Object::parse_str(&finished.response).unwrap();
    received.extend(writer.end(&response));
    assert!(received.iter().all(|event| event.kind.is_empty()));
    let json = |event: &Event| serde_json::from_slice(&event.data).unwrap();
    let folded = serde_json::from_str(&writer.fold(&response)).unwrap();
    Written { chunks: received.iter().map(json).collect(), folded }
}

fn write_events(assembler: &mut Assembler, writer: &mut GeminiWriter, received: &mut Vec<Event>) {
    while let Some(event) = assembler.next_event() {
        received.extend(writer.event(&event));
    }
}

/// The parts of the chunks. Adjacent texts of one kind are one part, and empty ones are none.
fn merged(chunks: &[Value]) -> Vec<Value> {
    let mut parts: Vec<Value> = Vec::new();
    for chunk in chunks {
        for part in chunk["candidates"][0]["content"]["parts"].as_array().into_iter().flatten() {
            let is_text = |part: &Value| part.get("text").is_some();
            match parts.last_mut() {
                _ if *part == json!({"text": ""}) => {}
                Some(last)
                    if is_text(last)
                        && is_text(part)
                        && last["thought"] == part["thought"]
                        && part.get("thoughtSignature").is_none() =>
                {
                    let text = format!(
                        "{}{}",
                        last["text"].as_str().unwrap(),
                        part["text"].as_str().unwrap()
                    );
                    last["text"] = text.into();
                }
                _ => parts.push(part.clone()),
            }
        }
    }
    parts
}

impl Written {
    /// The parts, which are the same as a stream and as a whole.
    fn parts(&self) -> Value {
        let parts = json!(merged(&self.chunks));
        assert_eq!(parts, json!(merged(std::slice::from_ref(&self.folded))));
        parts
    }

    fn last(&self) -> &Value {
        self.chunks.last().unwrap()
    }
}

fn added(index: usize, item: &Value) -> Value {
    json!({"type": "response.output_item.added", "output_index": index, "item": item})
}

fn done(index: usize, item: &Value) -> Value {
    json!({"type": "response.output_item.done", "output_index": index, "item": item})
}

fn text_delta(index: usize, text: &str) -> Value {
    json!({"type": "response.output_text.delta", "item_id": format!("msg_{index}"),
        "output_index": index, "content_index": 0, "delta": text})
}

fn message(text: &str) -> Value {
    json!({"type": "message", "id": "msg_0", "role": "assistant", "status": "completed",
        "content": [{"type": "output_text", "text": text, "annotations": []}]})
}

fn call(id: &str, arguments: &str) -> Value {
    json!({"type": "function_call", "id": format!("fc_{id}"), "call_id": id, "name": "look",
        "arguments": arguments, "status": "completed"})
}

fn reasoning(encrypted: &str) -> Value {
    json!({"type": "reasoning", "id": format!("rs_{encrypted}"), "encrypted_content": encrypted,
        "summary": [{"type": "summary_text", "text": "Hm."}]})
}

fn end(status: &str, more: &Value) -> Value {
    let mut response = json!({"status": status, "usage": {"input_tokens": 10,
        "input_tokens_details": {"cached_tokens": 4}, "output_tokens": 7,
        "output_tokens_details": {"reasoning_tokens": 5}, "total_tokens": 17}});
    response.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    json!({"type": format!("response.{status}"), "response": response})
}

/// A stream with these items in sequence, and its end.
fn items(items: &[Value]) -> Vec<Value> {
    let items = items.iter().enumerate().map(|(index, item)| done(index, item));
    items.chain([end("completed", &json!({}))]).collect()
}

#[test]
fn text_streams_in_chunks_and_ends_with_usage() {
    let written = convert(&[
        added(0, &message("")),
        text_delta(0, "Hel"),
        text_delta(0, "lo"),
        done(0, &message("Hello")),
        end("completed", &json!({})),
    ]);
    let texts: Vec<_> = written
        .chunks
        .iter()
        .map(|chunk| chunk["candidates"][0]["content"]["parts"][0]["text"].as_str().unwrap())
        .collect();
    assert_eq!(texts, ["Hel", "lo", ""]);
    let last = written.last();
    let usage = json!({"promptTokenCount": 10, "cachedContentTokenCount": 4,
        "candidatesTokenCount": 2, "thoughtsTokenCount": 5, "totalTokenCount": 17});
    assert_eq!(last["usageMetadata"], usage);
    assert_eq!(last["candidates"][0]["finishReason"], "STOP");
    for chunk in &written.chunks {
        assert_eq!(chunk["candidates"][0]["content"]["role"], "model");
        assert_eq!(chunk["responseId"], last["responseId"]);
        assert_eq!(chunk["modelVersion"], last["modelVersion"]);
    }
    let (whole, content) = (&written.folded["candidates"][0], json!([{"text": "Hello"}]));
    assert_eq!((&whole["finishReason"], &whole["content"]["parts"]), (&json!("STOP"), &content));
    assert_eq!(written.folded["usageMetadata"], usage);
    assert_eq!(written.parts(), json!([{"text": "Hello"}]));
}

#[test]
fn calls_are_whole_parts_with_ids() {
    let written = convert(&items(&[call("a", r#"{"x":1}"#), call("b", ""), call("c", "{\"x")]));
    let part =
        |id: &str, args: Value| json!({"functionCall": {"id": id, "name": "look", "args": args}});
    let expected = json!([
        part("a", json!({"x": 1})),
        part("b", json!({})),
        part("c", json!({"_raw": "{\"x"}))
    ]);
    assert_eq!(written.parts(), expected);
    assert_eq!(written.folded["candidates"][0]["finishReason"], "STOP");
}

#[test]
fn later_item_waits_for_the_earlier_one() {
    let written = convert(&[
        added(0, &message("")),
        text_delta(0, "One"),
        done(1, &call("a", "{}")),
        text_delta(0, " two"),
        done(0, &message("One two")),
        end("completed", &json!({})),
    ]);
    let parts = written.parts();
    assert_eq!(
        (&parts[0]["text"], &parts[1]["functionCall"]["id"]),
        (&json!("One two"), &json!("a"))
    );
}

#[test]
fn thoughts_need_the_client_to_ask() {
    let events = items(&[reasoning(""), message("Hello")]);
    let expected = json!([{"text": "Hm.", "thought": true}, {"text": "Hello"}]);
    assert_eq!(convert(&events).parts(), expected);
    assert_eq!(convert_for(&json!({}), &events).parts(), json!([{"text": "Hello"}]));
}

#[test]
fn returned_signature_restores_the_reasoning() {
    for next in [message("Hello"), call("a", "{}")] {
        let sent = [reasoning("gAAA"), reasoning("gBBB"), next.clone()];
        let parts = convert_for(&json!({}), &items(&sent)).parts();
        assert_eq!(parts.as_array().unwrap().len(), 1);
        let contents = json!([{"parts": [{"text": "Hello"}]}, {"role": "model", "parts": parts}]);
        let request = json!({"model": "model", "contents": contents}).to_string();
        let request = Object::parse_str(&request).unwrap();
        let decoded = decode_request(&request, UpstreamApi::Responses, &origin()).unwrap();
        let item = |at: usize| -> Value { serde_json::from_str(decoded.items[at].text()).unwrap() };
        assert_eq!(item(1)["encrypted_content"], "gAAA");
        assert_eq!(item(2)["encrypted_content"], "gBBB");
        assert_eq!(item(3)["type"], next["type"]);
    }
}

#[test]
fn reasoning_at_the_end_has_a_part() {
    let parts = convert_for(&json!({}), &items(&[reasoning("gAAA")])).parts();
    assert_eq!(parts[0]["text"], "");
    assert!(parts[0]["thoughtSignature"].is_string());
}

#[test]
fn incomplete_answers_name_the_reason() {
    for (reason, expected) in [("max_output_tokens", "MAX_TOKENS"), ("content_filter", "SAFETY")] {
        let details = json!({"incomplete_details": {"reason": reason}});
        let written = convert(&[done(0, &message("Hel")), end("incomplete", &details)]);
        assert_eq!(written.last()["candidates"][0]["finishReason"], expected);
        assert_eq!(written.folded["candidates"][0]["finishReason"], expected);
    }
}

#[test]
fn failure_is_an_error_of_google() {
    let written = convert(&[added(0, &message("")), text_delta(0, "Hel")]);
    let expected = json!({"error": {"code": 500, "message": "The upstream broke off.",
        "status": "INTERNAL"}});
    assert_eq!((written.last(), &written.folded), (&expected, &expected));
    for (code, expected) in [
        ("rate_limit_exceeded", (429, "RESOURCE_EXHAUSTED")),
        ("server_is_overloaded", (503, "UNAVAILABLE")),
        ("invalid_prompt", (400, "INVALID_ARGUMENT")),
    ] {
        let error = json!({"code": code}).to_string();
        let rejection = Rejection::from_error(Some(&Object::parse_str(&error).unwrap()));
        assert_eq!((rejection.code, rejection.status), expected);
    }
}
