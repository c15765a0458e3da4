//! What clients were told of an open item.

use super::super::emitter::ItemEmitter;
use super::super::heard::Heard;
use super::super::vocabulary::{
    CONTENT, Meaning, OUTPUT_TEXT, PartList, SUMMARY, TextKind, speaks_in_parts,
};
use super::parts::Parts;
use super::text::{Text, held_in};
use crate::item::{Item, Kind};
use crate::json::Object;

/// The parts and the text of an open item as far as they were told. So an item can be closed with
/// all that was said when nothing more comes, and what an upstream leaves out of an item's events
/// is told before the item ends.
#[derive(Debug)]
pub(super) struct Told {
    summary: Parts,
    content: Parts,
    /// The text that is a field of the item itself: arguments, input, code.
    text: Option<Text>,
}

impl Told {
    /// Nothing yet, of an item of this kind.
    pub(super) fn nothing(kind: &Kind) -> Self {
        Self {
            summary: Parts::new(&SUMMARY, kind),
            content: Parts::new(&CONTENT, kind),
            text: None,
        }
    }

    /// Takes an event of the item and passes it on, with what has to come before it.
    pub(super) fn hear(&mut self, heard: &Heard<'_>, out: &mut ItemEmitter<'_>) {
        match heard.meaning {
            Meaning::PartAdded(list) => self.parts(list).hear_added(heard, out),
            Meaning::PartDone(list) => self.parts(list).hear_done(heard, out),
            Meaning::Delta(kind) => {
                if let Some(text) = self.text(kind, heard, out) {
                    text.add(heard, out);
                }
            }
            Meaning::TextDone(kind) => {
                if let Some(text) = self.text(kind, heard, out) {
                    let whole = heard.text(kind.field).unwrap_or_default();
                    let logprobs = heard.object.present("logprobs").unwrap_or("[]");
                    text.end(whole, logprobs, Some(heard), out);
                }
            }
            Meaning::Annotation => {
                let shape = OUTPUT_TEXT.part.expect("output text is in a part");
                self.content.annotate(shape, heard, out);
            }
            Meaning::Other => out.pass(heard, &[]),
        }
    }

    /// About how many bytes are kept of it.
    pub(super) fn length(&self) -> usize {
        let text = self.text.as_ref().map_or(0, Text::length);
        text + self.content.length() + self.summary.length()
    }

    /// Whether nothing was said.
    pub(super) fn is_silent(&self) -> bool {
        let text = self.text.as_ref().map_or("", Text::said);
        text.is_empty() && !self.content.have_spoken() && !self.summary.have_spoken()
    }

    /// Whether what was said can be the beginning of this item.
    pub(super) fn leads_to(&self, item: &Item) -> bool {
        let item = item.object();
        let parts_lead = |parts: &Parts| parts.lead_to(&parts.given(&item));
        let text_leads = |text: &Text| text.leads_to(&held_in(&item, text.kind()));
        parts_lead(&self.content)
            && parts_lead(&self.summary)
            && self.text.as_ref().is_none_or(text_leads)
    }

    /// Tells what is missing of the finished item. Gives it back with all that was said, where the
    /// item itself says less.
    pub(super) fn end(&mut self, item: Item, out: &mut ItemEmitter<'_>) -> Item {
        let object = item.object();
        let has_parts = |parts: &Parts| speaks_in_parts(&item.head().kind) || !parts.is_empty();
        let mut fuller: Vec<(&'static str, String)> = Vec::new();
        for parts in [&mut self.summary, &mut self.content] {
            if has_parts(parts) {
                let key = parts.key();
                let list = parts.end(&parts.given(&object), out);
                fuller.extend(list.map(|list| (key, list)));
            }
        }
        fuller.extend(self.end_text(&item, &object, out));
        if fuller.is_empty() {
            return item;
        }
        item.with(|object| fuller.into_iter().for_each(|(key, raw)| object.set(key, raw)))
    }

    fn end_text(
        &mut self,
        item: &Item,
        object: &Object<'_>,
        out: &mut ItemEmitter<'_>,
    ) -> Option<(&'static str, String)> {
        let told = self.text.as_ref().map(Text::kind);
        let kind = told.or_else(|| TextKind::of_item(&item.head().kind))?;
        let text = self.text.get_or_insert_with(|| Text::new(kind, None));
        let whole = held_in(object, kind);
        text.end(&whole, "[]", None, out);
        let raw = text.settled(&whole);
        (object.get(kind.field) != Some(&raw)).then_some((kind.field, raw))
    }

    fn parts(&mut self, list: &'static PartList) -> &mut Parts {
        if list.key == SUMMARY.key { &mut self.summary } else { &mut self.content }
    }

    fn text(
        &mut self,
        kind: &'static TextKind,
        heard: &Heard<'_>,
        out: &mut ItemEmitter<'_>,
    ) -> Option<&mut Text> {
        if let Some(shape) = kind.part {
            return self.parts(shape.list).text(kind, shape, heard, out);
        }
        let text = self.text.get_or_insert_with(|| Text::new(kind, None));
        text.takes(kind).then_some(text)
    }
}
