//! The content of an open item, as emitted so far.

use super::super::emitter::ItemEmitter;
use super::super::upstream_event::UpstreamEvent;
use super::super::vocabulary::{
    CONTENT, Meaning, OUTPUT_TEXT, PartList, SUMMARY, TextKind, holds_parts,
};
use super::parts::Parts;
use super::text::{Text, text_in};
use crate::item::{Item, Kind};
use crate::json::Object;

/// The parts and the text of an open item, as emitted so far.
///
/// If no more events come, the item is closed with this content. If the upstream omits part of an
/// item's events, the missing part is emitted before the item ends.
#[derive(Debug)]
pub(super) struct EmittedContent {
    summary: Parts,
    content: Parts,
    /// A text in a field of the item itself: arguments, input, code.
    text: Option<Text>,
}

impl EmittedContent {
    /// The empty content of an item of this kind.
    pub(super) fn new(kind: &Kind) -> Self {
        Self {
            summary: Parts::new(&SUMMARY, kind),
            content: Parts::new(&CONTENT, kind),
            text: None,
        }
    }

    /// Applies an event of the item and forwards it, after the events that must precede it.
    pub(super) fn apply(&mut self, event: &UpstreamEvent<'_>, out: &mut ItemEmitter<'_>) {
        match event.meaning {
            Meaning::PartAdded(list) => self.parts(list).apply_added(event, out),
            Meaning::PartDone(list) => self.parts(list).apply_done(event, out),
            Meaning::Delta(kind) => {
                if let Some(text) = self.text(kind, event, out) {
                    text.add(event, out);
                }
            }
            Meaning::TextDone(kind) => {
                if let Some(text) = self.text(kind, event, out) {
                    let whole = event.text(kind.field).unwrap_or_default();
                    let logprobs = event.object.present("logprobs").unwrap_or("[]");
                    text.end(whole, logprobs, Some(event), out);
                }
            }
            Meaning::Annotation => {
                let shape = OUTPUT_TEXT.part.expect("output text is in a part");
                self.content.annotate(shape, event, out);
            }
            Meaning::Other => out.forward(event, &[]),
        }
    }

    /// Approximate number of bytes held in memory.
    pub(super) fn length(&self) -> usize {
        let text = self.text.as_ref().map_or(0, Text::length);
        text + self.content.length() + self.summary.length()
    }

    /// Whether there is no content yet.
    pub(super) fn has_no_content(&self) -> bool {
        let text = self.text.as_ref().map_or("", Text::text);
        text.is_empty() && !self.content.have_content() && !self.summary.have_content()
    }

    /// Whether the content so far can be the beginning of this item.
    pub(super) fn is_prefix_of(&self, item: &Item) -> bool {
        let item = item.object();
        let parts_match = |parts: &Parts| parts.are_prefixes_of(&parts.upstream_parts(&item));
        let text_matches = |text: &Text| text.is_prefix_of(&text_in(&item, text.kind()));
        parts_match(&self.content)
            && parts_match(&self.summary)
            && self.text.as_ref().is_none_or(text_matches)
    }

    /// Emits the missing content of the finished item. Returns the item, with the emitted content
    /// added if the upstream's final version omits it.
    pub(super) fn end(&mut self, item: Item, out: &mut ItemEmitter<'_>) -> Item {
        let object = item.object();
        let has_parts = |parts: &Parts| holds_parts(&item.head().kind) || !parts.is_empty();
        let mut changed: Vec<(&'static str, String)> = Vec::new();
        for parts in [&mut self.summary, &mut self.content] {
            if has_parts(parts) {
                let key = parts.key();
                let list = parts.end(&parts.upstream_parts(&object), out);
                changed.extend(list.map(|list| (key, list)));
            }
        }
        changed.extend(self.end_text(&item, &object, out));
        if changed.is_empty() {
            return item;
        }
        item.with(|object| changed.into_iter().for_each(|(key, raw)| object.set(key, raw)))
    }

    fn end_text(
        &mut self,
        item: &Item,
        object: &Object<'_>,
        out: &mut ItemEmitter<'_>,
    ) -> Option<(&'static str, String)> {
        let own = self.text.as_ref().map(Text::kind);
        let kind = own.or_else(|| TextKind::for_item(&item.head().kind))?;
        let text = self.text.get_or_insert_with(|| Text::new(kind, None));
        let whole = text_in(object, kind);
        text.end(&whole, "[]", None, out);
        let raw = text.final_json(&whole);
        (object.get(kind.field) != Some(&raw)).then_some((kind.field, raw))
    }

    fn parts(&mut self, list: &'static PartList) -> &mut Parts {
        if list.key == SUMMARY.key { &mut self.summary } else { &mut self.content }
    }

    fn text(
        &mut self,
        kind: &'static TextKind,
        event: &UpstreamEvent<'_>,
        out: &mut ItemEmitter<'_>,
    ) -> Option<&mut Text> {
        if let Some(shape) = kind.part {
            return self.parts(shape.list).text(kind, shape, event, out);
        }
        let text = self.text.get_or_insert_with(|| Text::new(kind, None));
        text.takes(kind).then_some(text)
    }
}
