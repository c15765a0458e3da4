//! The Conversations API.

use antiphon::Item;
use antiphon::item::parse_items;
use antiphon::json::Object;
use antiphon::provider_api::{Cursor, Listing, Segment};
use antiphon::tracker::ConversationId;
use bytes::Bytes;
use http::Method;

use super::unix_now;
use crate::{Client, Error, ErrorKind};

/// The number of items that the API accepts in one request.
const AT_ONCE: usize = 20;

/// The conversations of a server.
///
/// ```
/// use antiphon::item::parse_items;
/// use antiphon_client::Client;
/// use antiphon_mock::StrictProvider;
///
/// # tokio::runtime::Runtime::new()?.block_on(async {
/// let provider = StrictProvider::start().await;
/// let client = Client::new(provider.base_url()).with_key("sk-1");
/// let items = parse_items(&r#"[{"role":"user","content":"Hi"}]"#.into()).unwrap();
///
/// let id = client.conversations().create(&items).await.unwrap();
/// assert_eq!(client.conversations().items(&id).await.unwrap().len(), 1);
/// client.conversations().delete(&id).await.unwrap();
/// # });
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Conversations<'a> {
    client: &'a Client,
}

impl<'a> Conversations<'a> {
    pub(crate) fn new(client: &'a Client) -> Self {
        Self { client }
    }

    /// Creates a conversation with these items. More than 20 need several requests.
    ///
    /// # Errors
    /// If a later one of them fails, the conversation exists without the rest.
    pub async fn create(self, items: &[Item]) -> Result<ConversationId, Error> {
        let (first, rest) = items.split_at(items.len().min(AT_ONCE));
        let body = Some(items_body(first));
        let object = self.client.call_state(Method::POST, "/conversations", body).await?;
        let fields = Object::parse(&object).map_err(|error| invalid(&error.to_string()))?;
        let id = fields.string("id").ok_or_else(|| invalid("a conversation without an id"))?;
        let id = ConversationId::from(id);
        self.add_items(&id, rest).await?;
        Ok(id)
    }

    /// The conversation object.
    pub async fn retrieve(self, id: &ConversationId) -> Result<Bytes, Error> {
        self.client.call_state(Method::GET, &path(id)?, None).await
    }

    /// Deletes a conversation. Its items stay in the responses that have them.
    pub async fn delete(self, id: &ConversationId) -> Result<(), Error> {
        self.change(id, Method::DELETE, &path(id)?, None).await.map(drop)
    }

    /// All items, in order.
    pub async fn items(self, id: &ConversationId) -> Result<Vec<Item>, Error> {
        let path = format!("{}/items", path(id)?);
        list(self.client, &path, Cursor::LastId).await
    }

    /// Adds items at the end, and returns them with the server's ids.
    pub async fn add_items(self, id: &ConversationId, items: &[Item]) -> Result<Vec<Item>, Error> {
        let path = format!("{}/items", path(id)?);
        let mut added = Vec::with_capacity(items.len());
        for batch in items.chunks(AT_ONCE) {
            let page = self.change(id, Method::POST, &path, Some(items_body(batch))).await?;
            added.extend(page_items(&page)?);
        }
        Ok(added)
    }

    /// Deletes an item.
    pub async fn delete_item(self, id: &ConversationId, item_id: &str) -> Result<(), Error> {
        let path = format!("{}/items/{}", path(id)?, segment(item_id)?);
        self.change(id, Method::DELETE, &path, None).await.map(drop)
    }

    /// Posts outputs of tools, without a turn of the model. Items that answer no open call of the
    /// conversation are left out. Returns the number of posted items.
    pub async fn deliver(self, id: &ConversationId, outputs: &[Item]) -> Result<usize, Error> {
        let path = format!("{}/items", path(id)?);
        self.client.require_state("the delivery")?;
        let mut posted = 0;
        for batch in outputs.chunks(AT_ONCE) {
            let turn = self.client.state.deliver(self.client.account(), id.as_str(), &array(batch));
            let turn = turn.map_err(|error| ErrorKind::InvalidRequest(error.to_string()))?;
            if let Some((mut turn, answer)) = self.client.perform(turn, &path).await? {
                turn.start(false, unix_now());
                let (_, _, page) = answer.read().await?;
                turn.push(&page, unix_now());
                turn.finish(unix_now());
                posted += page_items(&page)?.len();
            }
        }
        Ok(posted)
    }

    /// Sends a request that changes a conversation. Its items are then unknown, also if the request
    /// fails.
    async fn change(
        self,
        id: &ConversationId,
        method: Method,
        path: &str,
        body: Option<Bytes>,
    ) -> Result<Bytes, Error> {
        let _stale = MarkStale::new(self.client, id.as_str());
        self.client.call_state(method, path, body).await
    }
}

/// Marks a conversation as changed when it is dropped, so that a cancelled request does it too.
pub(crate) struct MarkStale {
    client: Client,
    conversation: String,
}

impl MarkStale {
    pub(crate) fn new(client: &Client, conversation: &str) -> Self {
        Self { client: client.clone(), conversation: conversation.to_owned() }
    }
}

impl Drop for MarkStale {
    fn drop(&mut self) {
        self.client.state.mark_stale(self.client.account(), &self.conversation);
    }
}

/// All pages of a list.
pub(crate) async fn list(client: &Client, path: &str, cursor: Cursor) -> Result<Vec<Item>, Error> {
    let mut listing = Listing::new(cursor);
    while let Some(query) = listing.query() {
        let page = client.call_state(Method::GET, &format!("{path}?{query}"), None).await?;
        listing.add(&page).map_err(|error| invalid(&error.to_string()))?;
    }
    Ok(listing.into_items())
}

/// An id as a segment of a path.
pub(crate) fn segment(id: &str) -> Result<Segment<'_>, Error> {
    let invalid = || ErrorKind::InvalidRequest(format!("'{id}' cannot be an id")).into();
    Segment::parse(id).ok_or_else(invalid)
}

fn path(id: &ConversationId) -> Result<String, Error> {
    Ok(format!("/conversations/{}", segment(id.as_str())?))
}

fn array(items: &[Item]) -> Bytes {
    let items: Vec<&str> = items.iter().map(Item::text).collect();
    format!("[{}]", items.join(",")).into()
}

fn items_body(items: &[Item]) -> Bytes {
    format!(r#"{{"items":{}}}"#, String::from_utf8_lossy(&array(items))).into()
}

/// The items of an object with `data`.
fn page_items(page: &Bytes) -> Result<Vec<Item>, Error> {
    field_items(page, "data")
}

/// The items in an array of an object.
pub(crate) fn field_items(object: &Bytes, field: &str) -> Result<Vec<Item>, Error> {
    let fields = Object::parse(object).map_err(|error| invalid(&error.to_string()))?;
    let raw = fields.get(field).ok_or_else(|| invalid(&format!("an object without '{field}'")))?;
    parse_items(&object.slice_ref(raw.as_bytes())).map_err(|error| invalid(&error.to_string()))
}

pub(crate) fn invalid(reason: &str) -> Error {
    ErrorKind::UnexpectedAnswer(reason.to_owned()).into()
}
