//! The order of turns on a connection.

use std::collections::{HashSet, VecDeque};

use super::client_event::CreateEvent;
use crate::error::ApiError;
use crate::lane::StreamId;

/// The lanes of a connection. A lane has at most one open turn; further requests on it wait in the
/// order of their arrival.
pub(super) struct Lanes {
    /// The lanes named so far.
    named: HashSet<StreamId>,
    /// The lanes with an open turn.
    busy: HashSet<Option<StreamId>>,
    waiting: VecDeque<CreateEvent>,
    waiting_bytes: usize,
    /// The maximum size of the waiting requests, in bytes.
    max_bytes: usize,
}

/// The maximum number of named lanes per connection. Source: the provider's guide, also for the
/// next one.
const MOST_NAMED: usize = 32;
/// The maximum number of open turns per connection.
const MOST_OPEN: usize = 16;
/// The maximum number of waiting requests.
const MOST_WAITING: usize = 64;

impl Lanes {
    /// No open turns. `max_bytes` is the maximum size of the waiting requests.
    pub(super) fn new(max_bytes: usize) -> Self {
        Self {
            named: HashSet::new(),
            busy: HashSet::new(),
            waiting: VecDeque::new(),
            waiting_bytes: 0,
            max_bytes,
        }
    }

    /// Adds a request to the queue of its lane.
    pub(super) fn admit(&mut self, create: CreateEvent) -> Result<(), ApiError> {
        let bytes = self.waiting_bytes.saturating_add(create.bytes);
        let is_full = self.waiting.len() >= MOST_WAITING || bytes > self.max_bytes;
        if is_full && !self.waiting.is_empty() {
            return Err(ApiError::TooManyWaiting);
        }
        self.register_name(create.stream.as_ref())?;
        self.waiting_bytes = bytes;
        self.waiting.push_back(create);
        Ok(())
    }

    fn register_name(&mut self, stream: Option<&StreamId>) -> Result<(), ApiError> {
        let Some(stream) = stream.filter(|stream| !self.named.contains(stream)) else {
            return Ok(());
        };
        if self.named.len() >= MOST_NAMED {
            return Err(ApiError::TooManyStreams { maximum: MOST_NAMED });
        }
        self.named.insert(stream.clone());
        Ok(())
    }

    /// Takes the next request to start: the first one whose lane is free. Marks the lane as busy.
    pub(super) fn next(&mut self) -> Option<CreateEvent> {
        if self.busy.len() >= MOST_OPEN {
            return None;
        }
        let first = self.waiting.iter().position(|create| !self.busy.contains(&create.stream))?;
        let create = self.waiting.remove(first)?;
        self.waiting_bytes -= create.bytes;
        self.busy.insert(create.stream.clone());
        Some(create)
    }

    /// Marks the lane as free, after its turn has ended.
    pub(super) fn free_lane(&mut self, stream: Option<&StreamId>) {
        self.busy.remove(&stream.cloned());
    }

    /// Removes and returns all waiting requests.
    pub(super) fn take_waiting(&mut self) -> VecDeque<CreateEvent> {
        self.waiting_bytes = 0;
        std::mem::take(&mut self.waiting)
    }

    /// Whether no turn is open or waiting.
    pub(super) fn is_idle(&self) -> bool {
        self.busy.is_empty() && self.waiting.is_empty()
    }
}
