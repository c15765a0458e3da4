//! Server-sent events with their bytes.
//!
//! Unlike [`Decoder`](crate::stream::Decoder), this keeps comments, field names and line ends.

use bytes::{Bytes, BytesMut};
use memchr::memmem;

use crate::stream::Decoder;

/// An event, or a comment, with the empty line after it.
#[derive(Clone, Debug)]
pub(super) struct RawEvent {
    pub(super) bytes: Bytes,
}

/// Splits a stream into events.
#[derive(Debug, Default)]
pub(super) struct RawEvents {
    buffer: BytesMut,
    /// The number of bytes in which no event ends.
    scanned: usize,
}

/// Whether these bytes contain no call: both APIs name calls `tool_calls` or `tool_use`.
pub(super) fn passes(bytes: &[u8]) -> bool {
    ends_an_event(bytes) && memmem::find(bytes, b"\"tool_").is_none()
}

fn ends_an_event(bytes: &[u8]) -> bool {
    bytes.ends_with(b"\n\n") || bytes.ends_with(b"\r\n\r\n")
}

impl RawEvents {
    pub(super) fn is_empty(&self) -> bool {
        self.buffer.is_empty()
    }

    pub(super) fn len(&self) -> usize {
        self.buffer.len()
    }

    pub(super) fn push(&mut self, piece: &[u8]) {
        self.buffer.extend_from_slice(piece);
    }

    /// The next event that is complete.
    pub(super) fn next_event(&mut self) -> Option<RawEvent> {
        let from = self.scanned.saturating_sub(3);
        let found = memchr::memchr_iter(b'\n', &self.buffer[from..]).find(|at| {
            let end = from + at;
            ends_an_event(&self.buffer[..=end])
        });
        let Some(at) = found else {
            self.scanned = self.buffer.len();
            return None;
        };
        self.scanned = 0;
        Some(RawEvent { bytes: self.buffer.split_to(from + at + 1).freeze() })
    }

    /// The bytes of an event that the end of the stream cuts.
    pub(super) fn rest(&mut self) -> Bytes {
        self.buffer.split().freeze()
    }
}

impl RawEvent {
    /// The data of the event; `None` if it has none.
    pub(super) fn data(&self) -> Option<Bytes> {
        let mut decoder = Decoder::new(self.bytes.len());
        decoder.push(&self.bytes);
        Some(decoder.next_frame().ok()??.data).filter(|data| !data.is_empty())
    }

    /// The same event with this data in one line.
    pub(super) fn write_with(&self, data: &str, sent: &mut Vec<u8>) {
        let lines = self.bytes.split_inclusive(|byte| *byte == b'\n');
        let end = if self.bytes.ends_with(b"\r\n") { "\r\n" } else { "\n" };
        let mut is_written = false;
        for line in lines {
            if !line.starts_with(b"data") {
                sent.extend_from_slice(line);
            } else if !is_written {
                for part in ["data: ", data, end] {
                    sent.extend_from_slice(part.as_bytes());
                }
                is_written = true;
            }
        }
    }
}
