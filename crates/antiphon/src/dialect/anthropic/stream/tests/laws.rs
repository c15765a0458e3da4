//! Properties of the decoder, on generated answers and on faulty streams.

use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use serde_json::{Value, json};

use super::generator::{blocks, faults, stream};
use super::world::{decode, decode_from, decode_whole, sealed};
use crate::stream::tests::checker::Upstream;

fn config() -> ProptestConfig {
    ProptestConfig {
        rng_seed: RngSeed::Fixed(0x616e_7468_726f_7069),
        failure_persistence: None,
        ..ProptestConfig::with_cases(256)
    }
}

proptest! {
    #![proptest_config(config())]

    /// The client of every test world checks the stream.
    #[test]
    fn output_is_well_formed_for_any_server(
        reply in blocks(),
        faults in faults(),
        side_by_side: bool,
    ) {
        let mut events = stream(&reply, "end_turn", side_by_side);
        for fault in &faults {
            fault.apply_fault(&mut events);
        }
        decode_from(Upstream::Contradictory, &events);
    }

    #[test]
    fn stream_output_equals_its_blocks(reply in blocks(), side_by_side: bool) {
        let received = decode(&stream(&reply, "end_turn", side_by_side));
        prop_assert_eq!(&received.last()["type"], "response.completed");
        let mut is_said: Vec<String> = received.output().iter().flat_map(saying).collect();
        let whole = reply.iter().enumerate().filter(|(_, reply)| reply.is_something());
        let mut meant: Vec<String> = whole.map(|(at, reply)| reply.whole(at).to_string()).collect();
        if side_by_side {
            is_said.sort();
            meant.sort();
        }
        prop_assert_eq!(is_said, meant, "{}", received.story());
        prop_assert!(received.finished.notes.is_empty());
    }

    #[test]
    fn whole_message_decodes_like_its_stream(reply in blocks()) {
        let content: Vec<Value> = reply.iter().enumerate().map(|(at, it)| it.whole(at)).collect();
        let message = json!({"type": "message", "model": "claude-up", "content": content,
            "stop_reason": "end_turn", "usage": {"input_tokens": 25, "output_tokens": 15}});
        let streamed = decode(&stream(&reply, "end_turn", false));
        prop_assert_eq!(decode_whole(&message).last()["response"].clone(),
            streamed.last()["response"].clone());
    }

    #[test]
    fn truncated_stream_emits_only_received_text(
        reply in blocks(),
        at: prop::sample::Index,
    ) {
        let events = stream(&reply, "end_turn", false);
        let received = decode(&events[..at.index(events.len() - 1)]);
        prop_assert_eq!(&received.last()["type"], "response.failed");
        let meant = decode(&events).deltas("output_text.delta");
        prop_assert!(meant.starts_with(&received.deltas("output_text.delta")));
    }
}

/// The blocks of an item.
fn saying(item: &Value) -> Vec<String> {
    let texts = |part: &Value| json!({"type": "text", "text": part["text"]}).to_string();
    let call = |input: Value| {
        json!({"type": "tool_use", "id": item["call_id"],
            "name": item["name"], "input": input})
    };
    match item["type"].as_str().unwrap() {
        "message" => item["content"].as_array().unwrap().iter().map(texts).collect(),
        "reasoning" => vec![sealed(item).to_string()],
        "function_call" => {
            let arguments = item["arguments"].as_str().unwrap();
            vec![call(serde_json::from_str(arguments).unwrap()).to_string()]
        }
        "custom_tool_call" => vec![call(json!({"input": item["input"]})).to_string()],
        _ => vec![item["content"].to_string()],
    }
}
