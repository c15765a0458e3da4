//! Accepting connections.

use std::io;
use std::time::Duration;

use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use super::connection::Connections;

/// A listener in a task of its own.
pub(super) struct Listening {
    ending: CancellationToken,
    task: JoinHandle<()>,
}

impl Listening {
    /// Accepts connections until the end.
    pub(super) fn start(listener: TcpListener, connections: Connections) -> Self {
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
    pub(super) async fn end(self) {
        self.ending.cancel();
        // An error is a panic in the task: the listener is closed all the same.
        drop(self.task.await);
    }
}

/// Beyond the bound on connections only a few more are accepted: further ones wait in the system's
/// queue.
async fn accept(listener: TcpListener, connections: Connections) {
    loop {
        let admission = connections.admission().await;
        let stream = next(&listener).await;
        if let Err(error) = stream.set_nodelay(true) {
            tracing::debug!(%error, "a connection stays with delays");
        }
        connections.serve(stream, admission);
    }
}

/// How long to wait where the system has no room, for files above all, until one is closed.
const NO_ROOM: Duration = Duration::from_millis(250);

/// The next connection. Nothing that goes wrong with one ends the listener.
async fn next(listener: &TcpListener) -> TcpStream {
    loop {
        match listener.accept().await {
            Ok((stream, _)) => return stream,
            Err(error) if is_of_one_connection(&error) => {
                tracing::debug!(%error, "a connection broke before it was accepted");
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
