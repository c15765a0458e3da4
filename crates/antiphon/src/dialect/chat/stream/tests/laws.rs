//! Laws of the decoder, on generated answers and on what servers make of them.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use serde_json::{Value, json};

use super::generator::{Counting, Manner, Mishap, Naming, Pieces, answer, befall, manner, mishap};
use super::{Server, called, finish, said, usage};
use crate::stream::tests::world::Told;

fn config() -> ProptestConfig {
    ProptestConfig {
        rng_seed: RngSeed::Fixed(0x616e_7469_7068_6f6e),
        failure_persistence: None,
        ..ProptestConfig::with_cases(256)
    }
}

fn ended(mut chunks: Vec<Value>) -> Told {
    chunks.push(finish("stop"));
    chunks.push(usage(&json!({"prompt_tokens": 1, "completion_tokens": 1})));
    Server::default().says(&chunks)
}

proptest! {
    #![proptest_config(config())]

    /// The client that every world has finds nothing to complain of, and there is one end.
    #[test]
    fn whatever_comes_what_is_told_is_well_formed(
        answer in answer(),
        manner in manner(),
        mishaps in vec(mishap(), 0..4),
        is_mute: bool,
    ) {
        let mut chunks = answer.chunks(manner);
        for mishap in mishaps {
            befall(&mut chunks, mishap);
        }
        Server { is_mute, ..Server::default() }.says(&chunks);
    }

    #[test]
    fn pieces_make_up_the_texts(answer in answer(), manner in manner()) {
        let told = ended(answer.chunks(manner));
        prop_assert_eq!(said(&told), answer.content.concat());
        prop_assert_eq!(told.deltas("reasoning_text.delta"), answer.reasoning.concat());
    }

    #[test]
    fn each_call_is_one_item_with_all_its_arguments(answer in answer(), manner in manner()) {
        prop_assume!(manner.tells_calls_apart());
        let told = ended(answer.chunks(manner));
        prop_assert_eq!(called(&told), answer.called(), "{}", told.story());
    }

    #[test]
    fn a_whole_answer_is_what_its_stream_is(answer in answer()) {
        let call = |(at, (name, arguments)): (usize, &(String, Pieces))| json!({
            "id": format!("call_{at}"), "type": "function",
            "function": {"name": name, "arguments": arguments.concat()}
        });
        let message = json!({
            "role": "assistant", "content": answer.content.concat(),
            "reasoning_content": answer.reasoning.concat(),
            "tool_calls": answer.calls.iter().enumerate().map(call).collect::<Vec<Value>>()
        });
        let whole = Server::default().answers(&json!({
            "model": "m-1", "choices": [{"message": message, "finish_reason": "stop"}]
        }));
        let manner = Manner {
            counting: Counting::FromZero,
            naming: Naming::Unique,
            repeats: false,
            interleaves: false,
            names_first: true,
        };
        if answer.says_anything() {
            prop_assert_eq!(whole.output(), ended(answer.chunks(manner)).output());
        }
    }

    #[test]
    fn a_stream_that_breaks_off_says_no_more_than_it_was_told(
        answer in answer(),
        manner in manner(),
        at: prop::sample::Index,
    ) {
        prop_assume!(manner.tells_calls_apart());
        let mut chunks = answer.chunks(manner);
        befall(&mut chunks, Mishap::Cut(at));
        let told = Server::without_done().says(&chunks);
        prop_assert_eq!(&told.last()["type"], "response.failed");
        prop_assert!(answer.content.concat().starts_with(&said(&told)));
        for ((name, arguments), (meant, all)) in called(&told).iter().zip(answer.called()) {
            prop_assert_eq!(name, &meant);
            prop_assert!(all.starts_with(arguments));
        }
    }

    #[test]
    fn an_error_anywhere_is_the_end(
        answer in answer(),
        manner in manner(),
        at: prop::sample::Index,
    ) {
        let mut chunks = answer.chunks(manner);
        befall(&mut chunks, Mishap::Error(at));
        let told = ended(chunks);
        prop_assert_eq!(&told.last()["type"], "response.failed");
        prop_assert_eq!(&told.last()["response"]["error"]["message"], "Oh.");
    }
}
