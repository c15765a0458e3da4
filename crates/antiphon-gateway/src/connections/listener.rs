//! Accepts connections.

use std::io;
use std::time::Duration;

use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use super::Connections;

/// A listener in a separate task.
pub(crate) struct Listener {
    ending: CancellationToken,
    task: JoinHandle<()>,
}

impl Listener {
    /// Accepts connections until [`Listener::end`].
    pub(crate) fn start(listener: TcpListener, connections: Connections) -> Self {
        let ending = CancellationToken::new();
        let until = ending.clone();
        let task = tokio::spawn(async move {
            tokio::select! {
                () = accept(listener, connections) => {}
                () = until.cancelled() => {}
            }
        });
        Self { ending, task }
    }

    /// Closes the listener.
    pub(crate) async fn end(self) {
        self.ending.cancel();
        // An error is a panic in the task: the listener is closed in that case too.
        drop(self.task.await);
    }
}

/// Accepts connections. Beyond the limit it accepts only a few more; the rest wait in the system's
/// queue.
async fn accept(listener: TcpListener, connections: Connections) {
    loop {
        let admission = connections.admission().await;
        let stream = next(&listener).await;
        if let Err(error) = stream.set_nodelay(true) {
            tracing::debug!(%error, "could not set TCP_NODELAY on a client connection");
        }
        connections.serve(stream, admission);
    }
}

/// The time to wait if the system has no resources, usually file descriptors, for another
/// connection.
const NO_ROOM: Duration = Duration::from_millis(250);

/// Accepts the next connection. An error of a single connection does not end the listener.
async fn next(listener: &TcpListener) -> TcpStream {
    loop {
        match listener.accept().await {
            Ok((stream, _)) => return stream,
            Err(error) if is_of_one_connection(&error) => {
                tracing::debug!(%error, "a client closed its connection before it was accepted");
            }
            Err(error) => {
                tracing::error!(%error, "connections cannot be accepted; trying again");
                sleep(NO_ROOM).await;
            }
        }
    }
}

fn is_of_one_connection(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::ConnectionRefused
            | io::ErrorKind::ConnectionAborted
            | io::ErrorKind::ConnectionReset
    )
}
