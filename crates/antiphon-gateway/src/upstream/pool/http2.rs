//! Connections with HTTP/2, which requests share up to the limit of the server.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hyper::client::conn::http2::{Builder, Connection, SendRequest};
use hyper::rt::Executor;
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
    connection: Mutex<Pin<Box<Connection<Io, RequestBody, Tasks>>>>,
}

/// Runs the tasks of a connection, for example one that sends a request's body.
///
/// A stream keeps the waker of that task until it ends, and a waker keeps the memory of its task.
/// The future is therefore in memory of its own, which is free once the body is sent.
#[derive(Clone, Copy)]
struct Tasks;

impl<F: Future<Output = ()> + Send + 'static> Executor<F> for Tasks {
    fn execute(&self, task: F) {
        tokio::spawn(Box::pin(task));
    }
}

/// The limit until the server has named its own, which it does in its first bytes
/// (`SETTINGS_MAX_CONCURRENT_STREAMS`, RFC 9113, section 6.5.2).
const FIRST_STREAMS: usize = 1;

impl Shared {
    /// Opens a connection over `io`, and starts its task.
    pub(super) async fn handshake(io: Io) -> Result<Self, hyper::Error> {
        let mut http = Builder::new(Tasks);
        let (sender, connection) =
            http.initial_max_send_streams(FIRST_STREAMS).handshake(io).await?;
        let connection = Mutex::new(Box::pin(connection));
        let streams = Arc::new(Streams { open: AtomicUsize::new(0), connection });
        let polled = Arc::clone(&streams);
        tokio::spawn(poll_fn(move |cx| polled.connection().as_mut().poll(cx).map(drop)));
        Ok(Self { sender, streams, used: Instant::now() })
    }

    pub(super) fn is_closed(&self) -> bool {
        self.sender.is_closed()
    }

    /// Begins a stream, if the server allows another one. Callers hold the lock of the connections.
    pub(super) fn begin_stream(&mut self) -> Option<Http2> {
        self.streams.has_room().then(|| self.begin())
    }

    /// Begins a stream.
    pub(super) fn begin(&mut self) -> Http2 {
        self.used = Instant::now();
        self.streams.open.fetch_add(1, Ordering::Relaxed);
        Http2 { sender: self.sender.clone(), stream: Stream(Arc::clone(&self.streams)) }
    }
}

impl Streams {
    fn has_room(&self) -> bool {
        self.open.load(Ordering::Relaxed) < self.connection().current_max_send_streams()
    }

    /// A panic while it was polled ends the connection for all its requests.
    fn connection(&self) -> MutexGuard<'_, Pin<Box<Connection<Io, RequestBody, Tasks>>>> {
        self.connection.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        self.0.open.fetch_sub(1, Ordering::Relaxed);
    }
}
