//! The tracker for Node.

use antiphon_surface::{self as surface, TrackerError};
use napi_derive::napi;

use crate::text::{Error, Text, bytes_of, error, json_of};

/// Tracks the items that one run has sent, and those that it has yet to send.
#[napi]
pub struct Tracker(surface::Tracker);

#[napi]
impl Tracker {
    /// Creates a tracker for a new run.
    #[napi(constructor)]
    pub fn new(options: String) -> Result<Self, Error> {
        surface::Tracker::new(&options).map(Self).map_err(tracker_error)
    }

    /// Restores a tracker from a snapshot.
    #[napi(factory)]
    pub fn from_snapshot(snapshot: String) -> Result<Self, Error> {
        surface::Tracker::from_json(&snapshot).map(Self).map_err(tracker_error)
    }

    /// Adds items. Returns the number of each.
    #[napi]
    pub fn add(&mut self, items: Text) -> Result<Vec<i64>, Error> {
        self.0.add(&bytes_of(items)).map(numbers).map_err(tracker_error)
    }

    /// The content of the next request.
    #[napi]
    pub fn plan(&self) -> String {
        json_of(&self.0.plan())
    }

    /// Marks items as sent. Returns the request's number.
    #[napi]
    pub fn send(&mut self, occurrences: Vec<i64>) -> Result<i64, Error> {
        let occurrences: Vec<_> = occurrences.into_iter().map(unsigned).collect();
        self.0.send(&occurrences).map(signed).map_err(tracker_error)
    }

    /// Marks items as sent that a filter returned. Returns the request's number.
    #[napi]
    pub fn send_filtered(&mut self, returned: Text) -> Result<i64, Error> {
        self.0.send_filtered(&bytes_of(returned)).map(signed).map_err(tracker_error)
    }

    /// Records a response.
    #[napi]
    pub fn accept(&mut self, attempt: i64, response: Text) -> Result<(), Error> {
        self.0.accept(unsigned(attempt), &bytes_of(response)).map_err(tracker_error)
    }

    /// Records a failed request. Returns its items, which are pending again.
    #[napi]
    pub fn rewind(&mut self, attempt: i64) -> Result<Vec<i64>, Error> {
        self.0.rewind(unsigned(attempt)).map(numbers).map_err(tracker_error)
    }

    /// Takes the server's list as its full state. Returns the sent items that it contains.
    #[napi]
    pub fn hydrate(&mut self, held: Text) -> Result<Vec<i64>, Error> {
        self.0.hydrate(&bytes_of(held)).map(numbers).map_err(tracker_error)
    }

    /// Open matters that can make the next request fail.
    #[napi]
    pub fn unresolved(&self) -> String {
        json_of(&self.0.unresolved())
    }

    /// The state of an item; `null` for an unknown number.
    #[napi]
    pub fn standing(&self, occurrence: i64) -> String {
        json_of(&self.0.standing(unsigned(occurrence)))
    }

    /// The number of accepted responses.
    #[napi(getter)]
    pub fn turns(&self) -> i64 {
        signed(self.0.turns())
    }

    /// The `conversation` of the next request.
    #[napi(getter)]
    pub fn conversation(&self) -> Option<String> {
        self.0.conversation().map(str::to_owned)
    }

    /// The `previous_response_id` of the next request.
    #[napi(getter)]
    pub fn previous_response_id(&self) -> Option<String> {
        self.0.previous_response_id().map(str::to_owned)
    }

    /// Ends the run.
    #[napi]
    pub fn finish(&mut self) {
        self.0.finish();
    }

    /// Whether the run has ended.
    #[napi(getter)]
    pub fn is_finished(&self) -> bool {
        self.0.is_finished()
    }

    /// The tracker as JSON.
    #[napi]
    pub fn snapshot(&self) -> String {
        self.0.to_json()
    }
}

fn tracker_error(reason: TrackerError) -> Error {
    error(reason.name(), &reason)
}

fn numbers(numbers: Vec<u64>) -> Vec<i64> {
    numbers.into_iter().map(signed).collect()
}

/// Numbers are exact in Node up to 2^53, which no run reaches.
fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// Maps a negative number to one that no item or request has.
fn unsigned(number: i64) -> u64 {
    u64::try_from(number).unwrap_or(u64::MAX)
}
