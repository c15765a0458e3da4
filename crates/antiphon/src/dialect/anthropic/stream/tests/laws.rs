//! Laws of the decoder, on generated answers and on what servers make of their streams.

use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use serde_json::{Value, json};

use super::generator::{blocks, mishaps, stream};
use super::world::{hears, hears_of, hears_whole, sealed};
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

    /// The client that every world has finds nothing to complain of.
    #[test]
    fn whatever_a_server_sends_what_is_told_is_well_formed(
        said in blocks(),
        mishaps in mishaps(),
        side_by_side: bool,
    ) {
        let mut events = stream(&said, "end_turn", side_by_side);
        for mishap in &mishaps {
            mishap.befall(&mut events);
        }
        hears_of(Upstream::Contradictory, &events);
    }

    #[test]
    fn a_stream_says_what_its_blocks_say(said in blocks(), side_by_side: bool) {
        let told = hears(&stream(&said, "end_turn", side_by_side));
        prop_assert_eq!(&told.last()["type"], "response.completed");
        let mut is_said: Vec<String> = told.output().iter().flat_map(saying).collect();
        let whole = said.iter().enumerate().filter(|(_, said)| said.is_something());
        let mut meant: Vec<String> = whole.map(|(at, said)| said.whole(at).to_string()).collect();
        if side_by_side {
            is_said.sort();
            meant.sort();
        }
        prop_assert_eq!(is_said, meant, "{}", told.story());
        prop_assert!(told.finished.notes.is_empty());
    }

    #[test]
    fn a_whole_message_is_told_as_its_stream_is(said in blocks()) {
        let content: Vec<Value> = said.iter().enumerate().map(|(at, it)| it.whole(at)).collect();
        let message = json!({"type": "message", "model": "claude-up", "content": content,
            "stop_reason": "end_turn", "usage": {"input_tokens": 25, "output_tokens": 15}});
        let streamed = hears(&stream(&said, "end_turn", false));
        prop_assert_eq!(hears_whole(&message).last()["response"].clone(),
            streamed.last()["response"].clone());
    }

    #[test]
    fn a_stream_that_breaks_off_says_no_more_than_it_was_told(
        said in blocks(),
        at: prop::sample::Index,
    ) {
        let events = stream(&said, "end_turn", false);
        let told = hears(&events[..at.index(events.len() - 1)]);
        prop_assert_eq!(&told.last()["type"], "response.failed");
        let meant = hears(&events).deltas("output_text.delta");
        prop_assert!(meant.starts_with(&told.deltas("output_text.delta")));
    }
}

/// The blocks that an item came of.
fn saying(item: &Value) -> Vec<String> {
    let texts = |part: &Value| json!({"type": "text", "text": part["text"]}).to_string();
    let call = |input: Value| json!({"type": "tool_use", "id": item["call_id"], "name": item["name"], "input": input});
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
