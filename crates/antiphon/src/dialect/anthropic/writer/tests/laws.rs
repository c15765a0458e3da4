//! Properties of the writer, on valid and faulty streams of both dialects.

use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use serde_json::{Value, json};

use super::world::{completed, convert, convert_anthropic, created};
use crate::dialect::anthropic::stream::tests::generator::{
    blocks, faults as anthropic_faults, stream as anthropic,
};
use crate::stream::tests::generator::{answer, stream};
use crate::stream::tests::mangler::manglings;

fn config() -> ProptestConfig {
    ProptestConfig {
        rng_seed: RngSeed::Fixed(0x7772_6974_6572),
        failure_persistence: None,
        ..ProptestConfig::with_cases(256)
    }
}

fn receive(stream: &crate::stream::tests::generator::Stream, end: &[Value]) -> Vec<Value> {
    let events = stream.events.iter().map(|sent| sent.json.clone());
    [created()].into_iter().chain(events).chain(end.iter().cloned()).collect()
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
    ) {
        let mut stream = stream(&answer, side_by_side);
        for fault in &faults {
            stream.mangle(fault);
        }
        let end = if ends { vec![completed()] } else { Vec::new() };
        convert(&receive(&stream, &end));
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
        prop_assert_eq!(&written.streamed["type"], "error");
        prop_assert_eq!(written.streamed, written.folded);
    }

    /// Texts, the ids and inputs of tools, thinking and signatures.
    #[test]
    fn anthropic_answer_reaches_client_unchanged(message in blocks(), side_by_side: bool) {
        let written = convert_anthropic(&anthropic(&message, "end_turn", side_by_side));
        prop_assert_eq!(&written.streamed, &written.folded);
        let mut got = written.content().clone();
        let meant = message.iter().enumerate().filter(|(_, message)| message.is_something());
        let mut meant: Vec<Value> = meant.map(|(at, message)| message.whole(at)).collect();
        if side_by_side {
            got.sort_by_key(Value::to_string);
            meant.sort_by_key(Value::to_string);
        }
        prop_assert_eq!(got, meant);
        let usage = json!({"input_tokens": 25, "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": 0, "output_tokens": 15});
        prop_assert_eq!(&written.streamed["usage"], &usage);
    }

    #[test]
    fn stream_is_well_formed_for_any_anthropic_server(
        message in blocks(),
        faults in anthropic_faults(),
        side_by_side: bool,
    ) {
        let mut events = anthropic(&message, "max_tokens", side_by_side);
        for fault in &faults {
            fault.apply_fault(&mut events);
        }
        convert_anthropic(&events);
    }
}
