//! Decodes server-sent events, without I/O.
//!
//! Source: WHATWG HTML, "Server-sent events", sections 9.2.5 and 9.2.6. The result does not depend
//! on how the stream is split into chunks.

#[cfg(test)]
mod tests;

use bytes::{Buf, Bytes, BytesMut};

use super::lines::Lines;
pub use super::lines::TooLong;

/// One event of a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    /// The `event` field; empty if it is absent.
    pub event: Bytes,
    /// The `data` lines, joined by line feeds.
    pub data: Bytes,
}

/// Turns bytes into [`Frame`]s.
///
/// Runs in linear time, also for one long line in many chunks: each byte is searched for a line end
/// once, and buffers grow by doubling. Holds one event, at most as long as the limit, and the bytes
/// pushed since the last frame was taken.
#[derive(Debug)]
pub struct Decoder {
    lines: Lines,
    event: Bytes,
    data: Option<BytesMut>,
    /// The number of the first line of `data`.
    data_line: u64,
}

impl Decoder {
    /// Creates a decoder of events of up to `limit` bytes.
    pub fn new(limit: usize) -> Self {
        Self { lines: Lines::new(limit), event: Bytes::new(), data: None, data_line: 0 }
    }

    /// Adds the next bytes of the stream. Take all frames before the next call.
    pub fn push(&mut self, bytes: &[u8]) {
        self.lines.push(bytes);
    }

    /// Returns the next complete event; `None` until more bytes are pushed. Only
    /// [`push`](Self::push) can change a `None`; an error is final.
    pub fn next_frame(&mut self) -> Result<Option<Frame>, TooLong> {
        while let Some(line) = self.lines.next_line()? {
            if let Some(frame) = self.take_line(line)? {
                return Ok(Some(frame));
            }
        }
        Ok(None)
    }

    /// Returns the remaining events after the end of the stream, one per call.
    ///
    /// The last one may lack its blank line. Browsers discard such an event; it is returned here,
    /// because some servers omit the last line end.
    pub fn finish(&mut self) -> Result<Option<Frame>, TooLong> {
        if let Some(frame) = self.next_frame()? {
            return Ok(Some(frame));
        }
        if let Some(rest) = self.lines.rest() {
            self.take_line(rest)?;
        }
        Ok(self.dispatch())
    }

    /// The number, from 1, of the first data line of the last frame.
    pub fn data_line(&self) -> u64 {
        self.data_line
    }

    fn take_line(&mut self, line: BytesMut) -> Result<Option<Frame>, TooLong> {
        if line.is_empty() {
            return Ok(self.dispatch());
        }
        let colon = memchr::memchr(b':', &line).unwrap_or(line.len());
        let space = usize::from(line.get(colon + 1) == Some(&b' '));
        let value_at = (colon + 1 + space).min(line.len());
        match &line[..colon] {
            b"data" => self.take_data(line, value_at)?,
            b"event" => self.event = line.freeze().slice(value_at..),
            _ => {}
        }
        Ok(None)
    }

    fn take_data(&mut self, mut line: BytesMut, value_at: usize) -> Result<(), TooLong> {
        line.advance(value_at);
        match &mut self.data {
            None => {
                self.data = Some(line);
                self.data_line = self.lines.number();
            }
            Some(data) => {
                data.extend_from_slice(b"\n");
                data.extend_from_slice(&line);
            }
        }
        let length = self.data.as_ref().map_or(0, BytesMut::len);
        self.lines.within_limit(length).inspect_err(|_| self.data = None)
    }

    fn dispatch(&mut self) -> Option<Frame> {
        let event = std::mem::take(&mut self.event);
        let data = self.data.take()?.freeze();
        Some(Frame { event, data })
    }
}
