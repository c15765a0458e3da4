//! One part of an item.

use super::super::emitter::ItemEmitter;
use super::super::heard::Heard;
use super::super::vocabulary::{PartList, TextKind};
use super::given::Given;
use super::text::Text;
use crate::item::Kind;

/// A list of parts, in an item of this kind.
#[derive(Clone, Debug)]
pub(super) struct List {
    pub(super) events: &'static PartList,
    pub(super) speaker: Kind,
}

/// One part as far as it was told.
///
/// ```text
///   Open ── text, annotations ──> Open ── close ──> Closed
/// ```
#[derive(Debug)]
pub(super) struct Part {
    list: List,
    index: String,
    /// As the upstream gave it when it was opened, raw.
    opened: String,
    text: Option<Text>,
    annotations: Vec<String>,
    is_closed: bool,
}

impl Part {
    /// Opens a part that the upstream gives so. Its text is still to be told.
    pub(super) fn open(
        list: List,
        index: usize,
        given: &Given<'_>,
        heard: Option<&Heard<'_>>,
        out: &mut ItemEmitter<'_>,
    ) -> Self {
        let event = list.events.added;
        let mut part = Self {
            list,
            index: index.to_string(),
            opened: given.raw().to_owned(),
            text: None,
            annotations: Vec::new(),
            is_closed: false,
        };
        if let Some(kind) = given.kind {
            part.text_or(kind);
        }
        part.tell(event, given.clone().emptied().raw(), heard, out);
        part
    }

    /// Its text, if it is of this kind.
    pub(super) fn text_of(&mut self, kind: &'static TextKind) -> Option<&mut Text> {
        let text = self.text_or(kind);
        text.takes(kind).then_some(text)
    }

    /// Takes a note on its text and passes it on.
    pub(super) fn annotate(&mut self, heard: &Heard<'_>, out: &mut ItemEmitter<'_>) {
        if let Some(annotation) = heard.object.get("annotation").filter(|_| !self.is_closed) {
            self.annotations.push(annotation.to_owned());
            out.pass(heard, &[(self.list.events.index, &self.index)]);
        }
    }

    /// Closes it, as `given` where the upstream gives it whole: tells what is missing of it before.
    pub(super) fn close(
        &mut self,
        given: Option<&Given<'_>>,
        heard: Option<&Heard<'_>>,
        out: &mut ItemEmitter<'_>,
    ) {
        if self.is_closed {
            return;
        }
        self.is_closed = true;
        let opened = self.opened.clone();
        let given = given.filter(|given| !self.is_other_than(given));
        match given {
            Some(given) => self.tell_rest(given, out),
            None => self.tell_rest(&as_given(&opened, &self.list), out),
        }
        self.tell(self.list.events.done, &self.shown(given), heard, out);
    }

    /// The part with what was said in it, raw: as `given`, else as it was opened.
    pub(super) fn shown(&self, given: Option<&Given<'_>>) -> String {
        match given {
            Some(given) => self.fuller_than(given).unwrap_or_else(|| given.raw().to_owned()),
            None => self.as_told(),
        }
    }

    /// About how many bytes are kept of it.
    pub(super) fn length(&self) -> usize {
        let text = self.text.as_ref().map_or(0, Text::length);
        text + self.opened.len() + self.annotations.iter().map(String::len).sum::<usize>()
    }

    /// Whether what was said can be the beginning of this part.
    pub(super) fn leads_to(&self, given: &Given<'_>) -> bool {
        self.text.as_ref().is_none_or(|text| {
            let leads = || text.leads_to(given.text(text.kind()));
            text.said().is_empty() || !self.is_other_than(given) && leads()
        })
    }

    /// Whether anything was said in it. A part that holds no text says something as it is.
    pub(super) fn has_spoken(&self) -> bool {
        self.text.as_ref().is_none_or(|text| !text.said().is_empty())
    }

    /// Whether the upstream gives a part of another type than the one that was told.
    fn is_other_than(&self, given: &Given<'_>) -> bool {
        let told = self.text.as_ref().map(Text::kind);
        told.zip(given.kind).is_some_and(|(told, given)| !told.is_in_the_same_part_as(given))
    }

    /// Tells the rest of the text, and the annotations that were not told yet.
    fn tell_rest(&mut self, given: &Given<'_>, out: &mut ItemEmitter<'_>) {
        if let Some(text) = &mut self.text {
            text.end(given.text(text.kind()), given.logprobs(), None, out);
        }
        for annotation in given.annotations().into_iter().skip(self.annotations.len()) {
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

    /// `given` with the text that was told, where it says nothing itself.
    fn fuller_than(&self, given: &Given<'_>) -> Option<String> {
        let text = self.text.as_ref().filter(|text| !text.said().is_empty())?;
        let says_less = given.text(text.kind()).is_empty() && !self.is_other_than(given);
        says_less.then(|| given.clone().with(text.kind().field, text.raw()).raw().to_owned())
    }

    fn as_told(&self) -> String {
        let mut part = as_given(&self.opened, &self.list);
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

    fn text_or(&mut self, kind: &'static TextKind) -> &mut Text {
        let (key, index) = (self.list.events.index, &self.index);
        self.text.get_or_insert_with(|| Text::new(kind, Some((key, index.clone()))))
    }

    fn tell(
        &self,
        event: &'static str,
        part: &str,
        heard: Option<&Heard<'_>>,
        out: &mut ItemEmitter<'_>,
    ) {
        let fields = [(self.list.events.index, self.index.as_str()), ("part", part)];
        match heard {
            Some(heard) => out.pass(heard, &fields),
            None => out.emit(event, &fields),
        }
    }
}

fn as_given<'a>(opened: &'a str, list: &List) -> Given<'a> {
    Given::parse(opened, &list.speaker).expect("a part was opened from an object")
}
