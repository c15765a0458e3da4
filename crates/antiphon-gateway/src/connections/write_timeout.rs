//! Connections whose peer does not read.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use hyper::rt::{Read, ReadBufCursor, Write};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tokio::time::{Sleep, sleep};

/// A connection that fails if there is data to write and its peer reads nothing for too long.
///
/// Without this limit, a client that stops reading would keep its answer, its turn and its upstream
/// request open for ever.
///
/// ```text
/// Flowing ── a write has to wait ──> Stalled ── too long ──> error
///    ^                                  │
///    └────────── the peer reads ────────┘
/// ```
pub(super) struct WriteTimeoutStream {
    io: TokioIo<TcpStream>,
    bound: Duration,
    state: State,
}

enum State {
    Flowing,
    Stalled(Pin<Box<Sleep>>),
}

impl WriteTimeoutStream {
    /// A connection that may stall for `bound`.
    pub(super) fn new(stream: TcpStream, bound: Duration) -> Self {
        Self { io: TokioIo::new(stream), bound, state: State::Flowing }
    }

    /// Returns the result of a write, or an error if the writer has waited for too long.
    fn bounded<T>(
        &mut self,
        cx: &mut Context<'_>,
        written: Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        if written.is_ready() {
            self.state = State::Flowing;
            return written;
        }
        if let State::Flowing = self.state {
            self.state = State::Stalled(Box::pin(sleep(self.bound)));
        }
        let State::Stalled(end) = &mut self.state else { return Poll::Pending };
        end.as_mut().poll(cx).map(|()| Err(io::ErrorKind::TimedOut.into()))
    }

    fn io(&mut self) -> Pin<&mut TokioIo<TcpStream>> {
        Pin::new(&mut self.io)
    }
}

impl Read for WriteTimeoutStream {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        self.get_mut().io().poll_read(cx, buf)
    }
}

impl Write for WriteTimeoutStream {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let written = this.io().poll_write(cx, buf);
        this.bounded(cx, written)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let written = this.io().poll_write_vectored(cx, bufs);
        this.bounded(cx, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.io.is_write_vectored()
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.get_mut().io().poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.get_mut().io().poll_shutdown(cx)
    }
}
