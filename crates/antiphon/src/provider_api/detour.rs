//! A detour around items of a response that make a server reject every turn after it.
//!
//! Items of a response cannot be deleted. Therefore the turn continues the response before it, and
//! refers to the other items by id: the input of the blocked response, and the valid items of its
//! output.

use std::collections::HashSet;

use bytes::Bytes;

use super::{Cursor, Listing, Segment, StoredResponse};
use crate::item::{Item, ItemId};
use crate::json::quote;

/// The starting point of a turn in place of a blocked response.
#[derive(Clone, Debug, PartialEq)]
pub struct Detour {
    /// The response before the blocked one. `None` if there is none, or if the references list its
    /// items too.
    pub previous: Option<String>,
    /// References to the items after `previous`, without the blocking ones.
    pub references: Vec<Item>,
}

/// The search for a detour. It sends no requests: its owner does so, and passes on the answers.
///
/// ```text
///   Response ──> Input, page by page ──> Previous, if there is one ──> Done
///      └───────────────┴── any other answer ──> Done, without a detour
/// ```
#[derive(Debug)]
pub struct DetourSearch {
    id: String,
    blocking: HashSet<ItemId>,
    request: Request,
}

/// The current request.
#[derive(Debug)]
enum Request {
    Response,
    Input(StoredResponse, Listing),
    Previous { response: StoredResponse, input: Vec<Item>, id: String },
}

/// The result of an answer.
#[derive(Debug)]
pub enum DetourStep {
    /// The next request is necessary.
    Request(Box<DetourSearch>),
    /// The search is over. Without a detour, the turn continues the response itself.
    Done(Option<Detour>),
}

impl DetourSearch {
    /// Searches a detour around these items of the response; `None` if the id is invalid, or if no
    /// item blocks.
    pub fn new(id: &str, blocking: HashSet<ItemId>) -> Option<Self> {
        let is_possible = Segment::parse(id).is_some() && !blocking.is_empty();
        is_possible.then(|| Self { id: id.to_owned(), blocking, request: Request::Response })
    }

    /// The path of the next `GET`, below the base URL.
    pub fn path(&self) -> String {
        let segment = |id| Segment::parse(id).expect("it was checked");
        match &self.request {
            Request::Response => format!("/responses/{}", segment(&self.id)),
            Request::Input(_, listing) => {
                let query = listing.query().expect("a complete list is not requested");
                format!("/responses/{}/input_items?{query}", segment(&self.id))
            }
            Request::Previous { id, .. } => format!("/responses/{}", segment(id)),
        }
    }

    /// Takes the server's answer.
    pub fn take(mut self, status: u16, body: &Bytes) -> DetourStep {
        match std::mem::replace(&mut self.request, Request::Response) {
            Request::Response => match parse(status, body) {
                Some(response) => {
                    self.request(Request::Input(response, Listing::new(Cursor::LastOfData)))
                }
                None => DetourStep::Done(None),
            },
            Request::Input(response, mut listing) => {
                if status != 200 || listing.add(body).is_err() {
                    return DetourStep::Done(None);
                }
                if listing.query().is_some() {
                    return self.request(Request::Input(response, listing));
                }
                self.take_input(response, listing.into_items())
            }
            Request::Previous { response, input, id } => {
                let is_listed =
                    parse(status, body).is_some_and(|previous| lists_output_of(&input, &previous));
                DetourStep::Done(self.detour((!is_listed).then_some(id), &response, &input))
            }
        }
    }

    fn request(self, request: Request) -> DetourStep {
        DetourStep::Request(Box::new(Self { request, ..self }))
    }

    fn take_input(self, response: StoredResponse, input: Vec<Item>) -> DetourStep {
        match response.previous.clone() {
            Some(id) if Segment::parse(&id).is_some() => {
                self.request(Request::Previous { response, input, id })
            }
            Some(_) => DetourStep::Done(None),
            None => DetourStep::Done(self.detour(None, &response, &input)),
        }
    }

    /// `None` if an item to refer to has no id, or if the blocking items are not of this response.
    fn detour(
        &self,
        previous: Option<String>,
        response: &StoredResponse,
        input: &[Item],
    ) -> Option<Detour> {
        let output: HashSet<&ItemId> = response.output.iter().filter_map(id_of).collect();
        if input.is_empty() || !self.blocking.iter().all(|id| output.contains(id)) {
            return None;
        }
        let ids: Option<Vec<&ItemId>> = input.iter().chain(&response.output).map(id_of).collect();
        let ids = ids?.into_iter().filter(|id| !self.blocking.contains(*id));
        Some(Detour { previous, references: ids.map(reference_to).collect() })
    }
}

/// Whether a listed input also has the items before it in the chain.
pub(super) fn lists_output_of(input: &[Item], previous: &StoredResponse) -> bool {
    let listed: HashSet<&ItemId> = input.iter().filter_map(id_of).collect();
    let mut output = previous.output.iter();
    !previous.output.is_empty()
        && output.all(|item| id_of(item).is_some_and(|id| listed.contains(id)))
}

pub(super) fn id_of(item: &Item) -> Option<&ItemId> {
    item.head().id.as_ref()
}

fn parse(status: u16, body: &Bytes) -> Option<StoredResponse> {
    (status == 200).then(|| StoredResponse::parse(body.clone()).ok()).flatten()
}

fn reference_to(id: &ItemId) -> Item {
    let raw = format!(r#"{{"type":"item_reference","id":{}}}"#, quote(id.as_str()));
    Item::parse(raw.into()).expect("the text above is an item")
}
