//! The fields of chunks other than the deltas.

use bytes::Bytes;
use serde_json::{Value, json};

use super::{Server, decode, finish, left_out, message_text, text};
use crate::stream::{Note, Status};

#[test]
fn response_begins_with_model_and_service_tier() {
    let mut first = text("Hello");
    first["model"] = json!("gpt-x-2026-01-01");
    first["service_tier"] = json!("priority");
    let received = decode(&[first, finish("stop")]);

    let created = &received.events[0]["response"];
    assert_eq!(created["model"], "gpt-x-2026-01-01");
    assert_eq!(created["service_tier"], "priority");
}

#[test]
fn null_service_tier_stays_default() {
    let mut first = text("Hello");
    first["service_tier"] = json!(null);
    let received = decode(&[first, finish("stop")]);
    assert_eq!(received.last()["response"]["service_tier"], "default");
}

#[test]
fn azure_prompt_chunk_does_not_begin_response() {
    let first = json!({
        "choices": [], "created": 0, "id": "", "model": "", "object": "",
        "prompt_filter_results": [{"prompt_index": 0, "content_filter_results": {
            "hate": {"filtered": false, "severity": "safe"}
        }}]
    });
    let mut piece = text("Hello");
    piece["choices"][0]["content_filter_results"] =
        json!({"hate": {"filtered": false, "severity": "safe"}});
    let received = decode(&[first, piece, finish("stop")]);

    assert_eq!(message_text(&received), "Hello");
    assert_eq!(received.events[0]["response"]["model"], "m-1");
    assert!(left_out(&received).is_empty());
}

#[test]
fn chunks_without_choices_emit_nothing() {
    let odd = [
        json!({}),
        json!({"choices": []}),
        json!({"choices": null}),
        json!({"choices": {}}),
        json!({"choices": [null, 1, []]}),
        json!({"type": "ping"}),
    ];
    let chunks: Vec<Value> = odd.into_iter().chain([text("Hello"), finish("stop")]).collect();
    let received = decode(&chunks);
    assert_eq!(message_text(&received), "Hello");
    assert_eq!(received.finished.status, Status::Completed);
}

#[test]
fn empty_data_is_ignored() {
    let server = Server::default();
    let (mut decoder, mut assembler) = (server.decoder(), server.world.assembler());
    for data in ["", " ", &text("Hello").to_string(), "\n", "[DONE]"] {
        decoder.decode(&Bytes::copy_from_slice(data.as_bytes()), &mut assembler).unwrap();
    }
    assert_eq!(message_text(&server.world.ends(assembler)), "Hello");
}

#[test]
fn invalid_utf8_is_replaced_and_noted() {
    let server = Server::default();
    let (mut decoder, mut assembler) = (server.decoder(), server.world.assembler());
    for piece in ["He\u{1}llo", " you"] {
        let chunk = text(piece).to_string().replace("\\u0001", "\u{1}").into_bytes();
        let chunk: Vec<u8> = chunk.into_iter().map(|it| if it == 1 { 0xff } else { it }).collect();
        decoder.decode(&chunk.into(), &mut assembler).unwrap();
    }
    decoder.decode(&finish("stop").to_string().into(), &mut assembler).unwrap();
    decoder.finish(&mut assembler);
    let received = server.world.ends(assembler);
    assert_eq!(message_text(&received), "He\u{fffd}llo you");
    assert_eq!(received.finished.notes, [Note::InvalidUtf8 { events: 1 }]);
}

#[test]
fn non_object_data_is_an_error() {
    let server = Server::default();
    for data in ["[1]", "7", "{\"choices\":", "OPENROUTER"] {
        let (mut decoder, mut assembler) = (server.decoder(), server.world.assembler());
        let data = Bytes::copy_from_slice(data.as_bytes());
        assert!(decoder.decode(&data, &mut assembler).is_err());
    }
}

#[test]
fn only_first_choice_is_decoded() {
    let second = |text: &str| {
        json!({"model": "m-1", "choices": [
            {"index": 1, "delta": {"content": text}, "finish_reason": "length"}
        ]})
    };
    let received =
        decode(&[text("Hel"), second("Good"), text("lo"), second("bye"), finish("stop")]);
    assert_eq!(message_text(&received), "Hello");
    assert_eq!(received.finished.status, Status::Completed);
    assert_eq!(left_out(&received), ["choices beyond the first"]);
}

#[test]
fn choice_without_index_is_first() {
    let mut piece = text("Hello");
    piece["choices"][0].as_object_mut().unwrap().remove("index");
    assert_eq!(message_text(&decode(&[piece, finish("stop")])), "Hello");
}

#[test]
fn messages_instead_of_deltas_are_decoded() {
    let piece = |text: &str| {
        json!({"model": "m-1",
            "choices": [{"index": 0, "message": {"content": text}}]})
    };
    assert_eq!(message_text(&decode(&[piece("Hel"), piece("lo"), finish("stop")])), "Hello");
}

#[test]
fn final_message_that_repeats_deltas_is_ignored() {
    let last = json!({"model": "m-1", "choices": [{
        "index": 0, "message": {"role": "assistant", "content": "Hello"}, "finish_reason": "stop"
    }]});
    let received = decode(&[text("Hel"), text("lo"), last]);
    assert_eq!(message_text(&received), "Hello");
    assert_eq!(received.finished.status, Status::Completed);
}

#[test]
fn surrogate_pair_split_between_chunks_is_joined() {
    let server = Server::default();
    let (mut decoder, mut assembler) = (server.decoder(), server.world.assembler());
    for half in [r"\ud83d", r"\ude00"] {
        let chunk = format!(r#"{{"choices":[{{"index":0,"delta":{{"content":"{half}"}}}}]}}"#);
        decoder.decode(&chunk.into(), &mut assembler).unwrap();
    }
    decoder.decode(&Bytes::from_static(b"[DONE]"), &mut assembler).unwrap();
    let finished = assembler.finish(0);
    let response: Value = serde_json::from_str(&finished.response).unwrap();
    assert_eq!(response["output"][0]["content"][0]["text"], "\u{1f600}");
}
