//! The server's connections.

use std::convert::Infallible;
use std::io;

use axum::Router;
use axum::response::Response;
use http::Request;
use hyper::body::Incoming;
use hyper::service::{Service as _, service_fn};
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

use super::deliver::Hangup;

/// Serves all connections of `listener` until the future is dropped, which closes them.
pub async fn serve(listener: TcpListener, router: Router) {
    serve_each(listener, |stream| serve_one(stream, router.clone())).await;
}

/// Runs `serve` in a task for each connection of `listener` until the future is dropped, which ends
/// the tasks.
pub async fn serve_each<F>(listener: TcpListener, serve: impl Fn(TcpStream) -> F)
where
    F: Future<Output: Send + 'static> + Send + 'static,
{
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => {
                // An accept error concerns only the peer.
                let Ok((stream, _)) = accepted else { continue };
                connections.spawn(serve(stream));
            }
            Some(_) = connections.join_next() => {}
        }
    }
}

/// Serves one connection to its end, with HTTP/1.1 or HTTP/2. A disconnect by either side is not an
/// error.
async fn serve_one(stream: TcpStream, router: Router) {
    // Without this, Nagle's algorithm would join chunks that a test sends separately.
    drop(stream.set_nodelay(true));
    let router = TowerToHyperService::new(router);
    let answer = service_fn(move |request: Request<Incoming>| {
        let answer = router.call(request);
        async move { or_hangup(answer.await) }
    });
    drop(
        auto::Builder::new(TokioExecutor::new())
            .serve_connection(TokioIo::new(stream), answer)
            .await,
    );
}

/// Makes the server close the connection if the reply is a hangup.
fn or_hangup(answer: Result<Response, Infallible>) -> io::Result<Response> {
    let Ok(response) = answer;
    match response.extensions().get::<Hangup>() {
        Some(Hangup) => Err(io::ErrorKind::ConnectionReset.into()),
        None => Ok(response),
    }
}
