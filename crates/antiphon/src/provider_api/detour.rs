//! A detour around items of a response that make a server reject every turn after it.
//!
//! Items of a response cannot be deleted. Therefore the turn continues the response before it, and
//! refers to the other items by id: the input of the blocked response, and the valid items of its
//! output.

use std::collections::HashSet;

use bytes::Bytes;

use super::chain::{id_of, response_path};
use super::{Chain, ChainOptions, ChainStep, ChainWalk, StoredResponse};
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
    /// The blocking items.
    pub avoided: HashSet<ItemId>,
}

/// The search for a detour. It sends no requests: its owner does so, and passes on the answers.
///
/// ```text
///   Blocked ── the response and its input ──> Previous, if there is one ──> Done
///      └────────────────┴── any other answer ──> Done, without a detour
/// ```
#[derive(Debug)]
pub struct DetourSearch {
    blocking: HashSet<ItemId>,
    state: State,
}

/// The object that is being requested.
#[derive(Debug)]
enum State {
    /// The blocked response, and its input.
    Blocked(Box<ChainWalk>),
    /// The response before it.
    Previous { blocked: Chain, id: String },
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
        let options = ChainOptions { shows_images: false, reads_conversation: false };
        let walk = ChainWalk::new(id, options).filter(|_| !blocking.is_empty())?;
        Some(Self { blocking, state: State::Blocked(Box::new(walk)) })
    }

    /// The path of the next `GET`, below the base URL.
    pub fn path(&self) -> String {
        match &self.state {
            State::Blocked(walk) => walk.path(),
            State::Previous { id, .. } => response_path(id),
        }
    }

    /// Takes the server's answer.
    pub fn take(self, status: u16, body: &Bytes) -> DetourStep {
        let Self { blocking, state } = self;
        let next =
            |state| DetourStep::Request(Box::new(Self { blocking: blocking.clone(), state }));
        match state {
            State::Blocked(walk) => match walk.take(status, body) {
                ChainStep::Request(walk) => next(State::Blocked(walk)),
                ChainStep::Previous(walk, id) => {
                    next(State::Previous { blocked: walk.finish(), id })
                }
                ChainStep::Done(blocked) if blocked.is_whole() => {
                    DetourStep::Done(detour(&blocking, None, &blocked))
                }
                ChainStep::Done(_) | ChainStep::NotFound | ChainStep::NotListed(_) => {
                    DetourStep::Done(None)
                }
            },
            State::Previous { blocked, id } => {
                let previous = (status == 200).then(|| StoredResponse::parse(body.clone()));
                let previous = previous.and_then(Result::ok);
                let is_listed = previous.is_some_and(|previous| blocked.lists_output_of(&previous));
                DetourStep::Done(detour(&blocking, (!is_listed).then_some(id), &blocked))
            }
        }
    }
}

/// The detour that continues `previous`. `None` if an item to refer to has no id, or if the
/// blocking items are not of this response.
fn detour(blocking: &HashSet<ItemId>, previous: Option<String>, blocked: &Chain) -> Option<Detour> {
    let (input, output) = blocked.last_items()?;
    let ids: HashSet<&ItemId> = output.iter().filter_map(id_of).collect();
    if input.is_empty() || !blocking.iter().all(|id| ids.contains(id)) {
        return None;
    }
    let ids: Option<Vec<&ItemId>> = input.iter().chain(output).map(id_of).collect();
    let ids = ids?.into_iter().filter(|id| !blocking.contains(*id));
    let references = ids.map(reference_to).collect();
    Some(Detour { previous, references, avoided: blocking.clone() })
}

fn reference_to(id: &ItemId) -> Item {
    let raw = format!(r#"{{"type":"item_reference","id":{}}}"#, quote(id.as_str()));
    Item::parse(raw.into()).expect("the text above is an item")
}
