//! The memory of a connection for responses that are not stored.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use antiphon::json::{self, Object};
use antiphon::{Body, HeldItem, Transcript};
use bytes::Bytes;

use crate::error::ApiError;

/// The latest unstored response of each lane of a connection. The number of entries is limited by
/// the number of lanes, and their total size by the maximum size of a request.
pub(crate) struct Memory {
    max_bytes: usize,
    /// The latest entry is the last one.
    latest: Mutex<Vec<Remembered>>,
}

struct Remembered {
    lane: Option<StreamId>,
    response: String,
    transcript: Arc<Transcript>,
    bytes: usize,
}

/// The lane of a connection that received a request. Any lane can continue any remembered response,
/// but each lane remembers only its own latest one.
#[derive(Clone)]
pub(crate) struct Lane {
    name: Option<StreamId>,
    memory: Arc<Memory>,
}

impl Memory {
    /// Creates an empty memory.
    pub(crate) fn new(max_bytes: usize) -> Self {
        Self { max_bytes, latest: Mutex::default() }
    }

    /// Each change is one step, so a panic elsewhere cannot leave it inconsistent.
    fn latest(&self) -> MutexGuard<'_, Vec<Remembered>> {
        self.latest.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Lane {
    pub(crate) fn new(name: Option<StreamId>, memory: &Arc<Memory>) -> Self {
        Self { name, memory: Arc::clone(memory) }
    }

    /// The transcript up to the end of a response, if the connection remembers it.
    pub(crate) fn recall(&self, response: &str) -> Option<Arc<Transcript>> {
        let latest = self.memory.latest();
        let found = latest.iter().find(|remembered| remembered.response == response)?;
        Some(Arc::clone(&found.transcript))
    }

    /// Remembers a response in place of the lane's previous one. If the total size is too large,
    /// the oldest entries are removed.
    pub(crate) fn remember(&self, response: &str, transcript: &Transcript) {
        let transcript: Transcript = transcript.items().iter().map(detached).collect();
        let bytes = size(&transcript);
        let mut latest = self.memory.latest();
        latest.retain(|remembered| remembered.lane != self.name);
        let transcript = Arc::new(transcript);
        latest.push(Remembered {
            lane: self.name.clone(),
            response: response.to_owned(),
            transcript,
            bytes,
        });
        let mut total: usize = latest.iter().map(|remembered| remembered.bytes).sum();
        while total > self.memory.max_bytes {
            total -= latest.remove(0).bytes;
        }
    }

    /// Removes a response of this lane. Responses of other lanes stay.
    pub(crate) fn forget(&self, response: &str) {
        let is_it = |remembered: &Remembered| {
            remembered.lane == self.name && remembered.response == response
        };
        self.memory.latest().retain(|remembered| !is_it(remembered));
    }
}

/// Copies the item. The original is a slice of its message, and would keep the whole message in
/// memory.
fn detached(item: &HeldItem) -> HeldItem {
    let copied = |bytes: &Bytes| Body::Stored(Bytes::copy_from_slice(bytes));
    let body = item.body.bytes().map_or_else(|| item.body.clone(), copied);
    HeldItem { body, ..item.clone() }
}

/// The memory size of the items, including the fixed size of each one.
fn size(transcript: &Transcript) -> usize {
    let of_item = |item: &HeldItem| size_of::<HeldItem>() + item.length();
    transcript.items().iter().map(of_item).sum()
}

/// The output does not contain the memory.
impl fmt::Debug for Lane {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Lane").field(&self.name).finish()
    }
}

/// The name of a lane: 1 to 256 letters, digits, underscores, hyphens and periods.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct StreamId(Arc<str>);

/// The maximum length of a name.
const MAX_NAME: usize = 256;

impl StreamId {
    /// The lane in a client's event. `None` means the unnamed lane.
    pub(crate) fn from_event(event: &Object<'_>) -> Result<Option<Self>, ApiError> {
        let Some(raw) = event.present("stream_id") else { return Ok(None) };
        let name =
            json::unquote(raw).filter(|name| is_name(name)).ok_or(ApiError::InvalidStreamId)?;
        Ok(Some(Self(name.into())))
    }

    /// The name. It needs no escaping in JSON.
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

fn is_name(text: &str) -> bool {
    let is_known = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte);
    (1..=MAX_NAME).contains(&text.len()) && text.bytes().all(is_known)
}

#[cfg(test)]
mod tests {
    use std::sync::Weak;

    use antiphon::item::{FingerprintKey, parse_items};
    use antiphon::{Item, ItemId};

    use super::*;

    fn transcript(text: &str) -> Transcript {
        let json = format!(r#"{{"type":"message","role":"user","content":"{text}"}}"#);
        let item = Item::parse(json.into()).unwrap();
        let key = FingerprintKey::new([0; 16]);
        [HeldItem::new(ItemId::from("msg_1".to_owned()), &item, key, None)].into_iter().collect()
    }

    #[test]
    fn each_lane_remembers_its_latest_response() {
        let memory = Arc::new(Memory::new(1 << 20));
        let unnamed = Lane::new(None, &memory);
        let event = antiphon::json::Object::parse_str(r#"{"stream_id":"other"}"#).unwrap();
        let other = Lane::new(StreamId::from_event(&event).unwrap(), &memory);

        unnamed.remember("resp_1", &transcript("one"));
        other.remember("resp_2", &transcript("two"));
        unnamed.remember("resp_3", &transcript("three"));

        assert!(other.recall("resp_1").is_none(), "the lane went on");
        assert!(unnamed.recall("resp_2").is_some() && other.recall("resp_3").is_some());
        unnamed.forget("resp_2");
        assert!(unnamed.recall("resp_2").is_some(), "it is another lane's");
        other.forget("resp_2");
        assert!(unnamed.recall("resp_2").is_none());
    }

    /// The bytes of a message, which exist as long as this value.
    struct Message(Arc<Vec<u8>>);

    impl AsRef<[u8]> for Message {
        fn as_ref(&self) -> &[u8] {
            &self.0
        }
    }

    #[test]
    fn only_the_items_of_a_message_are_remembered() {
        let text = r#"[{"type":"message","role":"user","content":"Hello"}]"#;
        let message = Arc::new(text.as_bytes().to_vec());
        let kept: Weak<Vec<u8>> = Arc::downgrade(&message);
        let items = parse_items(&Bytes::from_owner(Message(message))).unwrap();
        let key = FingerprintKey::new([0; 16]);
        let held = HeldItem::new(ItemId::from("msg_1".to_owned()), &items[0], key, None);
        drop(items);

        let lane = Lane::new(None, &Arc::new(Memory::new(1 << 20)));
        lane.remember("resp_1", &[held].into_iter().collect());

        assert!(lane.recall("resp_1").is_some());
        assert_eq!(kept.strong_count(), 0, "the message is gone");
    }

    #[test]
    fn full_memory_forgets_the_oldest_response() {
        let one = size(&transcript("one"));
        let memory = Arc::new(Memory::new(one * 2));
        let lane = |name: &str| {
            let event = format!(r#"{{"stream_id":"{name}"}}"#);
            let event = antiphon::json::Object::parse_str(&event).unwrap();
            Lane::new(StreamId::from_event(&event).unwrap(), &memory)
        };
        for name in ["a", "b", "c"] {
            lane(name).remember(name, &transcript("one"));
        }
        let known = ["a", "b", "c"].map(|name| lane("a").recall(name).is_some());
        assert_eq!(known, [false, true, true]);

        lane("d").remember("d", &transcript(&"x".repeat(one * 2)));
        assert!(memory.latest().is_empty(), "what is too much alone is not remembered");
    }
}
