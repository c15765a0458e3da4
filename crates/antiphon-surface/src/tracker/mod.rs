//! The tracker of state that a server owns, over JSON texts.

mod error;
mod options;
mod plan;
mod unresolved;

use antiphon::tracker::{self as engine, Attempt, Occurrence, ResponseId, Returned};
use bytes::Bytes;
use serde::Deserialize;
use serde_json::value::RawValue;

pub use error::TrackerError;
pub use plan::{LeftOut, Plan, Planned};
pub use unresolved::{Standing, Unanswered, Unresolved};

use crate::Unreadable;
use crate::unreadable::items_of;
use options::Options;

/// What one run has sent to the owner of its conversation's state, and what it still has to send.
///
/// Items are named by the numbers that [`add`](Self::add) gave them, requests by the numbers that
/// [`send`](Self::send) gave them; both stay when a tracker is restored.
#[derive(Clone, Debug)]
pub struct Tracker {
    tracker: engine::Tracker,
}

/// An item that a filter returned.
#[derive(Deserialize)]
struct Filtered<'a> {
    #[serde(default)]
    occurrence: Option<u64>,
    #[serde(borrow)]
    item: &'a RawValue,
}

/// What of a response a tracker learns from.
#[derive(Deserialize)]
struct Response<'a> {
    #[serde(default)]
    id: Option<String>,
    #[serde(borrow, default)]
    output: Option<&'a RawValue>,
}

impl Tracker {
    /// A tracker of a run that has sent nothing yet. `options` is a JSON object: `conversation` or
    /// `previous_response_id` (an id each) or `auto_previous_response_id` (`true`: the responses of
    /// the run are chained); `session` (`true`: the client keeps the history itself, which excludes
    /// the other three); `reasoning_ids` (`keep` or `omit`).
    pub fn new(options: &str) -> Result<Self, TrackerError> {
        let options = Options::parse(options)?;
        let reasoning_ids = options.reasoning_ids;
        let tracker = engine::Tracker::new(options.continuation()?, reasoning_ids);
        Ok(Self { tracker })
    }

    /// Adds the items of an array: initial input, input that was staged, outputs of tools. The
    /// occurrence of each.
    pub fn add(&mut self, items: &Bytes) -> Result<Vec<u64>, TrackerError> {
        let items = items_of("items", items)?;
        let add = |item| Ok(self.tracker.add(item)?.number());
        items.into_iter().map(add).collect()
    }

    /// What the next request contains, and of everything else why not.
    pub fn plan(&self) -> Plan {
        Plan::of(self.tracker.plan())
    }

    /// Marks what goes, right before it goes. The attempt.
    pub fn send(&mut self, occurrences: &[u64]) -> Result<u64, TrackerError> {
        let occurrences: Vec<_> = occurrences.iter().copied().map(Occurrence::from).collect();
        Ok(self.tracker.send(&occurrences)?.number())
    }

    /// Marks what a filter made of the plan, right before it goes: an array of objects with `item`,
    /// and `occurrence` where the filter says which planned item it is. The attempt.
    pub fn send_filtered(&mut self, returned: &Bytes) -> Result<u64, TrackerError> {
        let returned = filtered(returned)?;
        let plan = self.tracker.plan();
        Ok(self.tracker.send_filtered(&plan, returned)?.number())
    }

    /// A response came: a JSON object with its `id` and `output`. The server has what the request
    /// contained, and the output.
    pub fn accept(&mut self, attempt: u64, response: &Bytes) -> Result<(), TrackerError> {
        let not_a_response = |error: serde_json::Error| TrackerError::Response(error.to_string());
        let response: Response<'_> = serde_json::from_slice(response).map_err(not_a_response)?;
        let output = response.output.map_or("[]", RawValue::get);
        let output = items_of("output", &Bytes::copy_from_slice(output.as_bytes()))?;
        let id = response.id.map(ResponseId::from);
        Ok(self.tracker.accept(Attempt::from(attempt), id.as_ref(), &output)?)
    }

    /// The request failed: what it contained is pending again. What was rewound.
    pub fn rewind(&mut self, attempt: u64) -> Result<Vec<u64>, TrackerError> {
        Ok(numbers(&self.tracker.rewind(Attempt::from(attempt))?))
    }

    /// Takes `held`, the server's own list, for all that it has. What of the requests in flight is
    /// certainly there, and so accepted.
    pub fn hydrate(&mut self, held: &Bytes) -> Result<Vec<u64>, TrackerError> {
        let held = items_of("held", held)?;
        Ok(numbers(&self.tracker.hydrate(&held)))
    }

    /// What the next request would fail on, or nobody can know.
    pub fn unresolved(&self) -> Unresolved {
        Unresolved::of(self.tracker.unresolved())
    }

    /// How far an occurrence has come; `None` where it is not of this tracker.
    pub fn standing(&self, occurrence: u64) -> Option<Standing> {
        self.tracker.standing(Occurrence::from(occurrence)).map(Standing::of)
    }

    /// How many calls of the model were accepted.
    pub fn turns(&self) -> u64 {
        self.tracker.turns()
    }

    /// What the next request carries as `conversation`.
    pub fn conversation(&self) -> Option<&str> {
        self.tracker.continuation().conversation_id().map(engine::ConversationId::as_str)
    }

    /// What the next request carries as `previous_response_id`.
    pub fn previous_response_id(&self) -> Option<&str> {
        self.tracker.continuation().previous_response_id().map(ResponseId::as_str)
    }

    /// Ends the run: nothing can be added any more.
    pub fn finish(&mut self) {
        self.tracker.finish();
    }

    /// Whether the run has ended.
    pub fn is_finished(&self) -> bool {
        self.tracker.is_finished()
    }

    /// The tracker as JSON, requests in flight included.
    pub fn to_json(&self) -> String {
        serde_json::to_string(&self.tracker).expect("a snapshot is texts and numbers")
    }

    /// A tracker from what [`to_json`](Self::to_json) gave.
    pub fn from_json(snapshot: &str) -> Result<Self, TrackerError> {
        let tracker = serde_json::from_str(snapshot);
        let tracker = tracker.map_err(|error| TrackerError::Snapshot(error.to_string()))?;
        Ok(Self { tracker })
    }
}

fn filtered(returned: &Bytes) -> Result<Vec<Returned>, TrackerError> {
    let unreadable = |reason| Unreadable { argument: "returned", reason };
    let given: Vec<Filtered<'_>> = serde_json::from_slice(returned)
        .map_err(|error| TrackerError::Returned(error.to_string()))?;
    let returned = |(position, filtered): (usize, &Filtered<'_>)| {
        let item = antiphon::Item::parse(Bytes::copy_from_slice(filtered.item.get().as_bytes()));
        let item = item.map_err(|error| antiphon::item::ListError::Item { position, error });
        let occurrence = filtered.occurrence.map(Occurrence::from);
        Ok(Returned { occurrence, item: item.map_err(unreadable)? })
    };
    given.iter().enumerate().map(returned).collect()
}

fn numbers(occurrences: &[Occurrence]) -> Vec<u64> {
    occurrences.iter().copied().map(Occurrence::number).collect()
}
