//! Requests about state to the upstream that owns it.

use antiphon::Item;
use antiphon::json::Object;
use antiphon::provider_api::{
    ChainOptions, ChainStep, ChainWalk, Cursor, Listing, Segment, StoredResponse,
};
use bytes::Bytes;
use http::{Method, StatusCode};
use tokio::time::Instant;

use crate::caller::Caller;
use crate::entropy::from_now;
use crate::trace::SentBy;
use crate::upstream::{HttpUpstream, RetrySession, UpstreamError};

/// The maximum number of items in one request.
const MAX_ITEMS: usize = 20;

/// An upstream that owns state, and the caller on whose behalf it receives requests.
///
/// All answers have limits: the usual size in bytes, the number of pages, and one deadline for all
/// requests. A status other than 200 is an error, even if it means that nothing exists. Reads and
/// deletions are retried after temporary failures, as configured; creations are not.
pub(crate) struct Provider<'a> {
    http: &'a HttpUpstream,
    caller: &'a Caller,
    end: Instant,
}

impl<'a> Provider<'a> {
    /// Creates the client for this upstream and this caller.
    pub(crate) fn new(http: &'a HttpUpstream, caller: &'a Caller) -> Self {
        Self { http, caller, end: from_now(http.retry_settings().1) }
    }

    /// Reads all items of a conversation, the oldest first.
    pub(crate) async fn conversation_items(&self, id: &str) -> Result<Vec<Item>, UpstreamError> {
        let segment = Segment::parse(id).ok_or_else(|| unknown("Conversation", id))?;
        self.list(&format!("/conversations/{segment}/items"), Cursor::LastId).await
    }

    /// Reads the items of a response and of the chain before it, the oldest first.
    pub(crate) async fn chain_items(&self, id: &str) -> Result<Vec<Item>, UpstreamError> {
        let unknown = || unknown("Response", id);
        let options = ChainOptions { shows_images: true, reads_conversation: false };
        let mut walk = ChainWalk::new(id, options).map(Box::new).ok_or_else(unknown)?;
        walk.set_input_listed(self.http.capabilities(self.caller).await.input_items);
        loop {
            let (status, body) = self.get(&walk.path()).await?;
            walk = match walk.take(status.as_u16(), &body) {
                ChainStep::Request(walk) | ChainStep::Previous(walk, _) => walk,
                ChainStep::Done(chain) => {
                    let (input, output) = chain.into_items(None);
                    return Ok([input, output].concat());
                }
                ChainStep::NotListed(Some(error)) => return Err(error.into()),
                ChainStep::NotListed(None) | ChainStep::NotFound => return Err(unknown()),
            };
        }
    }

    /// Reads a response.
    pub(crate) async fn response(&self, id: &str) -> Result<StoredResponse, UpstreamError> {
        let segment = Segment::parse(id).ok_or_else(|| unknown("Response", id))?;
        let body = self.ask(Method::GET, &format!("/responses/{segment}")).await?;
        Ok(StoredResponse::parse(body)?)
    }

    /// Sends a `GET`. Returns the status and the body of an answer with status 200 or 404; any
    /// other answer is an error.
    pub(crate) async fn get(&self, path: &str) -> Result<(StatusCode, Bytes), UpstreamError> {
        match self.ask(Method::GET, path).await {
            Ok(body) => Ok((StatusCode::OK, body)),
            Err(UpstreamError::Rejected(rejection))
                if rejection.status == StatusCode::NOT_FOUND =>
            {
                Ok((rejection.status, rejection.body))
            }
            Err(error) => Err(error),
        }
    }

    /// Creates a conversation with these items, and returns its id. Deletes it again if some of the
    /// items cannot be added.
    pub(crate) async fn create_conversation(
        &self,
        metadata: &[u8],
        items: &[Bytes],
    ) -> Result<String, UpstreamError> {
        let (first, rest) = items.split_at(items.len().min(MAX_ITEMS));
        let mut fields = Object::default();
        fields.set("metadata", String::from_utf8_lossy(metadata).into_owned());
        fields.set("items", list_of(first));
        let created = self.post("/conversations", fields).await?;
        let id = id_of(&created)?;
        for items in rest.chunks(MAX_ITEMS) {
            if let Err(error) = self.add_items(&id, items).await {
                if let Err(error) = self.delete_conversation(&id).await {
                    tracing::error!(
                        %error, id,
                        "could not delete an incomplete conversation at an upstream; delete it \
                         there"
                    );
                }
                return Err(error);
            }
        }
        Ok(id)
    }

    async fn add_items(&self, conversation: &str, items: &[Bytes]) -> Result<(), UpstreamError> {
        let segment = Segment::parse(conversation);
        let segment = segment.ok_or_else(|| unknown("Conversation", conversation))?;
        let mut fields = Object::default();
        fields.set("items", list_of(items));
        self.post(&format!("/conversations/{segment}/items"), fields).await.map(drop)
    }

    /// Sends a request without retries, because a failed request may still have had an effect.
    async fn post(&self, path: &str, fields: Object<'_>) -> Result<Bytes, UpstreamError> {
        let by = (self.caller, SentBy::first(&self.caller.trace));
        self.http.call((Method::POST, path), fields.to_bytes(), by, self.end).await
    }

    /// Deletes a conversation.
    pub(crate) async fn delete_conversation(&self, id: &str) -> Result<(), UpstreamError> {
        let segment = Segment::parse(id).ok_or_else(|| unknown("Conversation", id))?;
        self.ask(Method::DELETE, &format!("/conversations/{segment}")).await.map(drop)
    }

    pub(super) async fn list(
        &self,
        path: &str,
        cursor: Cursor,
    ) -> Result<Vec<Item>, UpstreamError> {
        let mut listing = Listing::new(cursor);
        while let Some(query) = listing.query() {
            let page = self.ask(Method::GET, &format!("{path}?{query}")).await?;
            listing.add(&page)?;
        }
        Ok(listing.into_items())
    }

    /// Sends a request that reads or deletes an object.
    pub(crate) async fn ask(&self, method: Method, path: &str) -> Result<Bytes, UpstreamError> {
        RetrySession::request_state((self.http, self.caller), (method, path), self.end).await
    }
}

fn list_of(items: &[Bytes]) -> String {
    let items: Vec<_> = items.iter().map(|item| String::from_utf8_lossy(item)).collect();
    format!("[{}]", items.join(","))
}

fn id_of(conversation: &[u8]) -> Result<String, UpstreamError> {
    let fields = Object::parse(conversation).ok();
    let id = fields.as_ref().and_then(|fields| fields.string("id"));
    let id = id.filter(|id| !id.is_empty()).map(String::from);
    id.ok_or_else(|| UpstreamError::UnexpectedAnswer("a conversation without an id".to_owned()))
}

/// The error for a text that cannot be an id. It is never sent to a provider.
fn unknown(what: &str, id: &str) -> UpstreamError {
    UpstreamError::not_found(&format!("{what} with id '{id}' not found."))
}

#[cfg(test)]
mod tests;
