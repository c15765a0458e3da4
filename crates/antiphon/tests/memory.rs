//! Memory use of an open stream: it grows with the text of the items, not with the number of
//! events.

use std::alloc::System;

use antiphon::IdSource;
use antiphon::dialect::{Conversion, Dialect, RequestContext, Writer};
use antiphon::json::Object;
use antiphon::stream::{Assembler, Envelope, UsedIds};
use antiphon::transcript::Origin;
use stats_alloc::{INSTRUMENTED_SYSTEM, StatsAlloc};

#[global_allocator]
static MEMORY: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// Number of deltas of a stream. They are as short as tokens.
const PIECES: usize = 20_000;
const PIECE: &str = "word ";
const TEXT: usize = PIECES * PIECE.len();

/// An assembler and a decoder may each hold the text, in a buffer that grows by doubling.
const COPIES: usize = 4;
/// Memory of a stream without text.
const SMALL: usize = 64 << 10;

/// One answer of an upstream, without its end.
struct Answer {
    from: Dialect,
    begun: &'static [&'static str],
    /// The repeated events. `word` is replaced by the delta.
    again: &'static [&'static str],
}

const ANSWERS: [Answer; 9] = [
    Answer {
        from: Dialect::Responses,
        begun: &[concat!(
            r#"{"type":"response.output_item.added","output_index":0,"#,
            r#""item":{"type":"message","id":"msg_1","role":"assistant","content":[]}}"#,
        )],
        again: &[concat!(
            r#"{"type":"response.output_text.delta","output_index":0,"content_index":0,"#,
            r#""item_id":"msg_1","delta":"word "}"#,
        )],
    },
    Answer {
        from: Dialect::Chat,
        begun: &[],
        again: &[r#"{"model":"m","choices":[{"index":0,"delta":{"content":"word "}}]}"#],
    },
    Answer {
        from: Dialect::Chat,
        begun: &[],
        again: &[r#"{"model":"m","choices":[{"index":0,"delta":{"reasoning_content":"word "}}]}"#],
    },
    Answer {
        from: Dialect::Chat,
        begun: &[
            concat!(
                r#"{"model":"m","choices":[{"delta":{"tool_calls":["#,
                r#"{"index":0,"id":"call_1","function":{"name":"f"}},"#,
                r#"{"index":1,"id":"call_2","function":{"name":"f"}}]}}]}"#,
            ),
            r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{"}}]}}]}"#,
        ],
        again: &[concat!(
            r#"{"choices":[{"delta":{"tool_calls":[{"index":1,"#,
            r#""function":{"arguments":"word "}}]}}]}"#,
        )],
    },
    Answer {
        from: Dialect::Anthropic,
        begun: &[r#"{"type":"content_block_start","index":0,"content_block":{"type":"text"}}"#],
        again: &[concat!(
            r#"{"type":"content_block_delta","index":0,"#,
            r#""delta":{"type":"text_delta","text":"word "}}"#,
        )],
    },
    Answer {
        from: Dialect::Anthropic,
        begun: &[concat!(
            r#"{"type":"content_block_start","index":0,"#,
            r#""content_block":{"type":"thinking","thinking":"","signature":""}}"#,
        )],
        again: &[concat!(
            r#"{"type":"content_block_delta","index":0,"#,
            r#""delta":{"type":"thinking_delta","thinking":"word "}}"#,
        )],
    },
    Answer {
        from: Dialect::Anthropic,
        begun: &[concat!(
            r#"{"type":"content_block_start","index":0,"#,
            r#""content_block":{"type":"tool_use","id":"toolu_1","name":"f","input":{}}}"#,
        )],
        again: &[concat!(
            r#"{"type":"content_block_delta","index":0,"#,
            r#""delta":{"type":"input_json_delta","partial_json":"word "}}"#,
        )],
    },
    Answer {
        from: Dialect::AiSdk,
        begun: &[r#"{"type":"text-start","id":"1"}"#],
        again: &[r#"{"type":"text-delta","id":"1","delta":"word "}"#],
    },
    Answer {
        from: Dialect::AiSdk,
        begun: &[r#"{"type":"tool-input-start","id":"call_1","toolName":"f"}"#],
        again: &[r#"{"type":"tool-input-delta","id":"call_1","delta":"word "}"#],
    },
];

/// Events without text.
const SILENCE: [(Dialect, &[&str]); 4] = [
    (Dialect::Responses, &[r#"{"type":"response.in_progress","response":{}}"#]),
    (
        Dialect::Chat,
        &[
            r#"{"model":"m","choices":[{"index":0,"delta":{"content":"","audio":{"id":"a"}}}]}"#,
            r#"{"choices":[],"usage":{"prompt_tokens":1,"completion_tokens":1}}"#,
        ],
    ),
    (
        Dialect::Anthropic,
        &[
            r#"{"type":"ping"}"#,
            r#"{"type":"content_block_delta","index":7,"delta":{"type":"odd_delta","text":"a"}}"#,
        ],
    ),
    (Dialect::AiSdk, &[r#"{"type":"raw","rawValue":{}}"#, r#"{"type":"odd","id":"1"}"#]),
];

/// A single test, since it measures the memory of the whole process.
#[test]
fn open_stream_holds_only_item_text() {
    for to in [Dialect::Responses, Dialect::Anthropic] {
        for Answer { from, begun, again } in ANSWERS {
            let held = held(from, to, begun, again);
            assert!(
                held < COPIES * TEXT + SMALL,
                "{from} to {to}: {held} bytes of {TEXT}, {again:?}"
            );
        }
        for (from, silence) in SILENCE {
            let held = held(from, to, &[], silence);
            assert!(held < SMALL, "{from} to {to}: {held} bytes, and nothing was said");
        }
    }
}

/// Number of bytes that a stream holds before its end.
fn held(from: Dialect, to: Dialect, begun: &[&str], again: &[&str]) -> usize {
    let before = in_use();
    let context = RequestContext::unknown(Origin::new("up m"));
    let writer = Writer::new(to).expect("clients speak it");
    let mut conversion = Conversion::new(from, context, assembler(), writer);
    let mut received = 0;
    for event in begun {
        received += conversion.push(format!("data: {event}\n\n").as_bytes()).len();
    }
    for _ in 0..PIECES {
        for event in again {
            received += conversion.push(format!("data: {event}\n\n").as_bytes()).len();
        }
    }
    let held = in_use() - before;
    assert!(received < 4 * PIECES);
    held
}

fn in_use() -> usize {
    let stats = MEMORY.stats();
    stats.bytes_allocated - stats.bytes_deallocated
}

fn assembler() -> Assembler {
    let request = Object::parse(br#"{"model":"m"}"#).expect("it is an object");
    let envelope = Envelope::new("resp_1", 1_770_000_000, &request, None);
    Assembler::new(envelope, UsedIds::default(), Box::new(Counting(0)), true)
}

struct Counting(u64);

impl IdSource for Counting {
    fn fill(&mut self, bytes: &mut [u8]) {
        self.0 += 1;
        bytes[16..].copy_from_slice(&self.0.to_be_bytes());
    }
}
