//! Serializes a tracker as JSON, and restores it.
//!
//! The items are raw JSON and keep their bytes. Restore from the text of the snapshot (`from_str`,
//! `from_slice`): a `serde_json::Value` would rewrite the items.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

use super::attempt::SentItem;
use super::entry::{Attempt, Entry, Occurrence, OccurrenceState, Queued};
use super::known::{Coverage, Known};
use super::{Continuation, ReasoningIds, Tracker};
use crate::item::{CallId, Head, HeadError, Item, ItemId, Kind, Role};

/// The version of the snapshot's format.
const VERSION: u32 = 1;

/// The reason why a snapshot cannot be restored.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SnapshotError {
    /// The format's version is not supported.
    #[error("unsupported snapshot version {0}: expected {VERSION}")]
    Version(u32),
    /// An element is not an item.
    #[error("snapshot has an element that is not an item: {0}")]
    Item(#[from] HeadError),
    /// The item of an unaccepted occurrence is missing.
    #[error("snapshot lacks the item of occurrence {}", .0.number())]
    MissingItem(Occurrence),
    /// An occurrence belongs to a request that is not in flight or does not contain it.
    #[error("snapshot lacks attempt {} or one of its items", .0.number())]
    Attempt(Attempt),
}

impl Serialize for Tracker {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Snapshot::new(self).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Tracker {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Snapshot::deserialize(deserializer)?.restore().map_err(serde::de::Error::custom)
    }
}

#[derive(Serialize, Deserialize)]
struct Snapshot {
    version: u32,
    continuation: Continuation,
    reasoning_ids: ReasoningIds,
    entries: Vec<SavedEntry>,
    known: SavedKnown,
    in_flight: Vec<SavedAttempt>,
    attempts: u64,
    turns: u64,
    is_finished: bool,
}

#[derive(Serialize, Deserialize)]
struct SavedEntry {
    standing: OccurrenceState,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    item: Option<Box<RawValue>>,
    #[serde(default)]
    is_initial: bool,
}

#[derive(Serialize, Deserialize)]
struct SavedAttempt {
    attempt: Attempt,
    items: Vec<SavedSentItem>,
}

#[derive(Serialize, Deserialize)]
struct SavedSentItem {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    source: Option<Occurrence>,
    item: Box<RawValue>,
}

#[derive(Serialize, Deserialize)]
struct SavedKnown {
    extent: Coverage,
    heads: Vec<SavedHead>,
    reasoning: Vec<u64>,
}

/// The fields of a head that decide which items it suppresses.
#[derive(Serialize, Deserialize)]
struct SavedHead {
    r#type: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    call_id: Option<String>,
    is_model_made: bool,
}

impl Snapshot {
    fn new(tracker: &Tracker) -> Self {
        Self {
            version: VERSION,
            continuation: tracker.continuation.clone(),
            reasoning_ids: tracker.reasoning_ids,
            entries: tracker.entries.iter().map(SavedEntry::new).collect(),
            known: SavedKnown::new(&tracker.known),
            in_flight: tracker.in_flight.iter().map(SavedAttempt::new).collect(),
            attempts: tracker.attempts,
            turns: tracker.turns,
            is_finished: tracker.is_finished,
        }
    }

    fn restore(self) -> Result<Tracker, SnapshotError> {
        if self.version != VERSION {
            return Err(SnapshotError::Version(self.version));
        }
        let entries = (0..).map(Occurrence).zip(self.entries);
        let tracker = Tracker {
            continuation: self.continuation,
            reasoning_ids: self.reasoning_ids,
            entries: entries.map(|(at, saved)| saved.restore(at)).collect::<Result<_, _>>()?,
            known: self.known.restore(),
            in_flight: self
                .in_flight
                .into_iter()
                .map(SavedAttempt::restore)
                .collect::<Result<_, _>>()?,
            attempts: self.attempts,
            turns: self.turns,
            is_finished: self.is_finished,
        };
        tracker.verify()?;
        Ok(tracker)
    }
}

impl Tracker {
    /// Checks that the sent entries and the requests in flight agree.
    fn verify(&self) -> Result<(), SnapshotError> {
        for (attempt, going) in &self.in_flight {
            let is_sent = |source| self.standing(source) == Some(OccurrenceState::Sent(*attempt));
            let are_sent = going.iter().filter_map(|going| going.source).all(is_sent);
            if attempt.0 >= self.attempts || !are_sent {
                return Err(SnapshotError::Attempt(*attempt));
            }
        }
        let sent = self.entries.iter().filter_map(|entry| match entry.state() {
            OccurrenceState::Sent(attempt) => Some(attempt),
            OccurrenceState::Pending | OccurrenceState::Accepted => None,
        });
        let lost = sent.into_iter().find(|attempt| !self.in_flight.contains_key(attempt));
        lost.map_or(Ok(()), |attempt| Err(SnapshotError::Attempt(attempt)))
    }
}

impl SavedEntry {
    fn new(entry: &Entry) -> Self {
        let queued = entry.queued();
        Self {
            standing: entry.state(),
            item: queued.map(|queued| raw(&queued.item)),
            is_initial: queued.is_some_and(|queued| queued.is_initial),
        }
    }

    fn restore(self, occurrence: Occurrence) -> Result<Entry, SnapshotError> {
        if self.standing == OccurrenceState::Accepted {
            return Ok(Entry::Accepted);
        }
        let raw = self.item.ok_or(SnapshotError::MissingItem(occurrence))?;
        let queued = Queued { item: item(&raw)?, is_initial: self.is_initial };
        Ok(match self.standing {
            OccurrenceState::Sent(attempt) => Entry::Sent(queued, attempt),
            OccurrenceState::Pending | OccurrenceState::Accepted => Entry::Pending(queued),
        })
    }
}

impl SavedAttempt {
    fn new((attempt, going): (&Attempt, &Vec<SentItem>)) -> Self {
        let saved =
            |going: &SentItem| SavedSentItem { source: going.source, item: raw(&going.item) };
        Self { attempt: *attempt, items: going.iter().map(saved).collect() }
    }

    fn restore(self) -> Result<(Attempt, Vec<SentItem>), HeadError> {
        let going = |saved: SavedSentItem| {
            Ok::<_, HeadError>(SentItem { source: saved.source, item: item(&saved.item)? })
        };
        let items = self.items.into_iter().map(going).collect::<Result<_, _>>()?;
        Ok((self.attempt, items))
    }
}

impl SavedKnown {
    fn new(known: &Known) -> Self {
        let mut reasoning: Vec<_> = known.reasoning().collect();
        reasoning.sort_unstable();
        Self {
            extent: known.extent,
            heads: known.heads().iter().map(SavedHead::new).collect(),
            reasoning,
        }
    }

    fn restore(self) -> Known {
        let mut known = Known::default();
        known.extent = self.extent;
        self.heads.into_iter().for_each(|head| known.note(head.restore()));
        known.note_reasoning(self.reasoning);
        known
    }
}

impl SavedHead {
    fn new(head: &Head) -> Self {
        Self {
            r#type: head.kind.as_str().to_owned(),
            id: head.id.as_ref().map(|id| id.as_str().to_owned()),
            call_id: head.call_id.as_ref().map(|id| id.as_str().to_owned()),
            is_model_made: head.is_model_made(),
        }
    }

    fn restore(self) -> Head {
        let kind = Kind::parse(&self.r#type);
        let speaks = kind == Kind::Message && self.is_model_made;
        Head {
            kind,
            id: self.id.map(ItemId::from),
            call_id: self.call_id.map(CallId::from),
            role: speaks.then_some(Role::Assistant),
            unfinished: false,
            encrypted: false,
        }
    }
}

fn raw(item: &Item) -> Box<RawValue> {
    RawValue::from_string(item.text().to_owned()).expect("an item was parsed as JSON")
}

fn item(raw: &RawValue) -> Result<Item, HeadError> {
    Item::parse(raw.get().to_owned().into())
}
