//! Asking for a chain of responses, from its end back to what is known.

use std::collections::HashSet;

use bytes::Bytes;

use super::around::lists_output_of;
use super::history::History;
use super::learning::Held;
use super::said::Said;
use crate::item::{Item, ItemId};
use crate::kept::{Cursor, KeptResponse, Listing, Segment, answers_to};

/// How many responses of a chain are asked for. What stands before them is not known, as if a client had
/// never sent it.
const LONGEST: usize = 256;

/// The bytes of what is asked for of a chain, but for the answer with which it gets longer.
const MAX_BYTES: usize = 256 << 20;

/// A chain as far back as it was asked for.
///
/// ```text
///   Response(id) ── it is there ──> Input(id) ── the last page ──> Response(previous)
///        │                                            │
///        │                                            ├── made in one ──> Conversation ──> through
///        '── it is gone: what is before it is ────────┴── nothing before it, or it is known ──> through
///            not known
/// ```
#[derive(Debug)]
pub(super) struct Walk {
    /// The newest first.
    links: Vec<Link>,
    /// What stands before them: what a conversation held when the first of them was made in it.
    before: Vec<Item>,
    /// Whether what images show is asked for.
    has_images: bool,
    /// Whether the server lists the input of responses.
    lists_input: bool,
    /// How much was answered.
    bytes: usize,
    asked: Asked,
}

/// One response, and its input.
#[derive(Debug)]
struct Link {
    response: KeptResponse,
    input: Vec<Item>,
}

/// What is being asked.
#[derive(Debug)]
enum Asked {
    Response(String),
    Input { id: String, response: KeptResponse, listing: Box<Listing> },
    Conversation { id: String, listing: Box<Listing> },
}

/// What came of an answer.
pub(super) enum Walked {
    /// More is to be asked.
    On(Box<Walk>),
    /// All is known.
    Through(Held),
    /// There is no such response.
    NoSuch,
    /// The server does not tell.
    Untold,
}

impl Walk {
    /// Asks for the chain that ends here; `None` for what can be nobody's id.
    /// `has_images`: whether what images show is to be told.
    pub(super) fn from(id: &str, has_images: bool) -> Option<Self> {
        Segment::of(id)?;
        let asked = Asked::Response(id.to_owned());
        let (links, before) = (Vec::new(), Vec::new());
        Some(Self { links, before, has_images, lists_input: true, bytes: 0, asked })
    }

    /// What to ask next.
    pub(super) fn path(&self) -> String {
        let segment = |id| Segment::of(id).expect("it was checked");
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

    /// What the server says. `known`: what is known of a response.
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
            200 => KeptResponse::read(body.clone()).ok(),
            404 if is_first && Said::in_body(body).tells_of_no("response", &id) => {
                return Walked::NoSuch;
            }
            _ => None,
        };
        match kept {
            None if is_first => Walked::Untold,
            // What is before is lost, or listed with what came behind it.
            None => self.through(History::default()),
            Some(response) if self.has_all_of(&response) => self.through(History::default()),
            Some(response) if self.lists_input => {
                let listing = Listing::by(Cursor::LastOfData).with_images(self.has_images);
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
        response: KeptResponse,
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

    /// A response and its input are known: on to the one before it.
    fn link(
        mut self,
        response: KeptResponse,
        input: Vec<Item>,
        known: impl Fn(&str) -> Option<History>,
    ) -> Walked {
        let is_long = self.links.len() + 1 >= LONGEST || self.bytes > MAX_BYTES;
        let id =
            |id: &Option<String>| id.clone().filter(|id| !is_long && Segment::of(id).is_some());
        let (previous, conversation) = (id(&response.previous), id(&response.conversation));
        self.links.push(Link { response, input });
        self.asked = match (previous, conversation) {
            (Some(previous), _) => match known(&previous) {
                Some(history) => return self.through(history),
                None => Asked::Response(previous),
            },
            (None, Some(id)) => {
                let listing = Listing::by(Cursor::LastId).with_images(self.has_images);
                Asked::Conversation { id, listing: Box::new(listing) }
            }
            (None, None) => return self.through(History::default()),
        };
        Walked::On(Box::new(self))
    }

    /// What the conversation holds before the first of what the response stands for. Where that is told by
    /// nothing, it is not known, as if a client had never sent it.
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

    /// Whether the input of the response behind this one lists this one's output too: then it lists all
    /// that came before.
    fn has_all_of(&self, response: &KeptResponse) -> bool {
        self.links.last().is_some_and(|last| lists_output_of(&last.input, response))
    }

    /// All of the chain, behind what was known of it.
    fn through(self, behind: History) -> Walked {
        let Self { links, before: mut items, lists_input, .. } = self;
        let is_underway = links.first().is_some_and(|link| link.response.is_underway());
        let last_made = last_made(&behind);
        for (back, link) in links.iter().enumerate().rev() {
            items.extend_from_slice(behind_item(last_made.as_ref(), &link.input));
            items.extend_from_slice(&link.response.output);
            if back > 0 && !lists_input {
                items.extend(answers_to(&link.response.output));
            }
        }
        Walked::Through(Held { behind, items, is_underway })
    }
}

fn id_of(item: &Item) -> Option<&ItemId> {
    item.head().id.as_ref()
}

/// The last item of the model's. Users' words have no ids of the server's where they were sent.
fn last_made(history: &History) -> Option<ItemId> {
    let transcript = history.transcript();
    let last = transcript.items().iter().rev().find(|item| item.head.is_model_made());
    last.and_then(|item| item.head.id.clone())
}

/// What of an input is its own, where its server lists what came before it too.
fn behind_item<'a>(last_made: Option<&ItemId>, input: &'a [Item]) -> &'a [Item] {
    let is_it = |item: &Item| last_made.is_some() && id_of(item) == last_made;
    &input[input.iter().rposition(is_it).map_or(0, |at| at + 1)..]
}
