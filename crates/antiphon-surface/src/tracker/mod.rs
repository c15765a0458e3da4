//! The tracker of server state, over JSON texts.

mod error;
mod plan;
mod unresolved;

use antiphon::tracker::{
    self as engine, Attempt, Continuation, ContinuationOptions, Occurrence, ReasoningIds,
    ResponseId, Returned,
};
use bytes::Bytes;
use serde::Deserialize;
use serde_json::value::RawValue;

pub use error::TrackerError;
pub use plan::{ExcludedItem, Plan, Planned};
pub use unresolved::{OccurrenceState, UnansweredCall, Unresolved};

use crate::{InvalidArgument, parse_items};

/// The items that one run has sent to the owner of its conversation's state, and those that it
/// still has to send.
///
/// [`add`](Self::add) numbers the items and [`send`](Self::send) numbers the requests. Restoring a
/// tracker keeps these numbers.
#[derive(Clone, Debug)]
pub struct Tracker {
    tracker: engine::Tracker,
}

/// The options of a tracker.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Options {
    #[serde(default)]
    conversation: Option<String>,
    #[serde(default)]
    previous_response_id: Option<String>,
    #[serde(default)]
    auto_previous_response_id: bool,
    #[serde(default)]
    reasoning_ids: ReasoningIds,
}

impl Options {
    fn parse(options: &str) -> Result<Self, TrackerError> {
        serde_json::from_str(options).map_err(|error| TrackerError::Options(error.to_string()))
    }

    fn continuation(self) -> Result<Continuation, TrackerError> {
        let options = ContinuationOptions {
            conversation_id: self.conversation.map(Into::into),
            previous_response_id: self.previous_response_id.map(Into::into),
            auto_previous_response_id: self.auto_previous_response_id,
            session: false,
        };
        options.choose()?.ok_or(TrackerError::NoServerState)
    }
}

/// An item that a filter returned.
#[derive(Deserialize)]
struct Filtered<'a> {
    #[serde(default)]
    occurrence: Option<u64>,
    #[serde(borrow)]
    item: &'a RawValue,
}

/// The fields of a response that a tracker uses.
#[derive(Deserialize)]
struct Response<'a> {
    #[serde(default)]
    id: Option<String>,
    #[serde(borrow, default)]
    output: Option<&'a RawValue>,
    #[serde(borrow, default)]
    status: Option<&'a RawValue>,
    #[serde(borrow, default)]
    error: Option<&'a RawValue>,
}

impl<'a> Response<'a> {
    fn parse(response: &'a Bytes) -> Result<Self, TrackerError> {
        let not_a_response = |error: serde_json::Error| TrackerError::Response(error.to_string());
        let response: Self = serde_json::from_slice(response).map_err(not_a_response)?;
        if response.is_failed() {
            return Err(TrackerError::FailedResponse);
        }
        match (&response.id, response.output) {
            (None, None) => Err(TrackerError::Response("has neither id nor output".into())),
            _ => Ok(response),
        }
    }

    fn is_failed(&self) -> bool {
        self.error.is_some() || self.status.is_some_and(|status| status.get() == r#""failed""#)
    }
}

impl Tracker {
    /// A tracker for a new run. `options` is a JSON object with these fields: `conversation` or
    /// `previous_response_id` (an id each) or `auto_previous_response_id` (`true`: the run chains
    /// its responses); `reasoning_ids` (`keep` or `omit`). A client that stores the history itself
    /// needs no tracker.
    pub fn new(options: &str) -> Result<Self, TrackerError> {
        let options = Options::parse(options)?;
        let reasoning_ids = options.reasoning_ids;
        let tracker = engine::Tracker::new(options.continuation()?, reasoning_ids);
        Ok(Self { tracker })
    }

    /// Adds the items of an array: initial input, staged input, tool outputs. Returns the
    /// occurrence of each.
    pub fn add(&mut self, items: &Bytes) -> Result<Vec<u64>, TrackerError> {
        let items = parse_items("items", items)?;
        let add = |item| Ok(self.tracker.add(item)?.number());
        items.into_iter().map(add).collect()
    }

    /// The items of the next request, and the reason for every other item.
    pub fn plan(&self) -> Plan {
        Plan::from_engine(self.tracker.plan())
    }

    /// Marks items as sent, right before the request. Returns the attempt.
    pub fn send(&mut self, occurrences: &[u64]) -> Result<u64, TrackerError> {
        let occurrences: Vec<_> = occurrences.iter().copied().map(Occurrence::from).collect();
        Ok(self.tracker.send(&occurrences)?.number())
    }

    /// Marks the filtered plan as sent, right before the request: an array of objects with `item`,
    /// and with `occurrence` if the filter knows the planned item. Returns the attempt.
    pub fn send_filtered(&mut self, returned: &Bytes) -> Result<u64, TrackerError> {
        let returned = parse_filtered(returned)?;
        let plan = self.tracker.plan();
        Ok(self.tracker.send_filtered(&plan, returned)?.number())
    }

    /// Records a response, a JSON object with its `id` and `output`. The server now stores the
    /// items of the request and the output. A failed response changes nothing: the server stores
    /// neither, and the caller calls [`rewind`](Self::rewind).
    pub fn accept(&mut self, attempt: u64, response: &Bytes) -> Result<(), TrackerError> {
        let response = Response::parse(response)?;
        let output = response.output.map_or("[]", RawValue::get);
        let output = parse_items("output", &Bytes::copy_from_slice(output.as_bytes()))?;
        let id = response.id.map(ResponseId::from);
        Ok(self.tracker.accept(Attempt::from(attempt), id.as_ref(), &output)?)
    }

    /// Records a failed request. Its items are pending again; returns them.
    pub fn rewind(&mut self, attempt: u64) -> Result<Vec<u64>, TrackerError> {
        Ok(numbers(&self.tracker.rewind(Attempt::from(attempt))?))
    }

    /// Replaces the known server state by `held`, the server's own list. Returns the items of
    /// requests in flight that are certainly stored and therefore accepted.
    pub fn hydrate(&mut self, held: &Bytes) -> Result<Vec<u64>, TrackerError> {
        let held = parse_items("held", held)?;
        Ok(numbers(&self.tracker.hydrate(&held)))
    }

    /// The items that would make the next request fail, and the unknown outcomes.
    pub fn unresolved(&self) -> Unresolved {
        Unresolved::from_engine(self.tracker.unresolved())
    }

    /// The state of an occurrence; `None` if it is not from this tracker.
    pub fn standing(&self, occurrence: u64) -> Option<OccurrenceState> {
        self.tracker.standing(Occurrence::from(occurrence)).map(OccurrenceState::from_engine)
    }

    /// The number of accepted calls of the model.
    pub fn turns(&self) -> u64 {
        self.tracker.turns()
    }

    /// The value of `conversation` in the next request.
    pub fn conversation(&self) -> Option<&str> {
        self.tracker.continuation().conversation_id().map(engine::ConversationId::as_str)
    }

    /// The value of `previous_response_id` in the next request.
    pub fn previous_response_id(&self) -> Option<&str> {
        self.tracker.continuation().previous_response_id().map(ResponseId::as_str)
    }

    /// Ends the run. Nothing can be added afterwards.
    pub fn finish(&mut self) {
        self.tracker.finish();
    }

    /// Whether the run has ended.
    pub fn is_finished(&self) -> bool {
        self.tracker.is_finished()
    }

    /// The tracker as JSON, including requests in flight.
    pub fn to_json(&self) -> String {
        serde_json::to_string(&self.tracker).expect("a snapshot is texts and numbers")
    }

    /// Restores a tracker from the result of [`to_json`](Self::to_json).
    pub fn from_json(snapshot: &str) -> Result<Self, TrackerError> {
        let tracker = serde_json::from_str(snapshot);
        let tracker = tracker.map_err(|error| TrackerError::Snapshot(error.to_string()))?;
        Ok(Self { tracker })
    }
}

fn parse_filtered(returned: &Bytes) -> Result<Vec<Returned>, TrackerError> {
    let unreadable = |reason| InvalidArgument { argument: "returned", reason };
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
