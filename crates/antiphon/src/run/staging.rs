//! Input that waits on a paused run.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

use crate::item::Item;
use crate::tracker::{Continuation, Finished, Occurrence, Tracker};

/// When input that was staged counts as part of the history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommitPoint {
    /// The client owns the history: before the model is called.
    BeforeModelCall,
    /// The server owns it: each item once the response to its request has come, and before hooks or
    /// tools run. See [`Tracker::accept`].
    OnAcceptance,
}

impl CommitPoint {
    /// The commit point under `continuation`; `None` is a history that the application owns.
    pub fn under(continuation: Option<&Continuation>) -> Self {
        continuation.map_or(Self::BeforeModelCall, |_| Self::OnAcceptance)
    }
}

/// Input for a paused run, in order. It is admitted once, behind the outputs of the turn that was
/// paused. Serializes with the run; items keep their bytes where the text itself is restored.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Staging {
    waiting: Vec<Item>,
    is_finished: bool,
}

impl Staging {
    /// Adds an item. The same item twice is two items.
    pub fn stage(&mut self, item: Item) -> Result<(), Finished> {
        if self.is_finished {
            return Err(Finished);
        }
        self.waiting.push(item);
        Ok(())
    }

    /// What waits.
    pub fn waiting(&self) -> &[Item] {
        &self.waiting
    }

    /// Hands what waits to the tracker, behind all that was added to it: call it when the outputs
    /// of the paused turn are there. Nothing is handed over twice.
    pub fn admit(&mut self, tracker: &mut Tracker) -> Result<Vec<Occurrence>, Finished> {
        if tracker.is_finished() {
            return Err(Finished);
        }
        self.take().into_iter().map(|item| tracker.add(item)).collect()
    }

    /// Hands what waits to a history that the client owns.
    pub fn take(&mut self) -> Vec<Item> {
        std::mem::take(&mut self.waiting)
    }

    /// The run has ended: nothing more can be staged. What waits stays where it is.
    pub fn finish(&mut self) {
        self.is_finished = true;
    }
}

#[derive(Serialize, Deserialize)]
struct Saved {
    waiting: Vec<Box<RawValue>>,
    is_finished: bool,
}

impl Serialize for Staging {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let raw = |item: &Item| RawValue::from_string(item.text().to_owned());
        let waiting = self.waiting.iter().map(raw).collect::<Result<_, _>>();
        let waiting = waiting.expect("an item was parsed as JSON");
        Saved { waiting, is_finished: self.is_finished }.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Staging {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Saved { waiting, is_finished } = Saved::deserialize(deserializer)?;
        let item = |raw: Box<RawValue>| Item::parse(String::from(Box::<str>::from(raw)).into());
        let waiting = waiting.into_iter().map(item).collect::<Result<_, _>>();
        let waiting = waiting.map_err(serde::de::Error::custom)?;
        Ok(Self { waiting, is_finished })
    }
}
