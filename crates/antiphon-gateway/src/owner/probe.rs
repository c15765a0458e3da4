//! Questions to a server by whose answers it is known what it can do.
//!
//! They cost it nothing: each is for an object that cannot be there. A server that has the path names the
//! object that it does not have; one that has not names the path, or nothing.

use antiphon::json::Object;
use bytes::Bytes;
use http::Method;
use tokio::time::Instant;

use crate::caller::Caller;
use crate::settings::Capabilities;
use crate::upstream::HttpUpstream;

/// Ids of the providers' form. Such are random; nobody's is all zeros.
const CONVERSATION: &str = "conv_00000000000000000000000000000000000000000000000000";
const RESPONSE: &str = "resp_00000000000000000000000000000000000000000000000000";

/// The questions to one server, on behalf of one caller.
pub(super) struct Probes<'a> {
    http: &'a HttpUpstream,
    caller: &'a Caller,
    end: Instant,
}

impl<'a> Probes<'a> {
    /// Which have to be answered at `end`.
    pub(super) fn of(http: &'a HttpUpstream, caller: &'a Caller, end: Instant) -> Self {
        Self { http, caller, end }
    }

    /// What the server can do; `None` where an answer leaves that open.
    ///
    /// One after the other: all answers of an upstream may share one connection. Where there are
    /// conversations, their items can be deleted: that is part of the same API, and not tried.
    pub(super) async fn capabilities(&self) -> Option<Capabilities> {
        let conversations = format!("/conversations/{CONVERSATION}");
        let conversations = self.has(&conversations, ("conversation", CONVERSATION)).await?;
        let responses = format!("/responses/{RESPONSE}");
        let chains = self.has(&responses, ("response", RESPONSE)).await?;
        let input_items = format!("{responses}/input_items?limit=1");
        let input_items = chains && self.has(&input_items, ("response", RESPONSE)).await?;
        Some(Capabilities { conversations, chains, item_deletion: conversations, input_items })
    }

    /// Whether the server has what is at this path, where an object of this kind would be under this id.
    async fn has(&self, path: &str, (noun, id): (&str, &str)) -> Option<bool> {
        let answer = self.http.call(Method::GET, path, Bytes::new(), self.caller, self.end).await;
        match answer {
            // Some list the nothing that they have. Some answer so wherever they are asked.
            Ok(body) => Some(is_object(&body, noun)),
            Err(error) if error.tells_of_no(noun, id) || error.tells_of_no_id(id) => Some(true),
            Err(error) if error.tells_of_no_such_path() => Some(false),
            Err(error) => {
                tracing::debug!(path, %error, "it says neither yes nor no");
                None
            }
        }
    }
}

/// Whether this is the object that was asked for, or a list.
fn is_object(body: &[u8], noun: &str) -> bool {
    let object = Object::parse(body).ok();
    let kind = object.as_ref().and_then(|object| object.string("object"));
    kind.is_some_and(|kind| kind == noun || kind == "list")
}
