//! The reasoning of an answer.

use std::collections::HashMap;
use std::sync::Arc;

use super::metadata::Metadata;
use super::part::{Part, inside};
use super::seal::Sealed;
use super::teller::Teller;
use crate::json::Object;
use crate::stream::Spoken;
use crate::transcript::Origin;

/// The reasoning that is open.
///
/// ```text
///   reasoning-start, or the first delta ──> Open ── reasoning-end ──> ended
///   of OpenAI:                              Open ── reasoning-end ──> Concluded ── another summary part ──> Open
///                                                                         └── anything else ──> ended
/// ```
///
/// OpenAI's provider makes a reasoning of every part of an item's summary (`rs_1:0`, `rs_1:1`), each
/// with the item's id in its metadata: they are one item with its summary.
pub(super) struct Reasonings {
    origin: Origin,
    /// By the item's id, or by the part's own where it has none.
    open: HashMap<Arc<str>, Reasoning>,
    /// The parts that are open, by their own ids.
    parts: HashMap<String, Place>,
    /// All parts of the item of this name have ended; another one may follow.
    concluded: Option<Arc<str>>,
}

struct Reasoning {
    index: u64,
    spoken: Spoken,
    /// How many parts have begun, and how many of them have ended.
    begun: u64,
    ended: u64,
    /// The text so far where it is not a summary: the inside of a JSON string.
    said: String,
    sealed: Sealed,
}

/// Where a part stands: in which item, as which of its parts.
#[derive(Clone)]
struct Place {
    item: Arc<str>,
    number: u64,
}

impl Reasonings {
    pub(super) fn new(origin: Origin) -> Self {
        Self { origin, open: HashMap::new(), parts: HashMap::new(), concluded: None }
    }

    /// Reasoning begins. What is open does not begin again.
    pub(super) fn start(&mut self, part: Part<'_>, teller: &mut Teller<'_>) {
        let metadata = Metadata::of(part);
        let place = self.place(part, &metadata, teller);
        self.absorb(&place, &metadata);
    }

    /// A piece of reasoning, or a signature of what was said.
    pub(super) fn delta(&mut self, part: Part<'_>, teller: &mut Teller<'_>) {
        let metadata = Metadata::of(part);
        let place = self.place(part, &metadata, teller);
        self.absorb(&place, &metadata);
        if let (Some(reasoning), Some(piece)) = (self.open.get_mut(&place.item), part.delta()) {
            reasoning.say(piece, place.number, teller);
        }
    }

    /// A part of reasoning ends. One that was never begun, and holds nothing, is none.
    pub(super) fn end(&mut self, part: Part<'_>, teller: &mut Teller<'_>) {
        let metadata = Metadata::of(part);
        let mut sealed = Sealed::default();
        sealed.absorb(&metadata);
        if !self.parts.contains_key(&*part.id()) && !sealed.holds_anything() {
            return;
        }
        let place = self.place(part, &metadata, teller);
        self.absorb(&place, &metadata);
        self.parts.remove(&*part.id());
        self.end_part(place.item, teller);
    }

    /// Something else begins: reasoning whose parts have all ended is over.
    pub(super) fn end_concluded(&mut self, teller: &mut Teller<'_>) {
        if let Some(reasoning) = self.concluded.take().and_then(|item| self.open.remove(&item)) {
            reasoning.end(&self.origin, teller);
        }
    }

    /// The step is over: reasoning that is open ends with what it has said, in order.
    pub(super) fn end_all(&mut self, teller: &mut Teller<'_>) {
        self.concluded = None;
        self.parts.clear();
        let mut open: Vec<Reasoning> = self.open.drain().map(|(_, reasoning)| reasoning).collect();
        open.sort_unstable_by_key(|reasoning| reasoning.index);
        for reasoning in open {
            reasoning.end(&self.origin, teller);
        }
    }

    fn end_part(&mut self, item: Arc<str>, teller: &mut Teller<'_>) {
        let Some(reasoning) = self.open.get_mut(&item) else {
            return;
        };
        reasoning.ended += 1;
        if reasoning.ended < reasoning.begun {
            return;
        }
        self.concluded = Some(item);
        if self.open_concluded().is_some_and(|reasoning| reasoning.spoken != Spoken::Summary) {
            self.end_concluded(teller);
        }
    }

    fn open_concluded(&self) -> Option<&Reasoning> {
        self.open.get(self.concluded.as_ref()?)
    }

    /// Where the part stands, which begins if it has not, and its item with it.
    fn place(&mut self, part: Part<'_>, metadata: &Metadata<'_>, teller: &mut Teller<'_>) -> Place {
        let id = part.id();
        if let Some(place) = self.parts.get(&*id) {
            return place.clone();
        }
        let item = metadata.field("itemId").and_then(crate::json::unquote);
        let item: Arc<str> = item.map_or_else(|| Arc::from(&*id), Arc::from);
        if self.concluded.as_ref().is_some_and(|concluded| *concluded != item) {
            self.end_concluded(teller);
        }
        self.concluded = None;
        let begin = || Reasoning::begin(&id, metadata, teller);
        let reasoning = self.open.entry(item.clone()).or_insert_with(begin);
        let place = Place { item, number: reasoning.begun };
        reasoning.begun += 1;
        self.parts.insert(id.into_owned(), place.clone());
        place
    }

    fn absorb(&mut self, place: &Place, metadata: &Metadata<'_>) {
        if let Some(reasoning) = self.open.get_mut(&place.item) {
            reasoning.sealed.absorb(metadata);
        }
    }
}

impl Reasoning {
    /// An item begins. Under OpenAI's own id if it says one, for encrypted content is bound to it:
    /// the metadata says it, or the part's id is it.
    fn begin(id: &str, metadata: &Metadata<'_>, teller: &mut Teller<'_>) -> Self {
        let own = metadata.field("itemId").map(str::to_owned);
        let own = own.or_else(|| id.starts_with("rs_").then(|| crate::json::quote(id)));
        let mut item: Object<'_> = [("type", r#""reasoning""#)].into_iter().collect();
        if let Some(own) = &own {
            item.set("id", own.as_str());
        }
        // OpenAI's provider says with every beginning whether there is encrypted content.
        let is_summary = metadata.has("reasoningEncryptedContent");
        Self {
            index: teller.begin(&item),
            spoken: if is_summary { Spoken::Summary } else { Spoken::Reasoning },
            begun: 0,
            ended: 0,
            said: String::new(),
            sealed: Sealed::of_item(own),
        }
    }

    fn say(&mut self, piece: &str, number: u64, teller: &mut Teller<'_>) {
        teller.say(self.index, self.spoken, number, piece);
        if self.spoken == Spoken::Reasoning {
            self.said.push_str(inside(piece));
        }
    }

    fn end(self, origin: &Origin, teller: &mut Teller<'_>) {
        let Some(encrypted) = self.sealed.encrypted_content(&self.said, origin) else {
            teller.assembler.close_item(self.index);
            return;
        };
        let mut item: Object<'_> = [("type", r#""reasoning""#)].into_iter().collect();
        if let Some(own) = self.sealed.item_id() {
            item.set("id", own);
        }
        item.set("encrypted_content", encrypted);
        teller.end(self.index, &item);
    }
}
