//! Reads a conversation, or a chain of responses from its end back to a known response.

use std::collections::HashSet;

use bytes::Bytes;

use super::{
    Cursor, Listing, Segment, ServerError, StoredResponse, UnexpectedAnswer, implied_outputs,
};
use crate::item::{Item, ItemId};

/// The maximum number of requested responses of a chain. The items before them are unknown, as if a
/// client had never sent them.
const MAX_RESPONSES: usize = 256;

/// The limit on the received bytes of a chain. The answer that exceeds it is still used.
const MAX_BYTES: usize = 256 << 20;

/// The part of a chain that has been received. It sends no requests: its owner does so, and passes
/// on the answers.
///
/// ```text
///   Conversation ──> Done
///   Response(id) ── found ──> Input(id) ── the last page ──> Response(previous), if it is unknown
///        │                                        │
///        │                                        ├── in a conversation ──> Conversation ──> Done
///        '── gone: earlier items are unknown ─────┴── nothing before it ──> Done
/// ```
#[derive(Debug)]
pub struct ChainWalk {
    chain: Chain,
    options: ChainOptions,
    /// The number of received bytes.
    bytes: usize,
    request: Request,
}

/// The requests of a [`ChainWalk`].
#[derive(Clone, Copy, Debug)]
pub struct ChainOptions {
    /// Whether lists include the URLs of images.
    pub shows_images: bool,
    /// Whether the items of a conversation before its first response of the chain are read.
    pub reads_conversation: bool,
}

/// The received part of a chain.
#[derive(Debug)]
pub struct Chain {
    /// The newest first.
    links: Vec<Link>,
    /// The items before them: those of the conversation before its first response of the chain.
    before: Vec<Item>,
    lists_input: bool,
}

/// One response, and its input.
#[derive(Debug)]
struct Link {
    response: StoredResponse,
    input: Vec<Item>,
}

/// The current request.
#[derive(Debug)]
enum Request {
    Response(String),
    Input { id: String, response: StoredResponse, listing: Box<Listing> },
    Conversation { id: String, listing: Box<Listing> },
}

/// The result of an answer.
#[derive(Debug)]
pub enum ChainStep {
    /// The next request is necessary.
    Request(Box<ChainWalk>),
    /// The response with this id comes before the received ones. If it is known, the walk ends with
    /// [`ChainWalk::finish`]; otherwise it continues.
    Previous(Box<ChainWalk>, String),
    /// The items before the received ones do not exist, or cannot be received.
    Done(Chain),
    /// The server has no such response or conversation.
    NotFound,
    /// The server does not list its items.
    NotListed(Option<UnexpectedAnswer>),
}

impl ChainWalk {
    /// Reads the chain that ends with this response. `None` if the id is invalid.
    pub fn new(id: &str, options: ChainOptions) -> Option<Self> {
        Segment::parse(id)?;
        let request = Request::Response(id.to_owned());
        let chain = Chain { links: Vec::new(), before: Vec::new(), lists_input: true };
        Some(Self { chain, options, bytes: 0, request })
    }

    /// Reads the items of a conversation. `None` if the id is invalid.
    pub fn conversation(id: &str, options: ChainOptions) -> Option<Self> {
        let walk = Self::new(id, options)?;
        let listing = Box::new(walk.listing(Cursor::LastId));
        Some(Self { request: Request::Conversation { id: id.to_owned(), listing }, ..walk })
    }

    /// Sets whether the server lists the input of responses, before the first response is taken.
    pub fn set_input_listed(&mut self, lists_input: bool) {
        self.chain.lists_input = lists_input;
    }

    /// The path of the next `GET`, below the base URL.
    pub fn path(&self) -> String {
        let segment = |id| Segment::parse(id).expect("it was checked");
        let query = |listing: &Listing| listing.query().expect("a complete list is not requested");
        match &self.request {
            Request::Response(id) => response_path(id),
            Request::Input { id, listing, .. } => {
                format!("/responses/{}/input_items?{}", segment(id), query(listing))
            }
            Request::Conversation { id, listing } => {
                format!("/conversations/{}/items?{}", segment(id), query(listing))
            }
        }
    }

    /// Takes the server's answer.
    pub fn take(mut self, status: u16, body: &Bytes) -> ChainStep {
        self.bytes += body.len();
        let next = Request::Response(String::new());
        match std::mem::replace(&mut self.request, next) {
            Request::Response(id) => self.take_response(id, status, body),
            Request::Input { id, response, mut listing } => {
                if status != 200 || listing.add(body).is_err() {
                    self.chain.lists_input = false;
                    return self.link(response, Vec::new());
                }
                match listing.query() {
                    Some(_) => self.request(Request::Input { id, response, listing }),
                    None => self.link(response, listing.into_items()),
                }
            }
            Request::Conversation { id, listing } => {
                self.take_conversation(id, listing, status, body)
            }
        }
    }

    /// Ends the walk.
    pub fn finish(self) -> Chain {
        self.chain
    }

    fn request(self, request: Request) -> ChainStep {
        ChainStep::Request(Box::new(Self { request, ..self }))
    }

    fn take_response(self, id: String, status: u16, body: &Bytes) -> ChainStep {
        let is_first = self.chain.links.is_empty();
        let response = (status == 200).then(|| StoredResponse::parse(body.clone())).transpose();
        match response {
            Err(error) if is_first => ChainStep::NotListed(Some(error)),
            Ok(None) if is_first => not_listed(status, body, ("response", &id)),
            // The items before are lost, or the next response lists them.
            Err(_) | Ok(None) => ChainStep::Done(self.chain),
            Ok(Some(response)) if self.chain.lists_output_of(&response) => {
                ChainStep::Done(self.chain)
            }
            Ok(Some(response)) if self.chain.lists_input => {
                let listing = Box::new(self.listing(Cursor::LastOfData));
                self.request(Request::Input { id, response, listing })
            }
            Ok(Some(response)) => self.link(response, Vec::new()),
        }
    }

    /// Adds a response and its input, and continues with the response before it.
    fn link(mut self, response: StoredResponse, input: Vec<Item>) -> ChainStep {
        let is_long = self.chain.links.len() + 1 >= MAX_RESPONSES || self.bytes > MAX_BYTES;
        let id =
            |id: &Option<String>| id.clone().filter(|id| !is_long && Segment::parse(id).is_some());
        let (previous, conversation) = (id(&response.previous), id(&response.conversation));
        self.chain.links.push(Link { response, input });
        match (previous, conversation.filter(|_| self.options.reads_conversation)) {
            (Some(previous), _) => {
                self.request = Request::Response(previous.clone());
                ChainStep::Previous(Box::new(self), previous)
            }
            (None, Some(id)) => {
                let listing = Box::new(self.listing(Cursor::LastId));
                self.request(Request::Conversation { id, listing })
            }
            (None, None) => ChainStep::Done(self.chain),
        }
    }

    /// Takes the items of the conversation before the first item of the chain. If none of the
    /// chain's items is in the conversation, these items are unknown, as if a client had never sent
    /// them.
    fn take_conversation(
        mut self,
        id: String,
        mut listing: Box<Listing>,
        status: u16,
        body: &Bytes,
    ) -> ChainStep {
        let is_start = self.chain.links.is_empty();
        match (status, is_start) {
            (200, _) => {
                if let Err(error) = listing.add(body) {
                    return match is_start {
                        true => ChainStep::NotListed(Some(error)),
                        false => ChainStep::Done(self.chain),
                    };
                }
            }
            (_, true) => return not_listed(status, body, ("conversation", &id)),
            (_, false) => return ChainStep::Done(self.chain),
        }
        if listing.query().is_some() {
            return self.request(Request::Conversation { id, listing });
        }
        if is_start {
            self.chain.before = listing.into_items();
            return ChainStep::Done(self.chain);
        }
        let own = self.chain.links.last().into_iter();
        let own = own.flat_map(|link| link.input.iter().chain(&link.response.output));
        let own: HashSet<ItemId> = own.filter_map(id_of).cloned().collect();
        let mut items = listing.into_items();
        let is_own = |item: &Item| id_of(item).is_some_and(|id| own.contains(id));
        items.truncate(items.iter().position(is_own).unwrap_or_default());
        self.chain.before = items;
        ChainStep::Done(self.chain)
    }

    fn listing(&self, cursor: Cursor) -> Listing {
        Listing::new(cursor).with_images(self.options.shows_images)
    }
}

impl Chain {
    /// The status of its last response.
    pub fn status(&self) -> &str {
        self.links.first().map_or("", |link| &link.response.status)
    }

    /// Whether its last response is still being produced.
    pub fn is_underway(&self) -> bool {
        self.links.first().is_some_and(|link| link.response.is_underway())
    }

    /// All items, the oldest first: those before the output of the last response, and that output.
    ///
    /// `known` is the last model item of the known items before the chain. Some servers list those
    /// items again; user messages are often known without the server's ids, so a model item marks
    /// the boundary.
    pub fn into_items(self, known: Option<&ItemId>) -> (Vec<Item>, Vec<Item>) {
        let Self { mut links, before: mut items, lists_input } = self;
        let last = (!links.is_empty()).then(|| links.remove(0));
        for Link { response, input } in links.into_iter().rev() {
            items.extend_from_slice(after(known, &input));
            items.extend_from_slice(&response.output);
            if !lists_input {
                items.extend(implied_outputs(&response.output));
            }
        }
        let Some(Link { response, input }) = last else { return (items, Vec::new()) };
        items.extend_from_slice(after(known, &input));
        (items, response.output)
    }

    /// Whether nothing comes before it.
    pub(super) fn is_whole(&self) -> bool {
        self.links.last().is_some_and(|link| link.response.previous.is_none())
    }

    /// The input and the output of its last response.
    pub(super) fn last_items(&self) -> Option<(&[Item], &[Item])> {
        self.links.first().map(|link| (&*link.input, &*link.response.output))
    }

    /// Whether the input of the response after this one also lists this one's output. Then it lists
    /// all earlier items.
    pub(super) fn lists_output_of(&self, response: &StoredResponse) -> bool {
        let Some(next) = self.links.last() else { return false };
        let listed: HashSet<&ItemId> = next.input.iter().filter_map(id_of).collect();
        let is_listed = |item: &Item| id_of(item).is_some_and(|id| listed.contains(id));
        !response.output.is_empty() && response.output.iter().all(is_listed)
    }
}

pub(super) fn response_path(id: &str) -> String {
    format!("/responses/{}", Segment::parse(id).expect("it was checked"))
}

pub(super) fn id_of(item: &Item) -> Option<&ItemId> {
    item.head().id.as_ref()
}

/// The result of an answer without items.
fn not_listed(status: u16, body: &Bytes, (noun, id): (&str, &str)) -> ChainStep {
    match status == 404 && ServerError::parse(body).is_missing(noun, id) {
        true => ChainStep::NotFound,
        false => ChainStep::NotListed(None),
    }
}

/// The items of a listed input after the known ones.
fn after<'a>(known: Option<&ItemId>, input: &'a [Item]) -> &'a [Item] {
    let is_known = |item: &Item| known.is_some() && id_of(item) == known;
    &input[input.iter().rposition(is_known).map_or(0, |at| at + 1)..]
}
