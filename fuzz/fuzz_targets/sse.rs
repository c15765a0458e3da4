//! For any bytes as an event stream, chunk boundaries make no difference, and the buffer has a
//! limit.
#![no_main]

use antiphon::stream::{Decoder, Frame, TooLong};
use libfuzzer_sys::fuzz_target;

/// A decoded stream: its events, and the error if it ended early.
type Decoded = (Vec<Frame>, Result<(), TooLong>);

fuzz_target!(|bytes: &[u8]| {
    let Some((cut, stream)) = bytes.split_first() else { return };
    for limit in [8, 64, 1 << 20] {
        let whole = decoded(std::iter::once(stream), limit);
        assert_eq!(decoded(stream.chunks(1), limit), whole, "byte by byte");
        assert_eq!(decoded(stream.chunks(usize::from(*cut).max(1)), limit), whole, "in chunks");
        let middle = usize::from(*cut) * stream.len() / 256;
        let (one, two) = stream.split_at(middle);
        assert_eq!(decoded([one, &[], two].into_iter(), limit), whole, "in two");
        assert!(whole.0.iter().all(|frame| frame.data.len() <= limit), "no event over the limit");
    }
    let (frames, end) = decoded(std::iter::once(stream), usize::MAX);
    assert_eq!(end, Ok(()));
    assert_eq!(frames, as_specified(stream));
});

fn decoded<'a>(chunks: impl Iterator<Item = &'a [u8]>, limit: usize) -> Decoded {
    let mut decoder = Decoder::new(limit);
    let mut frames = Vec::new();
    let end = decode(&mut decoder, chunks, &mut frames);
    (frames, end)
}

fn decode<'a>(
    decoder: &mut Decoder,
    chunks: impl Iterator<Item = &'a [u8]>,
    frames: &mut Vec<Frame>,
) -> Result<(), TooLong> {
    for chunk in chunks {
        decoder.push(chunk);
        while let Some(frame) = decoder.next_frame()? {
            frames.push(frame);
        }
    }
    frames.extend(decoder.finish()?);
    Ok(())
}

/// A direct and slow implementation of the specification's algorithm. An event that the end of the
/// stream cuts off counts.
fn as_specified(stream: &[u8]) -> Vec<Frame> {
    let stream = stream.strip_prefix(b"\xef\xbb\xbf").unwrap_or(stream);
    let mut frames = Vec::new();
    let (mut event, mut data) = (Vec::new(), None::<Vec<u8>>);
    let mut lines = lines(stream);
    lines.push(Vec::new());
    for line in lines {
        if line.is_empty() {
            if let Some(data) = data.take() {
                frames.push(Frame { event: event.into(), data: data.into() });
            }
            event = Vec::new();
            continue;
        }
        let colon = line.iter().position(|byte| *byte == b':').unwrap_or(line.len());
        let value = line.get(colon + 1..).unwrap_or_default();
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match &line[..colon] {
            b"event" => event = value.to_vec(),
            b"data" => data = Some(data.map_or(value.to_vec(), |data| [&data, value].join(&b'\n'))),
            _ => {}
        }
    }
    frames
}

/// Lines end with CR LF, LF or CR.
fn lines(stream: &[u8]) -> Vec<Vec<u8>> {
    let (mut lines, mut line) = (Vec::new(), Vec::new());
    let mut bytes = stream.iter().copied().peekable();
    while let Some(byte) = bytes.next() {
        if byte == b'\r' && bytes.peek() == Some(&b'\n') {
            bytes.next();
        }
        if matches!(byte, b'\r' | b'\n') {
            lines.push(std::mem::take(&mut line));
        } else {
            line.push(byte);
        }
    }
    lines.push(line);
    lines
}
