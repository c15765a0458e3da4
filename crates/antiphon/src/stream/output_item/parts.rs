//! The parts of an item's content or summary.

use std::collections::BTreeMap;

use super::super::emitter::ItemEmitter;
use super::super::upstream_event::UpstreamEvent;
use super::super::vocabulary::{PartList, PartShape, TextKind};
use super::part::{List, Part};
use super::text::Text;
use super::upstream_part::UpstreamPart;
use crate::item::Kind;
use crate::json::Object;

/// The parts of one list, by the upstream's index. Clients get the order in which the parts were
/// opened as their indexes.
#[derive(Debug)]
pub(super) struct Parts {
    list: List,
    /// In boxes, because a node of the map has room for eleven.
    parts: BTreeMap<u64, Box<Part>>,
}

impl Parts {
    pub(super) fn new(list: &'static PartList, item_kind: &Kind) -> Self {
        let list = List { events: list, item_kind: item_kind.clone() };
        Self { list, parts: BTreeMap::new() }
    }

    /// The item's field.
    pub(super) fn key(&self) -> &'static str {
        self.list.events.key
    }

    /// The parts of an item of the upstream.
    pub(super) fn upstream_parts<'a>(&self, item: &'a Object<'_>) -> Vec<UpstreamPart<'a>> {
        UpstreamPart::list(item.get(self.key()), &self.list.item_kind)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// Approximate number of bytes held in memory.
    pub(super) fn length(&self) -> usize {
        self.parts.values().map(|part| part.length()).sum()
    }

    /// Whether any part has content.
    pub(super) fn have_content(&self) -> bool {
        self.parts.values().any(|part| part.has_content())
    }

    /// Opens a part, unless it is open already.
    pub(super) fn apply_added(&mut self, event: &UpstreamEvent<'_>, out: &mut ItemEmitter<'_>) {
        if let Some(upstream) = self.upstream_part_in(event) {
            self.part(self.index(event), &upstream, Some(event), out);
        }
    }

    /// Closes a part.
    pub(super) fn apply_done(&mut self, event: &UpstreamEvent<'_>, out: &mut ItemEmitter<'_>) {
        if let Some(upstream) = self.upstream_part_in(event) {
            let part = self.part(self.index(event), &upstream, None, out);
            part.close(Some(&upstream), Some(event), out);
        }
    }

    /// The text of a text event, in a part that is opened if necessary.
    pub(super) fn text(
        &mut self,
        kind: &'static TextKind,
        shape: PartShape,
        event: &UpstreamEvent<'_>,
        out: &mut ItemEmitter<'_>,
    ) -> Option<&mut Text> {
        self.shape(shape, event, out).text_of(kind)
    }

    /// Adds an annotation to the text of a part of this shape.
    pub(super) fn annotate(
        &mut self,
        shape: PartShape,
        event: &UpstreamEvent<'_>,
        out: &mut ItemEmitter<'_>,
    ) {
        self.shape(shape, event, out).annotate(event, out);
    }

    /// Whether the content so far can be the beginning of these parts.
    pub(super) fn are_prefixes_of(&self, upstream: &[UpstreamPart<'_>]) -> bool {
        upstream.is_empty()
            || self.parts.values().zip(upstream).all(|(part, upstream)| part.is_prefix_of(upstream))
    }

    /// Emits the missing content of the finished item's parts and closes all parts. Returns the
    /// corrected list, raw, if it differs from the item's own.
    pub(super) fn end(
        &mut self,
        upstream: &[UpstreamPart<'_>],
        out: &mut ItemEmitter<'_>,
    ) -> Option<String> {
        // Nothing was emitted that could differ from the upstream's parts.
        if out.emitter.is_silent && self.parts.is_empty() {
            let is_unchanged = upstream.iter().all(UpstreamPart::is_as_it_came);
            return (!is_unchanged).then(|| list_of(upstream.iter().map(UpstreamPart::raw)));
        }
        let mut parts = Vec::with_capacity(upstream.len());
        for (index, upstream) in self.indexes_of(upstream.len()).into_iter().zip(upstream) {
            let part = self.part(index, upstream, None, out);
            part.close(Some(upstream), None, out);
            parts.push(part.to_json(Some(upstream)));
        }
        for part in self.parts.values_mut() {
            part.close(None, None, out);
        }
        if upstream.is_empty() {
            parts.extend(self.parts.values().map(|part| part.to_json(None)));
        }
        let is_unchanged = upstream.iter().all(UpstreamPart::is_as_it_came)
            && parts.iter().eq(upstream.iter().map(UpstreamPart::raw));
        (!is_unchanged).then(|| list_of(parts.iter().map(String::as_str)))
    }

    /// The index at which each of `count` finished parts was emitted. If the upstream's indexes
    /// have gaps, the order decides.
    fn indexes_of(&self, count: usize) -> Vec<u64> {
        if self.parts.len() == count {
            return self.parts.keys().copied().collect();
        }
        (0..).take(count).collect()
    }

    fn upstream_part_in<'a>(&self, event: &UpstreamEvent<'a>) -> Option<UpstreamPart<'a>> {
        UpstreamPart::parse(event.object.get("part")?, &self.list.item_kind)
    }

    fn index(&self, event: &UpstreamEvent<'_>) -> u64 {
        event.number(self.list.events.index).unwrap_or(0)
    }

    fn shape(
        &mut self,
        shape: PartShape,
        event: &UpstreamEvent<'_>,
        out: &mut ItemEmitter<'_>,
    ) -> &mut Part {
        let index = self.index(event);
        if !self.parts.contains_key(&index) {
            let empty = UpstreamPart::parse(shape.empty, &self.list.item_kind)
                .expect("the shapes are objects");
            self.part(index, &empty, None, out);
        }
        self.parts.get_mut(&index).expect("it was opened")
    }

    /// The part at this index; opens `upstream` if there is none.
    fn part(
        &mut self,
        index: u64,
        upstream: &UpstreamPart<'_>,
        event: Option<&UpstreamEvent<'_>>,
        out: &mut ItemEmitter<'_>,
    ) -> &mut Part {
        let (list, place) = (&self.list, self.parts.len());
        let open = || Box::new(Part::open(list.clone(), place, upstream, event, out));
        self.parts.entry(index).or_insert_with(open)
    }
}

/// A list of raw values.
fn list_of<'a>(values: impl Iterator<Item = &'a str>) -> String {
    format!("[{}]", values.collect::<Vec<_>>().join(","))
}
