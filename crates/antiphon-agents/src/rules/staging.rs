//! Input that waits for a paused run to continue.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

use antiphon::item::Item;
use antiphon::tracker::{Continuation, Occurrence, RunFinished, Tracker};

/// The moment at which staged input becomes part of the history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommitPoint {
    /// The client owns the history: before the model is called.
    BeforeModelCall,
    /// The server owns the history: when the response to the item's request has arrived, before
    /// hooks or tools run. See [`Tracker::accept`].
    OnAcceptance,
}

impl CommitPoint {
    /// The commit point for `continuation`; with `None` the application owns the history.
    pub fn from_continuation(continuation: Option<&Continuation>) -> Self {
        continuation.map_or(Self::BeforeModelCall, |_| Self::OnAcceptance)
    }
}

/// Input for a paused run, in order. It is admitted once, after the outputs of the paused turn.
///
/// It is serialized with the run. Items keep their bytes if the serialized text is restored
/// unchanged.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Staging {
    waiting: Vec<Item>,
    is_finished: bool,
}

impl Staging {
    /// Adds an item. Adding the same item twice stages it twice.
    pub fn stage(&mut self, item: Item) -> Result<(), RunFinished> {
        if self.is_finished {
            return Err(RunFinished);
        }
        self.waiting.push(item);
        Ok(())
    }

    /// The staged items.
    pub fn waiting(&self) -> &[Item] {
        &self.waiting
    }

    /// Moves the staged items to the end of the tracker. Call it when the tracker has the outputs
    /// of the paused turn. No item is moved twice.
    pub fn admit(&mut self, tracker: &mut Tracker) -> Result<Vec<Occurrence>, RunFinished> {
        if tracker.is_finished() {
            return Err(RunFinished);
        }
        self.take().into_iter().map(|item| tracker.add(item)).collect()
    }

    /// Takes the staged items, for a history that the client owns.
    pub fn take(&mut self) -> Vec<Item> {
        std::mem::take(&mut self.waiting)
    }

    /// Records the end of the run: no more items can be staged. The staged items stay.
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
