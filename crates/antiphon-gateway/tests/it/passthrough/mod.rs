//! The API's other parts, which pass to upstreams as they came.

mod bounds;
mod own_key;
mod paths;
mod repeated_calls;
mod routing;
mod scope;
mod unchanged;
mod uploads;

use bytes::Bytes;
use http::request::Builder;
use http::{HeaderValue, Method, Request, Response, header};
use http_body::Body as _;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;

use crate::support::{Answer, World, soon};

/// A request of which the test says every header. Unless it says another, a body's type is JSON.
fn request(world: &World, method: Method, path: &str) -> Builder {
    Request::builder().method(method).uri(format!("{}{path}", world.root()))
}

/// The head of its answer.
async fn send_request(request: Builder, body: impl Into<Bytes>) -> Response<Incoming> {
    let mut request = request.body(Full::new(body.into())).expect("the request is well-formed");
    if !request.body().is_end_stream() {
        let json = HeaderValue::from_static("application/json");
        request.headers_mut().entry(header::CONTENT_TYPE).or_insert(json);
    }
    let http = Client::builder(TokioExecutor::new()).build_http();
    soon("the gateway answers", http.request(request)).await.expect("it does")
}

/// The whole answer.
async fn read_answer(request: Builder, body: impl Into<Bytes>) -> Answer {
    Answer::read(send_request(request, body).await).await
}
