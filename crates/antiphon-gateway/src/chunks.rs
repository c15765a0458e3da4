//! A body as a list of chunks that share the memory of the items they come from.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::{Bytes, BytesMut};
use http_body::{Body, Frame, SizeHint};

/// A text in chunks. Cloning and sending it copies no long chunk: memory grows with the number of
/// chunks, not with their length.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Chunks {
    chunks: VecDeque<Bytes>,
    /// The bytes of all chunks.
    length: usize,
}

/// Chunks that are shorter than this are sent together, in frames of up to this length.
const FRAME: usize = 16 << 10;

/// A longer chunk is sent in several frames, because a connection copies each frame to its buffer.
const LONGEST: usize = 32 << 10;

impl Chunks {
    /// An empty text with room for this many chunks.
    pub(crate) fn with_capacity(chunks: usize) -> Self {
        Self { chunks: VecDeque::with_capacity(chunks), length: 0 }
    }

    /// Appends a chunk without copying it.
    pub(crate) fn push(&mut self, chunk: impl Into<Bytes>) {
        let chunk = chunk.into();
        self.length += chunk.len();
        if !chunk.is_empty() {
            self.chunks.push_back(chunk);
        }
    }

    /// Appends all chunks of another text.
    pub(crate) fn append(&mut self, more: Self) {
        self.length += more.length;
        self.chunks.extend(more.chunks);
    }

    /// The chunks in order.
    #[cfg(test)]
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Bytes> {
        self.chunks.iter()
    }

    /// The length of the text in bytes.
    pub(crate) fn len(&self) -> usize {
        self.length
    }

    /// The text in the frames that it is sent in.
    pub(crate) fn into_frames(mut self) -> impl Iterator<Item = Bytes> {
        std::iter::from_fn(move || self.next_frame())
    }

    /// The text in one piece. This copies the text unless it is a single chunk.
    pub(crate) fn to_bytes(&self) -> Bytes {
        if let [chunk] = self.chunks.as_slices().0
            && self.chunks.len() == 1
        {
            return chunk.clone();
        }
        let mut whole = BytesMut::with_capacity(self.length);
        self.chunks.iter().for_each(|chunk| whole.extend_from_slice(chunk));
        whole.freeze()
    }

    /// The next frame: a part of a long chunk, or several short chunks joined.
    fn next_frame(&mut self) -> Option<Bytes> {
        let mut first = self.chunks.pop_front()?;
        if first.len() > LONGEST {
            self.chunks.push_front(first.split_off(LONGEST));
            return Some(first);
        }
        let fits = |length: usize, next: &Bytes| length + next.len() <= FRAME;
        if !self.chunks.front().is_some_and(|next| fits(first.len(), next)) {
            return Some(first);
        }
        let mut frame = BytesMut::with_capacity(FRAME.min(self.length));
        frame.extend_from_slice(&first);
        while let Some(next) = self.chunks.pop_front_if(|next| fits(frame.len(), next)) {
            frame.extend_from_slice(&next);
        }
        Some(frame.freeze())
    }
}

impl From<Bytes> for Chunks {
    fn from(text: Bytes) -> Self {
        let mut chunks = Self::default();
        chunks.push(text);
        chunks
    }
}

impl From<String> for Chunks {
    fn from(text: String) -> Self {
        Bytes::from(text).into()
    }
}

impl Body for Chunks {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let this = self.get_mut();
        let frame = this.next_frame();
        this.length -= frame.as_ref().map_or(0, Bytes::len);
        Poll::Ready(frame.map(|frame| Ok(Frame::data(frame))))
    }

    fn is_end_stream(&self) -> bool {
        self.chunks.is_empty()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.length as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_short_chunks_are_joined() {
        let long = Bytes::from(vec![b'x'; 2 * FRAME]);
        let mut chunks = Chunks::from("[".to_owned());
        for chunk in [Bytes::from_static(b"1,"), long.clone(), Bytes::from_static(b"]")] {
            chunks.push(chunk);
        }

        assert_eq!(chunks.to_bytes().len(), 4 + long.len());
        assert_eq!(chunks.size_hint().exact(), Some(4 + long.len() as u64));
        let frames: Vec<Bytes> = chunks.into_frames().collect();

        assert_eq!(frames, [Bytes::from_static(b"[1,"), long.clone(), Bytes::from_static(b"]")]);
        assert_eq!(frames[1].as_ptr(), long.as_ptr(), "it is not copied");
    }

    #[test]
    fn long_chunk_is_sent_in_parts_without_a_copy() {
        let long = Bytes::from(vec![b'x'; 2 * LONGEST + 1]);
        let frames: Vec<Bytes> = Chunks::from(long.clone()).into_frames().collect();

        assert_eq!(frames.iter().map(Bytes::len).collect::<Vec<_>>(), [LONGEST, LONGEST, 1]);
        assert_eq!(frames[1].as_ptr(), long[LONGEST..].as_ptr());
    }
}
