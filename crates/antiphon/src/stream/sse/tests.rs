//! Tests of the SSE codec.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

use super::*;

/// Decodes a stream that arrives in these chunks into pairs of `event` and `data`.
fn decode<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> Vec<(Bytes, Bytes)> {
    let mut decoder = Decoder::new(1 << 20);
    let mut events = Vec::new();
    for piece in pieces {
        decoder.push(piece);
        while let Some(frame) = decoder.next_frame().unwrap() {
            events.push((frame.event, frame.data));
        }
    }
    while let Some(frame) = decoder.finish().unwrap() {
        events.push((frame.event, frame.data));
    }
    events
}

fn whole(stream: &str) -> Vec<(Bytes, Bytes)> {
    decode([stream.as_bytes()])
}

/// Events without a name.
fn data(texts: &[&'static str]) -> Vec<(Bytes, Bytes)> {
    let nameless = |text: &&'static str| (Bytes::new(), Bytes::from_static(text.as_bytes()));
    texts.iter().map(nameless).collect()
}

#[test]
fn lines_end_with_lf_cr_or_both() {
    for end in ["\n", "\r", "\r\n"] {
        let stream = "data: one||data: two|data: lines||".replace('|', end);
        assert_eq!(whole(&stream), data(&["one", "two\nlines"]), "{end:?}");
    }
}

#[test]
fn line_ends_may_be_mixed() {
    assert_eq!(whole("data: a\r\n\rdata: b\n\r\ndata: c\r\r\n"), data(&["a", "b", "c"]));
}

#[test]
fn leading_byte_order_mark_is_skipped() {
    assert_eq!(whole("\u{feff}data: a\n\n"), data(&["a"]));
    // Anywhere else it is part of an unknown field's name.
    assert_eq!(whole("\n\u{feff}data: a\n\ndata: b\n\n"), data(&["b"]));
    assert_eq!(whole("\u{feff}\u{feff}data: a\n\ndata: b\n\n"), data(&["b"]));
}

#[test]
fn comments_are_skipped() {
    assert_eq!(whole(": keepalive\n\ndata: a\n: within\ndata: b\n\n:\n\n"), data(&["a\nb"]));
}

#[test]
fn one_space_after_the_colon_is_skipped() {
    assert_eq!(whole("data:a\n\ndata:  b \n\n"), data(&["a", " b "]));
}

#[test]
fn last_event_field_names_the_event() {
    let named = |name: &'static str, data: &'static str| (name.into(), data.into());
    let stream = "event: x\nevent: ping\ndata: a\n\ndata: b\n\nevent:pong\ndata: c\n\n";
    assert_eq!(whole(stream), [named("ping", "a"), named("", "b"), named("pong", "c")]);
}

#[test]
fn event_without_data_is_dropped() {
    assert_eq!(whole("event: ping\n\ndata: a\n\n"), data(&["a"]));
}

#[test]
fn other_fields_are_skipped() {
    assert_eq!(whole("id: 7\nretry: 100\nfoo: bar\nDATA: x\n data: y\ndata: a\n\n"), data(&["a"]));
}

/// The example of the specification: three fields without a value, the last without a blank line.
#[test]
fn field_without_colon_is_empty() {
    assert_eq!(whole("data\n\ndata\ndata\n\n"), data(&["", "\n"]));
    assert_eq!(whole("data:\n\n"), data(&[""]));
}

#[test]
fn value_may_contain_colons() {
    assert_eq!(whole("data: {\"a\":\"b: c\"}\n\n"), data(&["{\"a\":\"b: c\"}"]));
}

#[test]
fn final_event_may_lack_its_blank_line() {
    assert_eq!(whole("data: a\n\ndata: b"), data(&["a", "b"]));
    assert_eq!(whole("data: a\n"), data(&["a"]));
    assert_eq!(whole("data: a\r"), data(&["a"]));
    assert_eq!(whole(""), []);
    assert_eq!(whole("\u{feff}"), []);
    assert_eq!(decode([&b"\xef\xbb"[..]]), []);
}

#[test]
fn finish_returns_remaining_events() {
    let mut decoder = Decoder::new(100);
    decoder.push(b"data: a\n\ndata: b\n\ndata: c");
    let mut frames = std::iter::from_fn(|| decoder.finish().unwrap());
    let texts: Vec<Bytes> = frames.by_ref().map(|frame| frame.data).collect();
    assert_eq!(texts, ["a", "b", "c"]);
}

/// Streams that exercise every rule.
const STREAMS: [&str; 4] = [
    "\u{feff}event: response.created\r\ndata: {\"text\":\"\u{e9}\u{1f600}\"}\r\n\r\n\
     : x\r\n\r\ndata: [DONE]\r\n\r\n",
    "data: one\ndata\ndata: \u{1f600}\n\nevent: e\nid: 1\nretry: 2\ndata:three\n\ndata: cut",
    "data: a\r\rdata: b\r\ndata: c\r\r\n\rdata: d\r",
    "\r\n\n\rdata\n\n:\n\nevent\ndata:\n\n\u{feff}data: x\n\n",
];

#[test]
fn any_two_chunks_give_the_same_events() {
    for stream in STREAMS {
        let expected = whole(stream);
        for at in 0..=stream.len() {
            let (one, two) = stream.as_bytes().split_at(at);
            assert_eq!(decode([one, two]), expected, "cut at {at} of {stream:?}");
        }
    }
}

#[test]
fn single_byte_chunks_give_the_same_events() {
    for stream in STREAMS {
        assert_eq!(decode(stream.as_bytes().chunks(1)), whole(stream), "{stream:?}");
    }
}

fn config() -> ProptestConfig {
    ProptestConfig {
        rng_seed: RngSeed::Fixed(0x616e_7469_7068_6f6e),
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

/// A part of a line or of a line end.
fn token() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "data",
        "data:",
        "data: ",
        "event",
        "event: ",
        "id:",
        ":",
        " ",
        "x",
        "\u{e9}",
        "\u{1f600}",
        "\n",
        "\r",
        "\r\n",
        "\n\n",
        "\u{feff}",
    ])
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn any_chunks_give_the_same_events(
        tokens in vec(token(), 0..60),
        cuts in vec(any::<prop::sample::Index>(), 0..12),
    ) {
        let stream = tokens.concat();
        let mut cuts: Vec<usize> = cuts.iter().map(|at| at.index(stream.len() + 1)).collect();
        cuts.sort_unstable();
        let ends = cuts.iter().copied().chain([stream.len()]);
        let starts = [0].into_iter().chain(cuts.iter().copied());
        let pieces = starts.zip(ends).map(|(start, end)| &stream.as_bytes()[start..end]);
        prop_assert_eq!(decode(pieces), whole(&stream));
    }

    #[test]
    fn encoded_events_are_decoded(texts in vec("[^\r\n]{0,20}(\n[^\r\n]{0,20}){0,3}", 0..6)) {
        let encoded = |text: &String| format!("data: {}\n\n", text.replace('\n', "\ndata: "));
        let stream: String = texts.iter().map(encoded).collect();
        let decoded: Vec<Bytes> = whole(&stream).into_iter().map(|(_, data)| data).collect();
        prop_assert_eq!(decoded, texts);
    }
}

/// Number of bytes searched for a line end, for one line of this length in chunks of this size.
fn searched(length: usize, piece: usize) -> usize {
    let mut decoder = Decoder::new(length);
    let bytes = vec![b'x'; piece];
    let mut searched = 0;
    for _ in 0..length / piece {
        decoder.push(&bytes);
        searched += decoder.lines.buffer.len() - decoder.lines.scanned;
        assert_eq!(decoder.next_frame(), Ok(None));
        assert_eq!(decoder.lines.scanned, decoder.lines.buffer.len());
        assert!(decoder.lines.buffer.capacity() <= 2 * decoder.lines.buffer.len().max(64));
    }
    searched
}

/// Each search starts at the end of the previous one, and the buffer grows by doubling.
#[test]
fn every_byte_is_searched_once() {
    const LENGTH: usize = 8 << 20;
    for piece in [64, 1000, 4096] {
        assert_eq!(searched(LENGTH, piece), LENGTH / piece * piece);
    }
    assert_eq!(searched(LENGTH / 16, 1), LENGTH / 16);
}

#[test]
fn unfinished_line_over_limit_is_an_error() {
    let mut decoder = Decoder::new(10);
    decoder.push(b"data: 1234");
    assert_eq!(decoder.next_frame(), Ok(None));
    decoder.push(b"5");
    assert_eq!(decoder.next_frame(), Err(TooLong { limit: 10 }));
}

#[test]
fn finished_line_over_limit_is_an_error() {
    let mut decoder = Decoder::new(10);
    decoder.push(b"data: 12345\n\n");
    assert_eq!(decoder.next_frame(), Err(TooLong { limit: 10 }));
}

#[test]
fn event_of_short_lines_over_limit_errors() {
    let mut decoder = Decoder::new(10);
    for _ in 0..5 {
        decoder.push(b"data:1\n");
        assert_eq!(decoder.next_frame(), Ok(None));
    }
    decoder.push(b"data:2\n\n");
    assert_eq!(decoder.next_frame(), Err(TooLong { limit: 10 }));
}

#[test]
fn empty_data_lines_count_towards_the_limit() {
    let mut decoder = Decoder::new(10);
    decoder.push("data\n".repeat(12).as_bytes());
    assert_eq!(decoder.next_frame(), Err(TooLong { limit: 10 }));
}

#[test]
fn error_is_final_and_frees_buffers() {
    let mut decoder = Decoder::new(10);
    decoder.push(b"data: 12345\n\ndata: 1\n\n");
    assert!(decoder.next_frame().is_err());
    decoder.push(b"data: 2\n\n");
    assert!(decoder.lines.buffer.is_empty() && decoder.data.is_none());
    assert!(decoder.next_frame().is_err() && decoder.finish().is_err());
}

#[test]
fn limit_applies_to_single_events() {
    let mut decoder = Decoder::new(10);
    decoder.push("data: 1\n\n: comment\n".repeat(100).as_bytes());
    let frames = std::iter::from_fn(|| decoder.next_frame().unwrap());
    assert_eq!(frames.count(), 100);
}

#[test]
fn buffer_stays_small_over_long_streams() {
    let mut decoder = Decoder::new(1000);
    for _ in 0..10_000 {
        decoder.push(b"event: ping\ndata: {\"type\":\"ping\"}\n\n");
        while decoder.next_frame().unwrap().is_some() {}
        assert!(decoder.lines.buffer.capacity() < 1000);
    }
}
