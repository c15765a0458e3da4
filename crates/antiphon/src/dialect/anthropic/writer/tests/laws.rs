//! Laws of the writer: on every stream that upstreams of either dialect send, well-formed or not.

use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use serde_json::{Value, json};

use super::world::{completed, created, rewrites, writes};
use crate::dialect::anthropic::stream::tests::generator::{
    blocks, mishaps as mishaps_of_anthropic, stream as anthropic,
};
use crate::stream::tests::generator::{answer, stream};
use crate::stream::tests::mangler::mishaps;

fn config() -> ProptestConfig {
    ProptestConfig {
        rng_seed: RngSeed::Fixed(0x7772_6974_6572),
        failure_persistence: None,
        ..ProptestConfig::with_cases(256)
    }
}

fn told(stream: &crate::stream::tests::generator::Stream, end: &[Value]) -> Vec<Value> {
    let events = stream.events.iter().map(|sent| sent.json.clone());
    [created()].into_iter().chain(events).chain(end.iter().cloned()).collect()
}

proptest! {
    #![proptest_config(config())]

    /// The client that every world has finds nothing to complain of.
    #[test]
    fn whatever_an_upstream_sends_the_stream_is_well_formed(
        answer in answer(),
        mishaps in mishaps(),
        side_by_side: bool,
        ends: bool,
    ) {
        let mut stream = stream(&answer, side_by_side);
        for mishap in &mishaps {
            stream.befall(mishap);
        }
        let end = if ends { vec![completed()] } else { Vec::new() };
        writes(&told(&stream, &end));
    }

    #[test]
    fn a_stream_comes_to_what_the_fold_says(answer in answer(), side_by_side: bool) {
        let written = writes(&told(&stream(&answer, side_by_side), &[completed()]));
        prop_assert_eq!(written.streamed, written.folded);
    }

    #[test]
    fn a_stream_that_breaks_off_is_an_error(
        answer in answer(),
        side_by_side: bool,
        at: prop::sample::Index,
    ) {
        let events = told(&stream(&answer, side_by_side), &[completed()]);
        let written = writes(&events[..at.index(events.len())]);
        prop_assert_eq!(&written.streamed["type"], "error");
        prop_assert_eq!(written.streamed, written.folded);
    }

    /// Texts, the ids and inputs of tools, thinking and signatures.
    #[test]
    fn what_anthropic_says_is_what_its_clients_get(said in blocks(), side_by_side: bool) {
        let written = rewrites(&anthropic(&said, "end_turn", side_by_side));
        prop_assert_eq!(&written.streamed, &written.folded);
        let mut got = written.content().clone();
        let meant = said.iter().enumerate().filter(|(_, said)| said.is_something());
        let mut meant: Vec<Value> = meant.map(|(at, said)| said.whole(at)).collect();
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
    fn whatever_anthropic_sends_the_stream_is_well_formed(
        said in blocks(),
        mishaps in mishaps_of_anthropic(),
        side_by_side: bool,
    ) {
        let mut events = anthropic(&said, "max_tokens", side_by_side);
        for mishap in &mishaps {
            mishap.befall(&mut events);
        }
        rewrites(&events);
    }
}
