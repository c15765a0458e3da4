//! The tracker of state that a server owns.

use antiphon_surface::{self as surface, TrackerError};
use napi_derive::napi;

use crate::text::{Error, Text, bytes_of, error, json_of};

/// What one run has sent, and what it still has to send.
#[napi]
pub struct Tracker(surface::Tracker);

#[napi]
impl Tracker {
    /// A tracker of a run that has sent nothing yet.
    #[napi(constructor)]
    pub fn new(options: String) -> Result<Self, Error> {
        surface::Tracker::new(&options).map(Self).map_err(refused)
    }

    /// A tracker from a snapshot.
    #[napi(factory)]
    pub fn from_snapshot(snapshot: String) -> Result<Self, Error> {
        surface::Tracker::from_json(&snapshot).map(Self).map_err(refused)
    }

    /// The occurrence of each item.
    #[napi]
    pub fn add(&mut self, items: Text) -> Result<Vec<i64>, Error> {
        self.0.add(&bytes_of(items)).map(numbers).map_err(refused)
    }

    /// What the next request contains.
    #[napi]
    pub fn plan(&self) -> String {
        json_of(&self.0.plan())
    }

    /// The attempt.
    #[napi]
    pub fn send(&mut self, occurrences: Vec<i64>) -> Result<i64, Error> {
        let occurrences: Vec<_> = occurrences.into_iter().map(unsigned).collect();
        self.0.send(&occurrences).map(signed).map_err(refused)
    }

    /// The attempt of what a filter returned.
    #[napi]
    pub fn send_filtered(&mut self, returned: Text) -> Result<i64, Error> {
        self.0.send_filtered(&bytes_of(returned)).map(signed).map_err(refused)
    }

    /// A response came.
    #[napi]
    pub fn accept(&mut self, attempt: i64, response: Text) -> Result<(), Error> {
        self.0.accept(unsigned(attempt), &bytes_of(response)).map_err(refused)
    }

    /// What is pending again.
    #[napi]
    pub fn rewind(&mut self, attempt: i64) -> Result<Vec<i64>, Error> {
        self.0.rewind(unsigned(attempt)).map(numbers).map_err(refused)
    }

    /// What is certainly at the server.
    #[napi]
    pub fn hydrate(&mut self, held: Text) -> Result<Vec<i64>, Error> {
        self.0.hydrate(&bytes_of(held)).map(numbers).map_err(refused)
    }

    /// What stands between the run and its next request.
    #[napi]
    pub fn unresolved(&self) -> String {
        json_of(&self.0.unresolved())
    }

    /// How far an occurrence has come; `null` where it is not of this tracker.
    #[napi]
    pub fn standing(&self, occurrence: i64) -> String {
        json_of(&self.0.standing(unsigned(occurrence)))
    }

    /// How many calls of the model were accepted.
    #[napi(getter)]
    pub fn turns(&self) -> i64 {
        signed(self.0.turns())
    }

    /// What the next request carries as `conversation`.
    #[napi(getter)]
    pub fn conversation(&self) -> Option<String> {
        self.0.conversation().map(str::to_owned)
    }

    /// What the next request carries as `previous_response_id`.
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

fn refused(reason: TrackerError) -> Error {
    error(reason.name(), &reason)
}

fn numbers(numbers: Vec<u64>) -> Vec<i64> {
    numbers.into_iter().map(signed).collect()
}

/// Node counts exactly up to 2^53; no run gets that far.
fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// No occurrence and no attempt is negative: such a number is of none.
fn unsigned(number: i64) -> u64 {
    u64::try_from(number).unwrap_or(u64::MAX)
}
