//! Continues a response that has items which no request can repair.
//!
//! Items of a response cannot be deleted. Therefore the turn continues the response before it, and
//! refers to the items after that one: the input of the skipped response, and the valid items of
//! its output.

use std::collections::HashSet;

use bytes::Bytes;

use super::history::History;
use super::planning::Plan;
use super::{Method, Step};
use crate::item::{Item, ItemId};
use crate::json::quote;
use crate::provider_api::{Cursor, Listing, Segment, StoredResponse};

/// The search for the items around the blocking items of a response.
///
/// ```text
///   Response ──> Input, page by page ──> Previous, if there is one ──> over
///      └───────────────┴── any other answer: over, the turn is sent as planned
/// ```
#[derive(Debug)]
pub(super) struct Around {
    id: String,
    asked: Asked,
    /// The known items.
    pub(super) history: History,
    /// The plan for continuing the response itself.
    pub(super) plan: Plan,
}

/// The current question.
#[derive(Debug)]
enum Asked {
    Response,
    Input(StoredResponse, Listing),
    Previous { own: StoredResponse, input: Vec<Item>, id: String },
}

/// The starting point of a turn in place of a response.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Footing {
    /// The response before the skipped one, if there is one and its items are not among the
    /// references.
    pub(super) previous: Option<String>,
    /// References to the items after `previous`, without the blocking ones.
    pub(super) references: Vec<Item>,
}

/// The result of an answer.
pub(super) enum Found {
    /// More requests are needed.
    NotYet(Box<Around>),
    /// The search is over. Without a footing, the blocking items cannot be skipped.
    Over(Box<Around>, Option<Footing>),
}

impl Around {
    /// Whether this plan has blocking items that can be skipped.
    pub(super) fn is_possible(id: &str, plan: &Plan) -> bool {
        Segment::parse(id).is_some() && plan.stuck.has_unmendable()
    }

    /// Starts the search for the blocking items of this plan, in the response that it continues.
    pub(super) fn of(id: &str, history: History, plan: Plan) -> Self {
        Self { id: id.to_owned(), asked: Asked::Response, history, plan }
    }

    /// The next request.
    pub(super) fn step(&self) -> Step {
        let segment = |id| Segment::parse(id).expect("it was checked");
        let path = match &self.asked {
            Asked::Response => format!("/responses/{}", segment(&self.id)),
            Asked::Input(_, listing) => {
                let query = listing.query().expect("a list that is whole is not asked for");
                format!("/responses/{}/input_items?{query}", segment(&self.id))
            }
            Asked::Previous { id, .. } => format!("/responses/{}", segment(id)),
        };
        Step::Ask { method: Method::Get, path, body: None }
    }

    /// Takes the server's answer.
    pub(super) fn answered(mut self, status: u16, body: &Bytes) -> Found {
        match std::mem::replace(&mut self.asked, Asked::Response) {
            Asked::Response => match read(status, body) {
                Some(response) => {
                    let listing = Listing::new(Cursor::LastOfData);
                    self.on(Asked::Input(response, listing))
                }
                None => Found::Over(Box::new(self), None),
            },
            Asked::Input(own, mut listing) => {
                if status != 200 || listing.add(body).is_err() {
                    return Found::Over(Box::new(self), None);
                }
                if listing.query().is_some() {
                    return self.on(Asked::Input(own, listing));
                }
                self.listed(own, listing.into_items())
            }
            Asked::Previous { own, input, id } => {
                let listed = read(status, body).is_some_and(|it| lists_output_of(&input, &it));
                let footing = self.footing((!listed).then_some(id), &own, &input);
                Found::Over(Box::new(self), footing)
            }
        }
    }

    fn on(self, asked: Asked) -> Found {
        Found::NotYet(Box::new(Self { asked, ..self }))
    }

    fn listed(self, own: StoredResponse, input: Vec<Item>) -> Found {
        match own.previous.clone() {
            Some(id) if Segment::parse(&id).is_some() => {
                self.on(Asked::Previous { own, input, id })
            }
            Some(_) => Found::Over(Box::new(self), None),
            None => {
                let footing = self.footing(None, &own, &input);
                Found::Over(Box::new(self), footing)
            }
        }
    }

    /// `None` if an item to refer to has no id.
    fn footing(
        &self,
        previous: Option<String>,
        own: &StoredResponse,
        input: &[Item],
    ) -> Option<Footing> {
        let stuck = self.plan.stuck.unmendable_ids();
        let made: HashSet<&ItemId> = own.output.iter().filter_map(id_of).collect();
        if input.is_empty() || !stuck.iter().all(|id| made.contains(id)) {
            return None;
        }
        let items = input.iter().chain(&own.output);
        let ids: Option<Vec<&ItemId>> = items.map(id_of).collect();
        let ids = ids?.into_iter().filter(|id| !stuck.contains(*id));
        Some(Footing { previous, references: ids.map(reference_to).collect() })
    }
}

fn read(status: u16, body: &Bytes) -> Option<StoredResponse> {
    (status == 200).then(|| StoredResponse::parse(body.clone()).ok()).flatten()
}

fn id_of(item: &Item) -> Option<&ItemId> {
    item.head().id.as_ref()
}

fn reference_to(id: &ItemId) -> Item {
    let raw = format!(r#"{{"type":"item_reference","id":{}}}"#, quote(id.as_str()));
    Item::parse(raw.into()).expect("the text above is an item")
}

/// Whether a listed input also has the items before it in the chain.
pub(super) fn lists_output_of(input: &[Item], previous: &StoredResponse) -> bool {
    let listed: HashSet<&ItemId> = input.iter().filter_map(id_of).collect();
    let mut output = previous.output.iter();
    !previous.output.is_empty()
        && output.all(|item| id_of(item).is_some_and(|id| listed.contains(id)))
}
