//! Connections with HTTP/2, which requests share up to the limit of the server.

use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use hyper::client::conn::http2::{Builder, SendRequest};
use hyper_util::rt::TokioExecutor;
use tokio::time::Instant;

use super::Io;
use crate::upstream::http::RequestBody;

/// A connection, and the number of its streams.
///
/// A request above the server's limit would wait in the connection until another answer ends, so it
/// must not be sent here.
pub(super) struct Shared {
    sender: SendRequest<RequestBody>,
    streams: Arc<Streams>,
    /// The time of the last request.
    pub(super) used: Instant,
}

/// A stream of a connection, for one request.
pub(super) struct Http2 {
    pub(super) sender: SendRequest<RequestBody>,
    pub(super) stream: Stream,
}

/// An open stream. Dropping it makes room for another one.
pub(super) struct Stream(Arc<Streams>);

struct Streams {
    open: AtomicUsize,
    /// The server's limit (`SETTINGS_MAX_CONCURRENT_STREAMS`, RFC 9113, section 6.5.2).
    limit: AtomicUsize,
}

impl Shared {
    /// Opens a connection over `io`, and starts its task.
    pub(super) async fn handshake(io: Io) -> Result<Self, hyper::Error> {
        let (sender, connection) = Builder::new(TokioExecutor::new()).handshake(io).await?;
        let mut connection = Box::pin(connection);
        let limit = AtomicUsize::new(connection.current_max_send_streams());
        let streams = Arc::new(Streams { open: AtomicUsize::new(0), limit });
        let watched = Arc::clone(&streams);
        tokio::spawn(poll_fn(move |cx| {
            let ended = connection.as_mut().poll(cx).map(drop);
            watched.limit.store(connection.current_max_send_streams(), Ordering::Relaxed);
            ended
        }));
        Ok(Self { sender, streams, used: Instant::now() })
    }

    pub(super) fn is_closed(&self) -> bool {
        self.sender.is_closed()
    }

    /// Begins a stream, if the server allows another one. Callers hold the lock of the connections.
    pub(super) fn begin_stream(&mut self) -> Option<Http2> {
        let Streams { open, limit } = &*self.streams;
        let has_room = open.load(Ordering::Relaxed) < limit.load(Ordering::Relaxed);
        has_room.then(|| self.begin())
    }

    /// Begins a stream.
    pub(super) fn begin(&mut self) -> Http2 {
        self.used = Instant::now();
        self.streams.open.fetch_add(1, Ordering::Relaxed);
        Http2 { sender: self.sender.clone(), stream: Stream(Arc::clone(&self.streams)) }
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        self.0.open.fetch_sub(1, Ordering::Relaxed);
    }
}
