//! Splits bytes into lines, without I/O.

use bytes::{Buf, BytesMut};

/// A line or an event of the stream is over the limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("an event of the stream is over {limit} bytes")]
pub struct TooLong {
    /// The limit, in bytes.
    pub limit: usize,
}

/// Splits bytes into lines that end with LF, CR or CRLF. Skips a byte order mark at the start.
///
/// Each byte is searched for a line end once. Holds the bytes pushed since the last line was taken,
/// and at most the limit of one line.
#[derive(Debug)]
pub(crate) struct Lines {
    limit: usize,
    pub(super) buffer: BytesMut,
    /// Number of bytes of `buffer` that are known to hold no line end.
    pub(super) scanned: usize,
    /// The last line ended with a CR: an LF directly after it belongs to the same line end.
    after_cr: bool,
    at_start: bool,
    /// The limit was exceeded: the rest of the stream is ignored.
    is_over: bool,
    number: u64,
}

const BOM: &[u8] = b"\xef\xbb\xbf";

impl Lines {
    /// Splits into lines of up to `limit` bytes.
    pub(crate) fn new(limit: usize) -> Self {
        Self {
            limit,
            buffer: BytesMut::new(),
            scanned: 0,
            after_cr: false,
            at_start: true,
            is_over: false,
            number: 0,
        }
    }

    pub(crate) fn push(&mut self, bytes: &[u8]) {
        if !self.is_over {
            self.buffer.extend_from_slice(bytes);
        }
    }

    /// The next complete line, without its line end.
    pub(crate) fn next_line(&mut self) -> Result<Option<BytesMut>, TooLong> {
        if self.is_over {
            return Err(TooLong { limit: self.limit });
        }
        if !self.skip_start() {
            return Ok(None);
        }
        let unseen = &self.buffer[self.scanned..];
        let Some(found) = memchr::memchr2(b'\n', b'\r', unseen) else {
            self.scanned = self.buffer.len();
            if self.scanned == 0 {
                // A stream that waits for its next event occupies no memory.
                self.buffer = BytesMut::new();
            }
            return self.within_limit(self.scanned).map(|()| None);
        };
        let end = self.scanned + found;
        self.scanned = 0;
        self.within_limit(end)?;
        let line = self.buffer.split_to(end);
        self.after_cr = self.buffer[0] == b'\r';
        self.buffer.advance(1);
        self.number += 1;
        Ok(Some(line))
    }

    /// The bytes after the last line end, once the stream has ended.
    pub(crate) fn rest(&mut self) -> Option<BytesMut> {
        self.scanned = 0;
        let rest = self.buffer.split();
        self.number += u64::from(!rest.is_empty());
        (!rest.is_empty()).then_some(rest)
    }

    /// The bytes that were pushed but not returned yet.
    pub(crate) fn take(&mut self) -> BytesMut {
        self.skip_start();
        self.scanned = 0;
        self.buffer.split()
    }

    /// The number of the last returned line, from 1.
    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    /// Returns an error if `length` exceeds the limit, and frees the buffer.
    pub(crate) fn within_limit(&mut self, length: usize) -> Result<(), TooLong> {
        if length <= self.limit {
            return Ok(());
        }
        *self = Self { is_over: true, number: self.number, ..Self::new(self.limit) };
        Err(TooLong { limit: self.limit })
    }

    /// Skips a byte order mark and the LF of a CRLF; `false` while one of them may still follow.
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
}
