//! The reasoning of an answer.

use std::collections::HashMap;
use std::sync::Arc;

use super::item_emitter::ItemEmitter;
use super::metadata::{Metadata, Sealed};
use super::part::{Part, inside};
use crate::json::Object;
use crate::stream::DeltaKind;
use crate::transcript::Origin;

/// The open reasoning items.
///
/// ```text
///   reasoning-start, or the first delta ──> Open ── reasoning-end ──> ended
///   with a summary:  Open ── reasoning-end ──> Complete ── another summary part ──> Open
///                                                  └── any other part ──> ended
/// ```
///
/// The OpenAI provider streams every part of an item's summary as its own reasoning (`rs_1:0`,
/// `rs_1:1`) with the item's id in the metadata. They become one item again.
pub(super) struct Reasonings {
    origin: Origin,
    /// By the item's id, or by the part's id if the item has none.
    open: HashMap<Arc<str>, Reasoning>,
    /// The open parts, by their ids.
    parts: HashMap<String, Place>,
    /// The item whose parts have all ended. Another part may follow.
    complete: Option<Arc<str>>,
}

struct Reasoning {
    index: u64,
    spoken: DeltaKind,
    /// The number of parts that have begun.
    begun: u64,
    ended: u64,
    /// The text so far, except for summaries: the inside of a JSON string.
    streamed: String,
    sealed: Sealed,
}

/// The item of a part, and the part's number in it.
#[derive(Clone)]
struct Place {
    item: Arc<str>,
    number: u64,
}

impl Reasonings {
    pub(super) fn new(origin: Origin) -> Self {
        Self { origin, open: HashMap::new(), parts: HashMap::new(), complete: None }
    }

    /// Begins a part, unless it is open.
    pub(super) fn start(&mut self, part: Part<'_>, emitter: &mut ItemEmitter<'_>) {
        let metadata = Metadata::from_part(part);
        let place = self.place(part, &metadata, emitter);
        self.add_metadata(&place, &metadata);
    }

    /// Appends a delta of text, or stores a signature.
    pub(super) fn delta(&mut self, part: Part<'_>, emitter: &mut ItemEmitter<'_>) {
        let metadata = Metadata::from_part(part);
        let place = self.place(part, &metadata, emitter);
        self.add_metadata(&place, &metadata);
        if let (Some(reasoning), Some(piece)) = (self.open.get_mut(&place.item), part.delta()) {
            reasoning.append(piece, place.number, emitter);
        }
    }

    /// Ends a part. An empty part that never began is ignored.
    pub(super) fn end(&mut self, part: Part<'_>, emitter: &mut ItemEmitter<'_>) {
        let metadata = Metadata::from_part(part);
        let mut sealed = Sealed::default();
        sealed.add_metadata(&metadata);
        if !self.parts.contains_key(&*part.id()) && !sealed.has_content() {
            return;
        }
        let place = self.place(part, &metadata, emitter);
        self.add_metadata(&place, &metadata);
        self.parts.remove(&*part.id());
        self.end_part(place.item, emitter);
    }

    /// Ends the reasoning whose parts have all ended, because another item begins.
    pub(super) fn end_complete(&mut self, emitter: &mut ItemEmitter<'_>) {
        if let Some(reasoning) = self.complete.take().and_then(|item| self.open.remove(&item)) {
            reasoning.end(&self.origin, emitter);
        }
    }

    /// Ends all open reasoning in order, because the step is over.
    pub(super) fn end_all(&mut self, emitter: &mut ItemEmitter<'_>) {
        self.complete = None;
        self.parts.clear();
        let mut open: Vec<Reasoning> = self.open.drain().map(|(_, reasoning)| reasoning).collect();
        open.sort_unstable_by_key(|reasoning| reasoning.index);
        for reasoning in open {
            reasoning.end(&self.origin, emitter);
        }
    }

    fn end_part(&mut self, item: Arc<str>, emitter: &mut ItemEmitter<'_>) {
        let Some(reasoning) = self.open.get_mut(&item) else {
            return;
        };
        reasoning.ended += 1;
        if reasoning.ended < reasoning.begun {
            return;
        }
        self.complete = Some(item);
        if self.open_complete().is_some_and(|reasoning| reasoning.spoken != DeltaKind::Summary) {
            self.end_complete(emitter);
        }
    }

    fn open_complete(&self) -> Option<&Reasoning> {
        self.open.get(self.complete.as_ref()?)
    }

    /// The position of a part. Begins the part, and its item, if needed.
    fn place(
        &mut self,
        part: Part<'_>,
        metadata: &Metadata<'_>,
        emitter: &mut ItemEmitter<'_>,
    ) -> Place {
        let id = part.id();
        if let Some(place) = self.parts.get(&*id) {
            return place.clone();
        }
        let item = metadata.field("itemId").and_then(crate::json::unquote);
        let item: Arc<str> = item.map_or_else(|| Arc::from(&*id), Arc::from);
        if self.complete.as_ref().is_some_and(|complete| *complete != item) {
            self.end_complete(emitter);
        }
        self.complete = None;
        let begin = || Reasoning::begin(&id, metadata, emitter);
        let reasoning = self.open.entry(item.clone()).or_insert_with(begin);
        let place = Place { item, number: reasoning.begun };
        reasoning.begun += 1;
        self.parts.insert(id.into_owned(), place.clone());
        place
    }

    fn add_metadata(&mut self, place: &Place, metadata: &Metadata<'_>) {
        if let Some(reasoning) = self.open.get_mut(&place.item) {
            reasoning.sealed.add_metadata(metadata);
        }
    }
}

impl Reasoning {
    /// Begins an item. It keeps OpenAI's own id, because encrypted content is bound to that id. The
    /// id is in the metadata, or it is the id of the part.
    fn begin(id: &str, metadata: &Metadata<'_>, emitter: &mut ItemEmitter<'_>) -> Self {
        let own = metadata.field("itemId").map(str::to_owned);
        let own = own.or_else(|| id.starts_with("rs_").then(|| crate::json::quote(id)));
        let mut item: Object<'_> = [("type", r#""reasoning""#)].into_iter().collect();
        if let Some(own) = &own {
            item.set("id", own.as_str());
        }
        // The OpenAI provider has this field at every beginning, even without encrypted content.
        let is_summary = metadata.has("reasoningEncryptedContent");
        Self {
            index: emitter.begin(&item),
            spoken: if is_summary { DeltaKind::Summary } else { DeltaKind::Reasoning },
            begun: 0,
            ended: 0,
            streamed: String::new(),
            sealed: Sealed::new(own),
        }
    }

    fn append(&mut self, piece: &str, number: u64, emitter: &mut ItemEmitter<'_>) {
        emitter.delta(self.index, self.spoken, number, piece);
        if self.spoken == DeltaKind::Reasoning {
            self.streamed.push_str(inside(piece));
        }
    }

    fn end(self, origin: &Origin, emitter: &mut ItemEmitter<'_>) {
        let Some(encrypted) = self.sealed.encrypted_content(&self.streamed, origin) else {
            emitter.assembler.close_item(self.index);
            return;
        };
        let mut item: Object<'_> = [("type", r#""reasoning""#)].into_iter().collect();
        if let Some(own) = self.sealed.item_id() {
            item.set("id", own);
        }
        item.set("encrypted_content", encrypted);
        emitter.end(self.index, &item);
    }
}
