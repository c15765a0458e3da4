//! The parts of one list of an item: of its content, of its summary.

use std::collections::BTreeMap;

use super::super::emitter::ItemEmitter;
use super::super::heard::Heard;
use super::super::vocabulary::{PartList, PartShape, TextKind};
use super::given::Given;
use super::part::{List, Part};
use super::text::Text;
use crate::item::Kind;
use crate::json::Object;

/// The parts as far as they were told, by the index that the upstream gives them.
///
/// To clients a part's index is its place in the order in which the parts were opened.
#[derive(Debug)]
pub(super) struct Parts {
    list: List,
    told: BTreeMap<u64, Part>,
}

impl Parts {
    pub(super) fn new(list: &'static PartList, speaker: &Kind) -> Self {
        let list = List { events: list, speaker: speaker.clone() };
        Self { list, told: BTreeMap::new() }
    }

    /// The field of the item that holds the list.
    pub(super) fn key(&self) -> &'static str {
        self.list.events.key
    }

    /// The parts in an item's field.
    pub(super) fn given<'a>(&self, item: &'a Object<'_>) -> Vec<Given<'a>> {
        Given::list(item.get(self.key()), &self.list.speaker)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.told.is_empty()
    }

    /// About how many bytes are kept of them.
    pub(super) fn length(&self) -> usize {
        self.told.values().map(Part::length).sum()
    }

    /// Whether anything was said in any of them.
    pub(super) fn have_spoken(&self) -> bool {
        self.told.values().any(Part::has_spoken)
    }

    /// A part begins. One that has begun does not begin again.
    pub(super) fn hear_added(&mut self, heard: &Heard<'_>, out: &mut ItemEmitter<'_>) {
        if let Some(given) = self.given_in(heard) {
            self.part(self.index(heard), &given, Some(heard), out);
        }
    }

    /// A part ends.
    pub(super) fn hear_done(&mut self, heard: &Heard<'_>, out: &mut ItemEmitter<'_>) {
        if let Some(given) = self.given_in(heard) {
            let part = self.part(self.index(heard), &given, None, out);
            part.close(Some(&given), Some(heard), out);
        }
    }

    /// The text of this kind that an event tells of, in a part that begins if it has not.
    pub(super) fn text(
        &mut self,
        kind: &'static TextKind,
        shape: PartShape,
        heard: &Heard<'_>,
        out: &mut ItemEmitter<'_>,
    ) -> Option<&mut Text> {
        self.shaped(shape, heard, out).text_of(kind)
    }

    /// A note on the text of a part of this shape.
    pub(super) fn annotate(
        &mut self,
        shape: PartShape,
        heard: &Heard<'_>,
        out: &mut ItemEmitter<'_>,
    ) {
        self.shaped(shape, heard, out).annotate(heard, out);
    }

    /// Whether what was said can be the beginning of these parts.
    pub(super) fn lead_to(&self, given: &[Given<'_>]) -> bool {
        given.is_empty() || self.told.values().zip(given).all(|(part, given)| part.leads_to(given))
    }

    /// Tells what is missing of the parts that the finished item has, and closes all. Gives back
    /// the list as it should be, raw, where the item's own says less than was told.
    pub(super) fn end(&mut self, given: &[Given<'_>], out: &mut ItemEmitter<'_>) -> Option<String> {
        let mut parts = Vec::with_capacity(given.len());
        for (index, given) in self.indexes_of(given.len()).into_iter().zip(given) {
            let part = self.part(index, given, None, out);
            part.close(Some(given), None, out);
            parts.push(part.shown(Some(given)));
        }
        for part in self.told.values_mut() {
            part.close(None, None, out);
        }
        if given.is_empty() {
            parts.extend(self.told.values().map(|part| part.shown(None)));
        }
        let is_as_given =
            given.iter().all(Given::is_as_it_came) && parts.iter().eq(given.iter().map(Given::raw));
        (!is_as_given).then(|| format!("[{}]", parts.join(",")))
    }

    /// Under which index each of so many finished parts was told: its place, or, where an upstream
    /// counts otherwise, in order.
    fn indexes_of(&self, count: usize) -> Vec<u64> {
        if self.told.len() == count {
            return self.told.keys().copied().collect();
        }
        (0..).take(count).collect()
    }

    fn given_in<'a>(&self, heard: &Heard<'a>) -> Option<Given<'a>> {
        Given::parse(heard.object.get("part")?, &self.list.speaker)
    }

    fn index(&self, heard: &Heard<'_>) -> u64 {
        heard.number(self.list.events.index).unwrap_or(0)
    }

    fn shaped(
        &mut self,
        shape: PartShape,
        heard: &Heard<'_>,
        out: &mut ItemEmitter<'_>,
    ) -> &mut Part {
        let index = self.index(heard);
        if !self.told.contains_key(&index) {
            let empty =
                Given::parse(shape.empty, &self.list.speaker).expect("the shapes are objects");
            self.part(index, &empty, None, out);
        }
        self.told.get_mut(&index).expect("it has begun")
    }

    /// The part of this index, begun as it is given if it was not.
    fn part(
        &mut self,
        index: u64,
        given: &Given<'_>,
        heard: Option<&Heard<'_>>,
        out: &mut ItemEmitter<'_>,
    ) -> &mut Part {
        let (list, place) = (&self.list, self.told.len());
        let open = || Part::open(list.clone(), place, given, heard, out);
        self.told.entry(index).or_insert_with(open)
    }
}
