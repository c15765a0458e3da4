//! Writes answers of the Chat Completions API: the stream of chunks, and the whole completion.
//!
//! Sources: OpenAI's reference of the chat completion object and of its chunks; the stream readers
//! of its Python and Node clients; OpenRouter's documentation of `reasoning_details`. Mapping:
//!
//! | output item | in the message |
//! |---|---|
//! | message | `content`, `refusal`, `annotations`; a blank line separates two messages |
//! | reasoning | its text as `reasoning_content`; its sealed form in `reasoning_details` |
//! | function call, custom tool call | an entry of `tool_calls` |
//! | any other | nothing |

mod calls;
mod chunk;
mod ending;
mod fold;
mod item;
mod logprobs;
mod reasoning;
#[cfg(test)]
mod tests;
mod text_queue;

pub(in crate::dialect) use self::fold::left_out;

use self::calls::CallEntries;
use self::chunk::{ChunkHead, Delta, TextField};
use self::ending::Outcome;
use self::item::OutputItem;
use self::reasoning::Sealed;
use self::text_queue::{Piece, TextQueue};
use crate::json::Object;
use crate::stream::Event;
use crate::transcript::Origin;

/// Writes the chunks of the Chat Completions API. Its events have no type.
///
/// ```text
///   role ──> texts, reasoning and calls ──> finish_reason ──> usage
///                                      └──> error
/// ```
///
/// Guarantees:
/// - All chunks have the same `id`, `created` and `model`.
/// - Text deltas are forwarded unchanged. Texts of one field do not interleave: the text of a later
///   item is held until the earlier items end.
/// - The entries of `tool_calls` count from 0 without gaps, and their ids are unique. The deltas of
///   several calls may interleave.
/// - A failed response ends with `{"error": {…}}`, without `[DONE]`. OpenAI's clients raise an
///   exception and stop reading.
pub struct ChatWriter {
    options: Options,
    /// The server whose encrypted reasoning is sealed.
    origin: Option<Origin>,
    state: State,
    head: ChunkHead,
    /// The output items, by their index.
    items: Vec<OutputItem>,
    calls: CallEntries,
    /// Number of entries of `reasoning_details` so far.
    details: usize,
    content: TextQueue,
    refusal: TextQueue,
    reasoning: TextQueue,
    events: Vec<Event>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// No chunk has been written.
    Pending,
    Open,
    /// The stream has ended with an error.
    Failed,
}

/// The parts of an answer that depend on the request.
#[derive(Clone, Copy, Debug)]
struct Options {
    /// Whether the stream ends with a chunk with the usage.
    includes_usage: bool,
    /// Whether the request has the deprecated `functions`, so that a call is a `function_call`. An
    /// answer has at most one.
    is_legacy: bool,
}

impl ChatWriter {
    /// A writer of an answer of `origin` to a client's request.
    pub(in crate::dialect) fn new(request: &Object<'_>, origin: Origin) -> Self {
        let stream_options = request.object("stream_options").unwrap_or_default();
        let options = Options {
            includes_usage: stream_options.is_true("include_usage"),
            is_legacy: request.present("functions").is_some() && request.present("tools").is_none(),
        };
        Self::with_options(options, Some(origin))
    }

    /// A writer of the answer to an unknown request: its stream contains the usage.
    pub(in crate::dialect) fn with_usage() -> Self {
        Self::with_options(Options { includes_usage: true, is_legacy: false }, None)
    }

    fn with_options(options: Options, origin: Option<Origin>) -> Self {
        Self {
            options,
            origin,
            state: State::Pending,
            head: ChunkHead::default(),
            items: Vec::new(),
            calls: CallEntries::default(),
            details: 0,
            content: TextQueue::default(),
            refusal: TextQueue::default(),
            reasoning: TextQueue::default(),
            events: Vec::new(),
        }
    }

    /// Whether the stream has ended with an error.
    pub(in crate::dialect) fn has_failed(&self) -> bool {
        self.state == State::Failed
    }

    pub(in crate::dialect) fn event(&mut self, event: &Event) -> Vec<Event> {
        if let Ok(fields) = Object::parse(&event.data) {
            match &*event.kind {
                "response.created" => self.begin(&fields.object("response").unwrap_or_default()),
                "response.output_item.added" => self.announce(&fields),
                kind => self.within_item(kind, &fields),
            }
        }
        std::mem::take(&mut self.events)
    }

    pub(in crate::dialect) fn end(&mut self, response: &Object<'_>) -> Vec<Event> {
        match Outcome::from_response(response) {
            Outcome::Failed { error } => {
                self.state = State::Failed;
                self.push_event(error);
            }
            Outcome::Finished { reason } => {
                self.begin(response);
                (0..self.items.len()).for_each(|at| self.end_texts(at));
                self.finish(reason, response);
            }
        }
        std::mem::take(&mut self.events)
    }

    pub(in crate::dialect) fn fold(&self, response: &Object<'_>) -> String {
        fold::fold(response, self.options, self.origin.as_ref())
    }

    /// Writes the first chunk, unless it has been written.
    fn begin(&mut self, response: &Object<'_>) {
        if self.state == State::Pending {
            self.state = State::Open;
            self.head = ChunkHead::from_response(response, self.options.includes_usage);
            self.write(&Delta::Role);
        }
    }

    fn finish(&mut self, reason: &'static str, response: &Object<'_>) {
        let annotations = fold::annotations(response);
        if !annotations.is_empty() {
            self.write(&Delta::Annotations(&annotations));
        }
        let reason = if self.options.is_legacy { ending::legacy_reason(reason) } else { reason };
        self.push_event(self.head.last_chunk(reason, response.present("service_tier")));
        let usage = response.object("usage").map(|usage| ending::usage_json(&usage));
        if let Some(usage) = usage.filter(|_| self.options.includes_usage) {
            self.push_event(self.head.usage_chunk(&usage));
        }
    }

    fn announce(&mut self, event: &Object<'_>) {
        let item = event.object("item").unwrap_or_default();
        let begun = OutputItem::new(&item, &mut self.calls, self.options);
        self.items.push(begun);
        self.content.begin(begun == OutputItem::Message);
        self.refusal.begin(begun == OutputItem::Message);
        self.reasoning.begin(begun == OutputItem::Reasoning);
        if let OutputItem::Call(entry) = begun {
            let beginning = self.calls.beginning(entry, &item);
            self.write(&Delta::Call(&beginning));
        }
    }

    fn within_item(&mut self, kind: &str, event: &Object<'_>) {
        let at = event.get("output_index").and_then(|raw| raw.parse::<usize>().ok());
        let Some((at, item)) = at.and_then(|at| Some((at, *self.items.get(at)?))) else {
            return;
        };
        if kind == "response.output_item.done" {
            self.end_texts(at);
            if item == OutputItem::Reasoning {
                self.write_sealed(&event.object("item").unwrap_or_default());
            }
            return;
        }
        let Some(raw) = event.get("delta").filter(|raw| raw.len() > 2) else { return };
        if let Some(fragment) = item.fragment(kind, raw) {
            self.write(&Delta::Call(&fragment));
        } else if let Some((field, piece)) = item.piece(kind, event, raw) {
            self.write_text(field, at, piece);
        }
    }

    fn write_text(&mut self, field: TextField, at: usize, piece: Piece<'_>) {
        if let Some(piece) = self.queue(field).push(at, piece) {
            self.write(&Delta::Text(field, &piece));
        }
    }

    /// Ends the texts of the item at this index, and writes the held texts of the next items.
    fn end_texts(&mut self, at: usize) {
        for field in [TextField::Reasoning, TextField::Content, TextField::Refusal] {
            for piece in self.queue(field).end(at) {
                self.write(&Delta::Text(field, &piece));
            }
        }
    }

    fn queue(&mut self, field: TextField) -> &mut TextQueue {
        match field {
            TextField::Content => &mut self.content,
            TextField::Refusal => &mut self.refusal,
            TextField::Reasoning => &mut self.reasoning,
        }
    }

    /// Writes the sealed form of reasoning, which the client returns with its next request.
    fn write_sealed(&mut self, reasoning: &Object<'_>) {
        let sealed = Sealed::from_item(reasoning, self.origin.as_ref(), self.details);
        self.details += sealed.details.len();
        if !sealed.details.is_empty() {
            self.write(&Delta::Details(&sealed.details));
        }
        for (call_id, extra) in sealed.extras {
            if let Some(fragment) = self.calls.add_extra(call_id, extra) {
                self.write(&Delta::Call(&fragment));
            }
        }
    }

    fn write(&mut self, delta: &Delta<'_>) {
        self.events.push(self.head.chunk(delta));
    }

    fn push_event(&mut self, data: String) {
        self.events.push(chunk::event(data));
    }
}
