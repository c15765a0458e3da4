//! Properties of the writer, on valid and faulty streams.

use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use serde_json::{Value, json};

use super::world::{Written, completed, context, convert, convert_chat, convert_for, created};
use crate::dialect::chat::stream::tests::generator::{answer as chat_answer, call_format};
use crate::dialect::{Dialect, StreamDecoder};
use crate::stream::tests::generator::{Stream, answer, stream};
use crate::stream::tests::mangler::manglings;
use crate::stream::tests::world::World;

fn config() -> ProptestConfig {
    ProptestConfig {
        rng_seed: RngSeed::Fixed(0x6368_6174),
        failure_persistence: None,
        ..ProptestConfig::with_cases(256)
    }
}

fn receive(stream: &Stream, end: &[Value]) -> Vec<Value> {
    let events = stream.events.iter().map(|sent| sent.json.clone());
    [created()].into_iter().chain(events).chain(end.iter().cloned()).collect()
}

/// The items that the decoder of Chat Completions makes of this stream or completion.
fn decoded(decode: impl FnOnce(&mut StreamDecoder, &mut crate::stream::Assembler)) -> Vec<Value> {
    let mut assembler = World::default().assembler();
    let mut decoder = StreamDecoder::new(Dialect::Chat, context());
    decode(&mut decoder, &mut assembler);
    decoder.finish(&mut assembler);
    while assembler.next_event().is_some() {}
    let finished = assembler.finish(1_770_000_060);
    let response: Value = serde_json::from_str(&finished.response).unwrap();
    response["output"].as_array().unwrap().iter().map(without_ids).collect()
}

/// An item without the ids that an assembler issues, and with its seal parsed.
fn without_ids(item: &Value) -> Value {
    let mut value = item.clone();
    let fields = value.as_object_mut().unwrap();
    fields.remove("id");
    let seal = fields.get("encrypted_content").and_then(Value::as_str);
    if let Some(seal) = seal.and_then(|text| serde_json::from_str(text).ok()) {
        fields.insert("encrypted_content".into(), seal);
    }
    value
}

fn items_of(written: &Written) -> Vec<Value> {
    written.output.iter().map(without_ids).collect()
}

proptest! {
    #![proptest_config(config())]

    /// The client of every test world checks the stream.
    #[test]
    fn stream_is_well_formed_for_any_upstream(
        answer in answer(),
        faults in manglings(),
        side_by_side: bool,
        ends: bool,
        includes_usage: bool,
    ) {
        let mut stream = stream(&answer, side_by_side);
        for fault in &faults {
            stream.mangle(fault);
        }
        let end = if ends { vec![completed()] } else { Vec::new() };
        let request = json!({"stream_options": {"include_usage": includes_usage}});
        convert_for(&request, Dialect::Responses, &receive(&stream, &end));
    }

    #[test]
    fn stream_result_equals_fold(answer in answer(), side_by_side: bool) {
        let written = convert(&receive(&stream(&answer, side_by_side), &[completed()]));
        prop_assert_eq!(written.streamed, written.folded);
    }

    #[test]
    fn truncated_stream_ends_with_error(
        answer in answer(),
        side_by_side: bool,
        at: prop::sample::Index,
    ) {
        let events = receive(&stream(&answer, side_by_side), &[completed()]);
        let written = convert(&events[..at.index(events.len())]);
        prop_assert!(written.streamed["error"]["message"].is_string());
        prop_assert_eq!(written.streamed, written.folded);
    }

    /// The decoder of Chat Completions makes the same items of the written stream, and of the whole
    /// completion.
    #[test]
    fn written_answer_decodes_to_the_same_items(
        answer in chat_answer(),
        call_format in call_format(),
    ) {
        prop_assume!(call_format.distinguishes_calls() && answer.has_output());
        let mut chunks = answer.chunks(call_format);
        let last = json!({"index": 0, "delta": {}, "finish_reason": "stop"});
        chunks.push(json!({"id": "c", "model": "m", "choices": [last]}));
        let written = convert_chat(&chunks);
        prop_assert_eq!(&written.streamed, &written.folded);
        let streamed = decoded(|decoder, assembler| {
            for chunk in &written.events {
                decoder.decode(&chunk.to_string().into(), assembler).unwrap();
            }
        });
        let whole = written.folded.to_string();
        let whole = decoded(|decoder, assembler| {
            decoder.decode_whole(&whole.into(), assembler).unwrap();
        });
        prop_assert_eq!(&streamed, &items_of(&written));
        prop_assert_eq!(whole, streamed);
    }

    /// Each delta of a text is written with the event that brought it.
    #[test]
    fn text_deltas_are_not_held(answer in chat_answer(), call_format in call_format()) {
        let written = convert_chat(&answer.chunks(call_format));
        let pieces = answer.reasoning.iter().chain(&answer.content);
        let mut before = written.live[0];
        for (piece, count) in pieces.zip(&written.live[1..]) {
            prop_assert!(piece.is_empty() || *count > before, "{piece:?}");
            before = *count;
        }
    }
}
