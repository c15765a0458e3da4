//! The server's connections.

use std::convert::Infallible;
use std::io;

use axum::Router;
use axum::response::Response;
use http::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service as _, service_fn};
use hyper_util::rt::TokioIo;
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

use super::delivery::Hangup;

/// Serves every connection that `listener` accepts until it is dropped, and with it every connection.
pub async fn serve(listener: TcpListener, router: Router) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => {
                // What cannot be accepted is the peer's to notice.
                let Ok((stream, _)) = accepted else { continue };
                connections.spawn(serve_one(stream, router.clone()));
            }
            Some(_) = connections.join_next() => {}
        }
    }
}

/// Serves one connection to its end. A peer that leaves and a reply that is to break off are ends.
async fn serve_one(stream: TcpStream, router: Router) {
    // One chunk, one packet: Nagle's algorithm would join the chunks that a test keeps apart.
    drop(stream.set_nodelay(true));
    let router = TowerToHyperService::new(router);
    let answer = service_fn(move |request: Request<Incoming>| {
        let answer = router.call(request);
        async move { or_hangup(answer.await) }
    });
    drop(http1::Builder::new().serve_connection(TokioIo::new(stream), answer).await);
}

/// An error in place of a response makes the server close the connection.
fn or_hangup(answer: Result<Response, Infallible>) -> io::Result<Response> {
    let Ok(response) = answer;
    match response.extensions().get::<Hangup>() {
        Some(Hangup) => Err(io::ErrorKind::ConnectionReset.into()),
        None => Ok(response),
    }
}
