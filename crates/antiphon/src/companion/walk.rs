//! Asks for a chain of responses, from its end back to a known response.

use std::collections::HashSet;

use bytes::Bytes;

use super::around::lists_output_of;
use super::history::History;
use super::learning::Held;
use super::said::Said;
use crate::item::{Item, ItemId};
use crate::provider_api::{Cursor, Listing, Segment, StoredResponse, implied_outputs};

/// The maximum number of requested responses of a chain. The items before them are unknown, as if a
/// client had never sent them.
const LONGEST: usize = 256;

/// The limit on the received bytes of a chain. The answer that exceeds it is still used.
const MAX_BYTES: usize = 256 << 20;

/// The part of a chain that has been received.
///
/// ```text
///   Response(id) ── found ──> Input(id) ── the last page ──> Response(previous)
///        │                                        │
///        │                                        ├── in a conversation ──> Conversation ──> end
///        '── gone: earlier items are unknown ─────┴── known, or nothing before it ──> end
/// ```
#[derive(Debug)]
pub(super) struct Walk {
    /// The newest first.
    links: Vec<Link>,
    /// The items before them: those of the conversation before its first response of the chain.
    before: Vec<Item>,
    /// Whether image contents are requested.
    has_images: bool,
    /// Whether the server lists the input of responses.
    lists_input: bool,
    /// The number of received bytes.
    bytes: usize,
    asked: Asked,
}

/// One response, and its input.
#[derive(Debug)]
struct Link {
    response: StoredResponse,
    input: Vec<Item>,
}

/// The current question.
#[derive(Debug)]
enum Asked {
    Response(String),
    Input { id: String, response: StoredResponse, listing: Box<Listing> },
    Conversation { id: String, listing: Box<Listing> },
}

/// The result of an answer.
pub(super) enum Walked {
    /// More requests are needed.
    On(Box<Walk>),
    /// The walk is over: the items before the received ones are known, do not exist, or cannot be
    /// received.
    Through(Held),
    /// There is no such response.
    NoSuch,
    /// The server does not list its items.
    Untold,
}

impl Walk {
    /// Asks for the chain that ends with this response, including image contents if `has_images`.
    /// `None` if the id is invalid.
    pub(super) fn from(id: &str, has_images: bool) -> Option<Self> {
        Segment::parse(id)?;
        let asked = Asked::Response(id.to_owned());
        let (links, before) = (Vec::new(), Vec::new());
        Some(Self { links, before, has_images, lists_input: true, bytes: 0, asked })
    }

    /// The path of the next request.
    pub(super) fn path(&self) -> String {
        let segment = |id| Segment::parse(id).expect("it was checked");
        match &self.asked {
            Asked::Response(id) => format!("/responses/{}", segment(id)),
            Asked::Input { id, listing, .. } => {
                let query = listing.query().expect("a list that is whole is not asked for");
                format!("/responses/{}/input_items?{query}", segment(id))
            }
            Asked::Conversation { id, listing } => {
                let query = listing.query().expect("a list that is whole is not asked for");
                format!("/conversations/{}/items?{query}", segment(id))
            }
        }
    }

    /// Takes the server's answer. `known` returns the known history of a response.
    pub(super) fn answered(
        mut self,
        status: u16,
        body: &Bytes,
        known: impl Fn(&str) -> Option<History>,
    ) -> Walked {
        self.bytes += body.len();
        let asked = std::mem::replace(&mut self.asked, Asked::Response(String::new()));
        match asked {
            Asked::Response(id) => self.response(id, status, body, known),
            Asked::Input { id, response, listing } => {
                self.page(id, response, listing, (status, body), known)
            }
            Asked::Conversation { id, listing } => self.of_conversation(id, listing, status, body),
        }
    }

    fn response(
        mut self,
        id: String,
        status: u16,
        body: &Bytes,
        known: impl Fn(&str) -> Option<History>,
    ) -> Walked {
        let is_first = self.links.is_empty();
        let kept = match status {
            200 => StoredResponse::parse(body.clone()).ok(),
            404 if is_first && Said::in_body(body).tells_of_no("response", &id) => {
                return Walked::NoSuch;
            }
            _ => None,
        };
        match kept {
            None if is_first => Walked::Untold,
            // The items before are lost, or the next response lists them.
            None => self.through(History::default()),
            Some(response) if self.has_all_of(&response) => self.through(History::default()),
            Some(response) if self.lists_input => {
                let listing = Listing::new(Cursor::LastOfData).with_images(self.has_images);
                let listing = Box::new(listing);
                self.asked = Asked::Input { id, response, listing };
                Walked::On(Box::new(self))
            }
            Some(response) => self.link(response, Vec::new(), known),
        }
    }

    fn page(
        mut self,
        id: String,
        response: StoredResponse,
        mut listing: Box<Listing>,
        (status, body): (u16, &Bytes),
        known: impl Fn(&str) -> Option<History>,
    ) -> Walked {
        if status != 200 || listing.add(body).is_err() {
            self.lists_input = false;
            return self.link(response, Vec::new(), known);
        }
        if listing.query().is_some() {
            self.asked = Asked::Input { id, response, listing };
            return Walked::On(Box::new(self));
        }
        self.link(response, listing.into_items(), known)
    }

    /// Adds a response and its input, and continues with the response before it.
    fn link(
        mut self,
        response: StoredResponse,
        input: Vec<Item>,
        known: impl Fn(&str) -> Option<History>,
    ) -> Walked {
        let is_long = self.links.len() + 1 >= LONGEST || self.bytes > MAX_BYTES;
        let id =
            |id: &Option<String>| id.clone().filter(|id| !is_long && Segment::parse(id).is_some());
        let (previous, conversation) = (id(&response.previous), id(&response.conversation));
        self.links.push(Link { response, input });
        self.asked = match (previous, conversation) {
            (Some(previous), _) => match known(&previous) {
                Some(history) => return self.through(history),
                None => Asked::Response(previous),
            },
            (None, Some(id)) => {
                let listing = Listing::new(Cursor::LastId).with_images(self.has_images);
                Asked::Conversation { id, listing: Box::new(listing) }
            }
            (None, None) => return self.through(History::default()),
        };
        Walked::On(Box::new(self))
    }

    /// Takes the items of the conversation before the first item of the chain. If none of the
    /// chain's items is in the conversation, these items are unknown, as if a client had never sent
    /// them.
    fn of_conversation(
        mut self,
        id: String,
        mut listing: Box<Listing>,
        status: u16,
        body: &Bytes,
    ) -> Walked {
        if status != 200 || listing.add(body).is_err() {
            return self.through(History::default());
        }
        if listing.query().is_some() {
            self.asked = Asked::Conversation { id, listing };
            return Walked::On(Box::new(self));
        }
        let own = self.links.last().into_iter();
        let own = own.flat_map(|link| link.input.iter().chain(&link.response.output));
        let own: HashSet<ItemId> = own.filter_map(id_of).cloned().collect();
        let mut items = listing.into_items();
        let is_own = |item: &Item| id_of(item).is_some_and(|id| own.contains(id));
        items.truncate(items.iter().position(is_own).unwrap_or_default());
        self.before = items;
        self.through(History::default())
    }

    /// Whether the input of the response after this one also lists this one's output. Then it lists
    /// all earlier items.
    fn has_all_of(&self, response: &StoredResponse) -> bool {
        self.links.last().is_some_and(|last| lists_output_of(&last.input, response))
    }

    /// Ends the walk with the received part of the chain, after its known part `behind`.
    fn through(self, behind: History) -> Walked {
        let Self { links, before: mut items, lists_input, .. } = self;
        let is_underway = links.first().is_some_and(|link| link.response.is_underway());
        let last_made = last_made(&behind);
        for (back, link) in links.iter().enumerate().rev() {
            items.extend_from_slice(behind_item(last_made.as_ref(), &link.input));
            items.extend_from_slice(&link.response.output);
            if back > 0 && !lists_input {
                items.extend(implied_outputs(&link.response.output));
            }
        }
        Walked::Through(Held { behind, items, is_underway })
    }
}

fn id_of(item: &Item) -> Option<&ItemId> {
    item.head().id.as_ref()
}

/// The last item of the model. Messages of users are stored here without the server's ids.
fn last_made(history: &History) -> Option<ItemId> {
    let transcript = history.transcript();
    let last = transcript.items().iter().rev().find(|item| item.head.is_model_made());
    last.and_then(|item| item.head.id.clone())
}

/// The new items of a listed input, if its server also lists the items before them.
fn behind_item<'a>(last_made: Option<&ItemId>, input: &'a [Item]) -> &'a [Item] {
    let is_it = |item: &Item| last_made.is_some() && id_of(item) == last_made;
    &input[input.iter().rposition(is_it).map_or(0, |at| at + 1)..]
}
