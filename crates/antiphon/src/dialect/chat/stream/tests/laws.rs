//! Properties of the decoder, on generated answers and on faulty streams.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use serde_json::{Value, json};

use super::generator::{
    CallFormat, Counting, Fault, Naming, Pieces, answer, apply_fault, call_format, fault,
};
use super::{Server, called, finish, message_text, usage};
use crate::stream::tests::world::ClientView;

fn config() -> ProptestConfig {
    ProptestConfig {
        rng_seed: RngSeed::Fixed(0x616e_7469_7068_6f6e),
        failure_persistence: None,
        ..ProptestConfig::with_cases(256)
    }
}

fn ended(mut chunks: Vec<Value>) -> ClientView {
    chunks.push(finish("stop"));
    chunks.push(usage(&json!({"prompt_tokens": 1, "completion_tokens": 1})));
    Server::default().says(&chunks)
}

proptest! {
    #![proptest_config(config())]

    /// The client of every test world checks the stream. There is exactly one end.
    #[test]
    fn output_is_well_formed_for_any_server(
        answer in answer(),
        call_format in call_format(),
        faults in vec(fault(), 0..4),
        is_mute: bool,
    ) {
        let mut chunks = answer.chunks(call_format);
        for fault in faults {
            apply_fault(&mut chunks, fault);
        }
        Server { is_mute, ..Server::default() }.says(&chunks);
    }

    #[test]
    fn deltas_join_to_the_texts(answer in answer(), call_format in call_format()) {
        let received = ended(answer.chunks(call_format));
        prop_assert_eq!(message_text(&received), answer.content.concat());
        prop_assert_eq!(received.deltas("reasoning_summary_text.delta"), answer.reasoning.concat());
    }

    #[test]
    fn each_call_is_one_complete_item(answer in answer(), call_format in call_format()) {
        prop_assume!(call_format.distinguishes_calls());
        let received = ended(answer.chunks(call_format));
        prop_assert_eq!(called(&received), answer.called(), "{}", received.story());
    }

    #[test]
    fn whole_answer_decodes_like_its_stream(answer in answer()) {
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
        let call_format = CallFormat {
            counting: Counting::FromZero,
            naming: Naming::Unique,
            repeats: false,
            interleaves: false,
            names_first: true,
        };
        if answer.has_output() {
            prop_assert_eq!(whole.output(), ended(answer.chunks(call_format)).output());
        }
    }

    #[test]
    fn truncated_stream_emits_only_received_text(
        answer in answer(),
        call_format in call_format(),
        at: prop::sample::Index,
    ) {
        prop_assume!(call_format.distinguishes_calls());
        let mut chunks = answer.chunks(call_format);
        apply_fault(&mut chunks, Fault::Cut(at));
        let received = Server::without_done().says(&chunks);
        prop_assert_eq!(&received.last()["type"], "response.failed");
        prop_assert!(answer.content.concat().starts_with(&message_text(&received)));
        for ((name, arguments), (meant, all)) in called(&received).iter().zip(answer.called()) {
            prop_assert_eq!(name, &meant);
            prop_assert!(all.starts_with(arguments));
        }
    }

    #[test]
    fn error_at_any_point_ends_response(
        answer in answer(),
        call_format in call_format(),
        at: prop::sample::Index,
    ) {
        let mut chunks = answer.chunks(call_format);
        apply_fault(&mut chunks, Fault::Error(at));
        let received = ended(chunks);
        prop_assert_eq!(&received.last()["type"], "response.failed");
        prop_assert_eq!(&received.last()["response"]["error"]["message"], "Oh.");
    }
}
