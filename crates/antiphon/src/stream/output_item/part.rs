//! The state of one part of an item.

use super::super::emitter::ItemEmitter;
use super::super::upstream_event::UpstreamEvent;
use super::super::vocabulary::{PartList, TextKind};
use super::text::Text;
use super::upstream_part::UpstreamPart;
use crate::item::Kind;

/// A list of parts of an item of kind `item_kind`.
#[derive(Clone, Debug)]
pub(super) struct List {
    pub(super) events: &'static PartList,
    pub(super) item_kind: Kind,
}

/// One part, with its content emitted so far.
///
/// ```text
///   Open ── text, annotations ──> Open ── close ──> Closed
/// ```
#[derive(Debug)]
pub(super) struct Part {
    list: List,
    index: String,
    /// The upstream's part at the start, raw.
    opened: String,
    text: Option<Text>,
    annotations: Vec<String>,
    is_closed: bool,
}

impl Part {
    /// Opens the part `upstream`. Its text is not emitted yet.
    pub(super) fn open(
        list: List,
        index: usize,
        upstream: &UpstreamPart<'_>,
        event: Option<&UpstreamEvent<'_>>,
        out: &mut ItemEmitter<'_>,
    ) -> Self {
        let event_type = list.events.added;
        let mut part = Self {
            list,
            index: index.to_string(),
            opened: upstream.raw().to_owned(),
            text: None,
            annotations: Vec::new(),
            is_closed: false,
        };
        if let Some(kind) = upstream.kind {
            part.text_or_insert(kind);
        }
        part.emit(event_type, upstream.clone().without_content().raw(), event, out);
        part
    }

    /// The text, if it is of this kind.
    pub(super) fn text_of(&mut self, kind: &'static TextKind) -> Option<&mut Text> {
        let text = self.text_or_insert(kind);
        text.takes(kind).then_some(text)
    }

    /// Adds an annotation to its text and forwards it.
    pub(super) fn annotate(&mut self, event: &UpstreamEvent<'_>, out: &mut ItemEmitter<'_>) {
        if let Some(annotation) = event.object.get("annotation").filter(|_| !self.is_closed) {
            self.annotations.push(annotation.to_owned());
            out.forward(event, &[(self.list.events.index, &self.index)]);
        }
    }

    /// Closes the part, with the upstream's final version if there is one. Emits the missing text
    /// and annotations first.
    pub(super) fn close(
        &mut self,
        upstream: Option<&UpstreamPart<'_>>,
        event: Option<&UpstreamEvent<'_>>,
        out: &mut ItemEmitter<'_>,
    ) {
        if self.is_closed {
            return;
        }
        self.is_closed = true;
        let opened = self.opened.clone();
        let upstream = upstream.filter(|upstream| !self.has_other_type(upstream));
        match upstream {
            Some(upstream) => self.emit_rest(upstream, out),
            None => self.emit_rest(&parse_opened(&opened, &self.list), out),
        }
        self.emit(self.list.events.done, &self.to_json(upstream), event, out);
    }

    /// The part with its content, raw: the upstream's final version if there is one.
    pub(super) fn to_json(&self, upstream: Option<&UpstreamPart<'_>>) -> String {
        match upstream {
            Some(upstream) => {
                self.with_emitted_text(upstream).unwrap_or_else(|| upstream.raw().to_owned())
            }
            None => self.as_emitted(),
        }
    }

    /// Approximate number of bytes held in memory.
    pub(super) fn length(&self) -> usize {
        let text = self.text.as_ref().map_or(0, Text::length);
        text + self.opened.len() + self.annotations.iter().map(String::len).sum::<usize>()
    }

    /// Whether the text so far can be the beginning of this part.
    pub(super) fn is_prefix_of(&self, upstream: &UpstreamPart<'_>) -> bool {
        self.text.as_ref().is_none_or(|text| {
            let continues = || text.is_prefix_of(upstream.text(text.kind()));
            text.text().is_empty() || !self.has_other_type(upstream) && continues()
        })
    }

    /// Whether it has content. A part without a text counts as content.
    pub(super) fn has_content(&self) -> bool {
        self.text.as_ref().is_none_or(|text| !text.text().is_empty())
    }

    /// Whether the upstream's part has another type than this one.
    fn has_other_type(&self, upstream: &UpstreamPart<'_>) -> bool {
        let own = self.text.as_ref().map(Text::kind);
        own.zip(upstream.kind).is_some_and(|(own, upstream)| !own.is_in_the_same_part_as(upstream))
    }

    /// Emits the rest of the text and the missing annotations.
    fn emit_rest(&mut self, upstream: &UpstreamPart<'_>, out: &mut ItemEmitter<'_>) {
        if let Some(text) = &mut self.text {
            text.end(upstream.text(text.kind()), upstream.logprobs(), None, out);
        }
        for annotation in upstream.annotations().into_iter().skip(self.annotations.len()) {
            let number = self.annotations.len().to_string();
            let fields = [
                (self.list.events.index, self.index.as_str()),
                ("annotation_index", &number),
                ("annotation", annotation),
            ];
            out.emit("response.output_text.annotation.added", &fields);
            self.annotations.push(annotation.to_owned());
        }
    }

    /// `upstream` with the emitted text, if its own is empty; `None` otherwise.
    fn with_emitted_text(&self, upstream: &UpstreamPart<'_>) -> Option<String> {
        let text = self.text.as_ref().filter(|text| !text.text().is_empty())?;
        let is_empty = upstream.text(text.kind()).is_empty() && !self.has_other_type(upstream);
        is_empty.then(|| upstream.clone().with(text.kind().field, text.raw()).raw().to_owned())
    }

    fn as_emitted(&self) -> String {
        let mut part = parse_opened(&self.opened, &self.list);
        if let Some(text) = &self.text {
            part = part.with(text.kind().field, text.raw());
            if let Some(logprobs) = text.logprobs() {
                part = part.with("logprobs", logprobs);
            }
        }
        if !self.annotations.is_empty() {
            part = part.with("annotations", format!("[{}]", self.annotations.join(",")));
        }
        part.raw().to_owned()
    }

    fn text_or_insert(&mut self, kind: &'static TextKind) -> &mut Text {
        let (key, index) = (self.list.events.index, &self.index);
        self.text.get_or_insert_with(|| Text::new(kind, Some((key, index.clone()))))
    }

    fn emit(
        &self,
        event_type: &'static str,
        part: &str,
        event: Option<&UpstreamEvent<'_>>,
        out: &mut ItemEmitter<'_>,
    ) {
        let fields = [(self.list.events.index, self.index.as_str()), ("part", part)];
        match event {
            Some(event) => out.forward(event, &fields),
            None => out.emit(event_type, &fields),
        }
    }
}

fn parse_opened<'a>(opened: &'a str, list: &List) -> UpstreamPart<'a> {
    UpstreamPart::parse(opened, &list.item_kind).expect("a part was opened from an object")
}
