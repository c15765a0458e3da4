//! What a caller can see of an answer, and what the store was asked for it.

use bytes::Bytes;
use http::{HeaderMap, StatusCode, header};
use http_body_util::BodyExt;

use super::attempts::Attempt;
use super::belongings::Ids;
use super::recording::Call;
use super::watched::Watched;
use crate::support::{Client, soon};

/// An answer without its date, the id of its request and the ids that it is about.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Observed {
    pub(super) status: StatusCode,
    headers: HeaderMap,
    body: String,
    pub(super) calls: Vec<Call>,
}

impl Observed {
    /// What `client` sees of its attempt; `about` is how the ids may be spelt.
    pub(super) async fn observe(
        world: &Watched,
        client: &Client,
        attempt: &Attempt,
        about: &[Ids; 2],
    ) -> Self {
        world.calls();
        let (status, mut headers, body) = answer(client, attempt).await;
        headers.remove(header::DATE);
        let body = String::from_utf8(body.into()).expect("answers are text");
        let id = headers.remove("x-request-id").expect("every answer has the id of its request");
        // Answers to Anthropic's clients name it twice more.
        headers.remove("request-id");
        let body = body.replace(id.to_str().expect("an id is text"), "REQUEST");
        let body = about.iter().flat_map(Ids::all).fold(body, |body, id| body.replace(id, "ID"));
        Self { status, headers, body, calls: world.calls() }
    }
}

/// What comes back, to the byte.
pub(super) async fn answer(client: &Client, attempt: &Attempt) -> (StatusCode, HeaderMap, Bytes) {
    let client = match &attempt.header {
        Some((name, value)) => client.clone().with_header(name, value),
        None => client.clone(),
    };
    let body = attempt.body.as_ref().map(ToString::to_string).unwrap_or_default();
    let response = client.send(attempt.method.clone(), &attempt.path, body).await;
    let (head, body) = response.into_parts();
    let body = soon("the answer ends", body.collect()).await.expect("the answer is whole");
    (head.status, head.headers, body.to_bytes())
}
