//! Rule 1: the same item id. An item that lacks the id that its kind needs has the one that its
//! bytes give it. Compactions and reasoning are also matched by their encrypted content.

use std::collections::HashMap;

use crate::item::{DerivedIds, Fingerprint, FingerprintKey, Item, ItemId, Kind};
use crate::json::Object;
use crate::transcript::{HeldItem, Transcript};

/// The result of looking an incoming item up by its id.
pub(super) enum ById {
    /// It is the item stored at `place`.
    Held { place: usize, differs: bool },
    /// Id and content are those of this earlier item of the input.
    Repeats(usize),
    /// The id belongs to another item.
    Used,
    /// The item has no id, or a new one.
    Unknown,
}

/// Looks items up by the ids that the transcript or the earlier input already has.
pub(super) struct Identity<'a> {
    transcript: &'a Transcript,
    incoming: &'a [Item],
    key: FingerprintKey,
    /// Ids of the input, each with the position of its first use.
    used: HashMap<&'a ItemId, usize>,
    /// The ids of the items without one.
    derived: DerivedIds,
    /// The places of the stored reasoning by its [`seal_of`], once it is needed.
    sealed: Option<HashMap<String, usize>>,
}

impl<'a> Identity<'a> {
    pub(super) fn new(
        transcript: &'a Transcript,
        incoming: &'a [Item],
        key: FingerprintKey,
    ) -> Self {
        let derived = DerivedIds::default();
        Self { transcript, incoming, key, used: HashMap::new(), derived, sealed: None }
    }

    /// Looks up the item at `position`. Items have to be passed in order.
    pub(super) fn look_up(&mut self, position: usize) -> ById {
        let item = &self.incoming[position];
        let Some(id) = &item.head().id else {
            return match item.lacks_own_id() {
                true => self.look_up_by_derived_id(item),
                false => self.look_up_by_content(item),
            };
        };
        if let Some(place) = self.transcript.position(id) {
            return self.compare_with_holder(item, place);
        }
        let first = *self.used.entry(id).or_insert(position);
        if first == position {
            ById::Unknown
        } else if item.is_copy_of(&self.incoming[first]) {
            ById::Repeats(first)
        } else {
            ById::Used
        }
    }

    /// A repair gave the item this id when it was sent first.
    fn look_up_by_derived_id(&mut self, item: &Item) -> ById {
        let id = self.derived.next(item, |_| false);
        let place = self.transcript.position(&id);
        place.map_or(ById::Unknown, |place| ById::Held { place, differs: false })
    }

    /// Clients may omit the id of a compaction or of reasoning. Its encrypted content identifies it
    /// as well.
    fn look_up_by_content(&mut self, item: &Item) -> ById {
        match item.head().kind {
            Kind::Compaction if item.head().encrypted => self.look_up_compaction(item),
            Kind::Reasoning if item.head().encrypted => self.look_up_reasoning(item),
            _ => ById::Unknown,
        }
    }

    fn look_up_reasoning(&mut self, item: &Item) -> ById {
        let transcript = self.transcript;
        let sealed = self.sealed.get_or_insert_with(|| index_by_seal(transcript));
        let place = seal_of(item).and_then(|seal| sealed.get(&seal).copied());
        place.map_or(ById::Unknown, |place| ById::Held { place, differs: false })
    }

    fn look_up_compaction(&self, item: &Item) -> ById {
        let mut held = self.transcript.items().iter();
        let place = held.position(|held| {
            let is_one = held.head.kind == Kind::Compaction && held.head.encrypted;
            is_one && held.item().is_some_and(|held| held.has_same_content(item))
        });
        place.map_or(ById::Unknown, |place| ById::Held { place, differs: false })
    }

    /// The stored version wins, unless the client sends new content under an old id.
    fn compare_with_holder(&self, item: &Item, place: usize) -> ById {
        let holder = &self.transcript.items()[place];
        if item.head().kind == Kind::ItemReference {
            let differs = false;
            return ById::Held { place, differs };
        }
        let differs = self.differs(holder, item);
        let is_new_message = differs && item.is_callers_message();
        if is_new_message || !has_same_role_in_conversation(holder, item) {
            return ById::Used;
        }
        ById::Held { place, differs }
    }

    fn differs(&self, holder: &HeldItem, item: &Item) -> bool {
        if holder.is_tombstone() || holder.is_byte_for_byte(item) {
            return false;
        }
        match Fingerprint::from_item(self.key, item) {
            Some(content) => holder.fingerprint != Some(content),
            None => holder.item().is_some_and(|held| !held.has_same_content(item)),
        }
    }
}

/// The places of the stored reasoning with encrypted content.
fn index_by_seal(transcript: &Transcript) -> HashMap<String, usize> {
    let held = transcript.items().iter().enumerate();
    let reasoning =
        held.filter(|(_, held)| held.head.kind == Kind::Reasoning && held.head.encrypted);
    reasoning.filter_map(|(place, held)| Some((seal_of(&held.item()?)?, place))).collect()
}

/// The part of encrypted content that identifies it. A client may return a sealed block in another
/// form; the provider's signature or data in it stays the same.
fn seal_of(reasoning: &Item) -> Option<String> {
    let text = reasoning.object().string("encrypted_content")?.into_owned();
    let block = Object::parse(text.as_bytes()).ok();
    let block = block.as_ref().and_then(|seal| seal.object("content"));
    let own = block.and_then(|block| {
        let keys = ["signature", "data", "encrypted_content"];
        keys.iter().find_map(|key| block.string(key).map(std::borrow::Cow::into_owned))
    });
    Some(own.unwrap_or(text))
}

/// Whether the item has the kind and the `call_id` of the stored one. Encrypted content is bound to
/// its id, so its item always counts as the stored one.
fn has_same_role_in_conversation(holder: &HeldItem, item: &Item) -> bool {
    let (one, two) = (&holder.head, item.head());
    two.encrypted || one.kind == two.kind && one.call_id == two.call_id
}
