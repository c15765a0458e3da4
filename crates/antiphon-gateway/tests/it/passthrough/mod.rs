//! The API's other parts, which pass to upstreams as they came.

mod bounds;
mod chosen;
mod own_key;
mod paths;
mod scope;
mod unchanged;
mod uploads;

use bytes::Bytes;
use http::request::Builder;
use http::{Method, Request, Response};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;

use crate::support::{Answer, World, soon};

/// A request of which the test says every header.
fn request(world: &World, method: Method, path: &str) -> Builder {
    Request::builder().method(method).uri(format!("{}{path}", world.root()))
}

/// The head of its answer.
async fn begun(request: Builder, body: impl Into<Bytes>) -> Response<Incoming> {
    let request = request.body(Full::new(body.into())).expect("the request is well-formed");
    let http = Client::builder(TokioExecutor::new()).build_http();
    soon("the gateway answers", http.request(request)).await.expect("it does")
}

/// The whole answer.
async fn answered(request: Builder, body: impl Into<Bytes>) -> Answer {
    Answer::read(begun(request, body).await).await
}
