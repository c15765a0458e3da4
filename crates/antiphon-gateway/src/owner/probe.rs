//! Detects the capabilities of a server with requests.
//!
//! Each request is a cheap read of an object that cannot exist. A server that has the path names
//! the missing object in its error. A server without the path names the path, or nothing.

use antiphon::json::Object;
use bytes::Bytes;
use http::Method;
use tokio::time::Instant;

use crate::caller::Caller;
use crate::settings::Capabilities;
use crate::trace::SentBy;
use crate::upstream::HttpUpstream;

/// Ids in the providers' format. Ids are random, so no object has an id of zeros.
const CONVERSATION: &str = "conv_00000000000000000000000000000000000000000000000000";
const RESPONSE: &str = "resp_00000000000000000000000000000000000000000000000000";

/// The requests to one server, for one caller.
pub(super) struct Probes<'a> {
    http: &'a HttpUpstream,
    caller: &'a Caller,
    end: Instant,
}

impl<'a> Probes<'a> {
    /// Creates the probes. All answers must be complete at `end`.
    pub(super) fn new(http: &'a HttpUpstream, caller: &'a Caller, end: Instant) -> Self {
        Self { http, caller, end }
    }

    /// Detects the capabilities. `None` if an answer is inconclusive.
    ///
    /// The requests are sequential, because the upstream may be limited to one open answer.
    /// A server with conversations can also delete their items: this is part of the same API and is
    /// not probed.
    pub(super) async fn capabilities(&self) -> Option<Capabilities> {
        let conversations = format!("/conversations/{CONVERSATION}");
        let conversations = self.has_path(&conversations, ("conversation", CONVERSATION)).await?;
        let responses = format!("/responses/{RESPONSE}");
        let chains = self.has_path(&responses, ("response", RESPONSE)).await?;
        let input_items = format!("{responses}/input_items?limit=1");
        let input_items = chains && self.has_path(&input_items, ("response", RESPONSE)).await?;
        Some(Capabilities { conversations, chains, item_deletion: conversations, input_items })
    }

    /// Whether the server has this path, given the kind and the id of the object in it.
    async fn has_path(&self, path: &str, (noun, id): (&str, &str)) -> Option<bool> {
        let by = (self.caller, SentBy::first(&self.caller.trace));
        let answer = self.http.call((Method::GET, path), Bytes::new(), by, self.end).await;
        match answer {
            // Some servers return an empty list. Some return 200 for any path.
            Ok(body) => Some(is_object(&body, noun)),
            Err(error) if error.is_missing(noun, id) || error.rejects_id(id) => Some(true),
            Err(error) if error.has_no_such_path() => Some(false),
            Err(error) => {
                tracing::debug!(path, %error, "the answer to a probe is inconclusive");
                None
            }
        }
    }
}

/// Whether the body is the requested object, or a list.
fn is_object(body: &[u8], noun: &str) -> bool {
    let object = Object::parse(body).ok();
    let kind = object.as_ref().and_then(|object| object.string("object"));
    kind.is_some_and(|kind| kind == noun || kind == "list")
}
