//! Counts the tokens of a request at an upstream.
//!
//! Sources: OpenAI's `POST /responses/input_tokens`, with the answer
//! `{"object":"response.input_tokens", "input_tokens":N}`. Anthropic's
//! `POST /messages/count_tokens`, with the answer `{"input_tokens":N}`: it takes the request's
//! fields about the input, but none about the output. Chat Completions has no equivalent.

use antiphon::dialect::UpstreamApi;
use antiphon::json::Object;
use bytes::Bytes;

use super::{RetrySession, Upstream, UpstreamError};
use crate::caller::Caller;

/// The fields that Anthropic counts. It rejects other fields.
const ANTHROPIC_FIELDS: [&str; 6] =
    ["model", "messages", "system", "tools", "tool_choice", "thinking"];

impl RetrySession<'_> {
    /// The tokens of the request with this body, in the upstream's own API. `None` if the upstream
    /// does not count tokens.
    pub(crate) async fn count_tokens(
        &mut self,
        body: Bytes,
        caller: &Caller,
    ) -> Result<Option<u64>, UpstreamError> {
        let Upstream::Http(http) = self.upstream() else { return Ok(None) };
        let (path, body) = match http.api() {
            UpstreamApi::Responses => ("/responses/input_tokens", body),
            UpstreamApi::Anthropic => ("/messages/count_tokens", anthropic_count_request(&body)),
            UpstreamApi::Chat => return Ok(None),
        };
        match self.post(http, path, body, caller).await {
            Ok(answer) => Ok(input_tokens(&answer)),
            Err(error) if error.has_no_such_path() => Ok(None),
            Err(error) => Err(error),
        }
    }
}

fn anthropic_count_request(body: &Bytes) -> Bytes {
    let request = Object::parse(body).expect("an encoder wrote it");
    let counted = ANTHROPIC_FIELDS.iter();
    let counted = counted.filter_map(|key| Some((*key, request.get(key)?)));
    counted.collect::<Object<'_>>().to_bytes()
}

/// Any other answer means that the server does not count tokens.
fn input_tokens(answer: &[u8]) -> Option<u64> {
    Object::parse(answer).ok()?.present("input_tokens")?.parse().ok()
}
