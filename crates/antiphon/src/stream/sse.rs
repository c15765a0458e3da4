//! Server-sent events, decoded without I/O.
//!
//! Source: WHATWG HTML, "Server-sent events", sections 9.2.5 and 9.2.6. Bytes go in as they arrive;
//! how they are cut does not change what comes out.

#[cfg(test)]
mod tests;

use bytes::{Buf, Bytes, BytesMut};

/// One event of a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    /// The `event` field; empty where it is absent.
    pub event: Bytes,
    /// The `data` lines, joined by line feeds.
    pub data: Bytes,
}

/// The stream held a line or an event over the limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("an event of the stream is over {limit} bytes")]
pub struct TooLong {
    /// The limit, in bytes.
    pub limit: usize,
}

/// Turns bytes into [`Frame`]s.
///
/// Linear in the bytes, also for one long line in many pieces: no byte is searched for a line end
/// twice, and buffers grow by doubling. Holds one event, at most as long as the limit, and what was
/// pushed since the last frame was taken.
#[derive(Debug)]
pub struct Decoder {
    limit: usize,
    buffer: BytesMut,
    /// How much of `buffer` is known to hold no line end.
    scanned: usize,
    /// A CR ended the last line: an LF right behind it belongs to it.
    after_cr: bool,
    at_start: bool,
    /// The limit was passed: nothing is read any more.
    is_over: bool,
    event: Bytes,
    data: Option<BytesMut>,
}

const BOM: &[u8] = b"\xef\xbb\xbf";

impl Decoder {
    /// A decoder that takes events up to `limit` bytes.
    pub fn new(limit: usize) -> Self {
        Self {
            limit,
            buffer: BytesMut::new(),
            scanned: 0,
            after_cr: false,
            at_start: true,
            is_over: false,
            event: Bytes::new(),
            data: None,
        }
    }

    /// Takes the next bytes of the stream. Frames are to be taken before more is pushed.
    pub fn push(&mut self, bytes: &[u8]) {
        if !self.is_over {
            self.buffer.extend_from_slice(bytes);
        }
    }

    /// The next whole event; `None` until more bytes are pushed. Only [`push`](Self::push) changes
    /// the answer from `None`, and nothing changes it from an error.
    pub fn next_frame(&mut self) -> Result<Option<Frame>, TooLong> {
        while let Some(line) = self.next_line()? {
            if let Some(frame) = self.take_line(line)? {
                return Ok(Some(frame));
            }
        }
        Ok(None)
    }

    /// The stream is over: what is left of it, event by event. Last comes the event that the end
    /// cut off from its blank line, if there is one. Browsers discard that one; servers that forget
    /// the last line end are answered better so.
    pub fn finish(&mut self) -> Result<Option<Frame>, TooLong> {
        if let Some(frame) = self.next_frame()? {
            return Ok(Some(frame));
        }
        let rest = self.buffer.split();
        self.scanned = 0;
        if !rest.is_empty() {
            self.take_line(rest)?;
        }
        Ok(self.dispatch())
    }

    fn next_line(&mut self) -> Result<Option<BytesMut>, TooLong> {
        if self.is_over {
            return Err(TooLong { limit: self.limit });
        }
        if !self.skip_start() {
            return Ok(None);
        }
        let unseen = &self.buffer[self.scanned..];
        let Some(found) = memchr::memchr2(b'\n', b'\r', unseen) else {
            self.scanned = self.buffer.len();
            return self.within_limit(self.scanned).map(|()| None);
        };
        let end = self.scanned + found;
        self.scanned = 0;
        self.within_limit(end)?;
        let line = self.buffer.split_to(end);
        self.after_cr = self.buffer[0] == b'\r';
        self.buffer.advance(1);
        Ok(Some(line))
    }

    /// Passes a byte order mark and the LF of a CRLF; `false` while they may still come.
    fn skip_start(&mut self) -> bool {
        if self.after_cr && !self.buffer.is_empty() {
            self.after_cr = false;
            if self.buffer[0] == b'\n' {
                self.buffer.advance(1);
            }
        }
        if self.at_start {
            if self.buffer.len() < BOM.len() && BOM.starts_with(&self.buffer) {
                return false;
            }
            self.at_start = false;
            if self.buffer.starts_with(BOM) {
                self.buffer.advance(BOM.len());
            }
        }
        true
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
            None => self.data = Some(line),
            Some(data) => {
                data.extend_from_slice(b"\n");
                data.extend_from_slice(&line);
            }
        }
        self.within_limit(self.data.as_ref().map_or(0, BytesMut::len))
    }

    fn dispatch(&mut self) -> Option<Frame> {
        let event = std::mem::take(&mut self.event);
        let data = self.data.take()?.freeze();
        Some(Frame { event, data })
    }

    /// Gives up where the limit is passed, and lets go of what was held.
    fn within_limit(&mut self, length: usize) -> Result<(), TooLong> {
        if length <= self.limit {
            return Ok(());
        }
        *self = Self { is_over: true, ..Self::new(self.limit) };
        Err(TooLong { limit: self.limit })
    }
}
