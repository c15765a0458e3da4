//! Asking an upstream how many tokens a request is.
//!
//! Source: OpenAI's `POST /responses/input_tokens`, answered with `{"object":"response.input_tokens",
//! "input_tokens":N}`; Anthropic's `POST /messages/count_tokens`, which takes the messages' fields and
//! none of the answer's, answered with `{"input_tokens":N}`. Chat Completions has nothing of the kind.

use antiphon::dialect::Dialect;
use antiphon::json::Object;
use bytes::Bytes;

use super::{Asking, Upstream, UpstreamError};
use crate::caller::Caller;

/// What Anthropic counts. It refuses other fields.
const ANTHROPIC_FIELDS: [&str; 6] =
    ["model", "messages", "system", "tools", "tool_choice", "thinking"];

impl Asking<'_> {
    /// How many tokens the request of this body is, in the upstream's own API; `None` where it does
    /// not count.
    pub(crate) async fn count_tokens(
        &mut self,
        body: Bytes,
        caller: &Caller,
    ) -> Result<Option<u64>, UpstreamError> {
        let Upstream::Http(http) = self.upstream() else { return Ok(None) };
        let (path, body) = match http.api() {
            Dialect::Responses => ("/responses/input_tokens", body),
            Dialect::Anthropic => ("/messages/count_tokens", of_anthropic(&body)),
            Dialect::Chat | Dialect::AiSdk => return Ok(None),
        };
        match self.post(http, path, body, caller).await {
            Ok(answer) => Ok(input_tokens(&answer)),
            Err(error) if error.tells_of_no_such_path() => Ok(None),
            Err(error) => Err(error),
        }
    }
}

fn of_anthropic(body: &Bytes) -> Bytes {
    let request = Object::parse(body).expect("an encoder wrote it");
    let counted = ANTHROPIC_FIELDS.iter();
    let counted = counted.filter_map(|key| Some((*key, request.get(key)?)));
    counted.collect::<Object<'_>>().to_bytes()
}

/// A server that answers with something else does not count.
fn input_tokens(answer: &[u8]) -> Option<u64> {
    Object::parse(answer).ok()?.present("input_tokens")?.parse().ok()
}
