//! Writes answers of the Gemini API: the stream of chunks, and the whole answer.
//!
//! Mapping:
//!
//! | output item | parts |
//! |---|---|
//! | message | `text`; a refusal becomes text too |
//! | reasoning | `text` with `thought`, if the client asks for it |
//! | encrypted reasoning | the `thoughtSignature` of the next part |
//! | function call, custom tool call | `functionCall` with its id |
//! | any other | nothing |

mod ending;
mod parts;
mod piece_queue;
#[cfg(test)]
mod tests;

pub use self::ending::Rejection;
use self::ending::{Outcome, usage_json};
use self::parts::PartWriter;
use self::piece_queue::{Piece, PieceQueue};
use crate::dialect::item_form::ItemForm;
use crate::json::{Object, quote};
use crate::stream::{Event, Finished, Note};
use crate::transcript::Origin;

/// The separator between two parts of reasoning, as a raw JSON string.
const BETWEEN_PARTS: &str = r#""\n\n""#;

/// Writes the chunks of the Gemini API. Each is a `GenerateContentResponse`.
///
/// ```text
///   chunk with parts ──> … ──> chunk with finishReason and usageMetadata
///                         └──> error
/// ```
///
/// Guarantees:
/// - All chunks have the same `responseId` and `modelVersion`.
/// - Parts are in the order of the output: those of a later item are held until the earlier items
///   end. Text deltas are forwarded unchanged; held ones are merged.
/// - A function call is one part, with its complete arguments. Ids are unique.
/// - A failed response ends with `{"error": {…}}`, for which Google's SDKs raise an exception.
pub struct GeminiWriter {
    parts: PartWriter,
    queue: PieceQueue,
    items: Vec<OutputItem>,
    head: String,
    includes_thoughts: bool,
    origin: Origin,
    events: Vec<Event>,
}

/// An output item, by its parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OutputItem {
    Message,
    /// `part` is the part of the last delta.
    Reasoning {
        part: Option<(bool, usize)>,
    },
    Call,
    Omitted,
}

impl OutputItem {
    fn new(item: &Object<'_>) -> Self {
        match ItemForm::from_object(item) {
            ItemForm::Message => Self::Message,
            ItemForm::Reasoning => Self::Reasoning { part: None },
            ItemForm::FunctionCall | ItemForm::CustomCall => Self::Call,
            ItemForm::Output
            | ItemForm::ProviderRecord
            | ItemForm::Extension
            | ItemForm::Unsupported => Self::Omitted,
        }
    }
}

/// Notes for the output items that the Gemini API has no part for.
pub(in crate::dialect) fn left_out(finished: &Finished) -> Vec<Note> {
    let kinds = finished.output.iter().map(|output| &output.announced.head().kind);
    let has_parts = |form: ItemForm| {
        matches!(
            form,
            ItemForm::Message | ItemForm::Reasoning | ItemForm::FunctionCall | ItemForm::CustomCall
        )
    };
    let others = kinds.filter(|kind| !has_parts(ItemForm::from_kind(kind)));
    others.map(|kind| Note::Omitted { what: format!("item '{kind}', in the Gemini API") }).collect()
}

impl GeminiWriter {
    /// A writer of an answer of `origin` to a client's request.
    pub(in crate::dialect) fn new(request: &Object<'_>, origin: Origin) -> Self {
        let object = |object: &Object<'_>, names: [&'static str; 2]| {
            let raw = names.into_iter().find_map(|name| object.present(name)).map(str::to_owned);
            raw.unwrap_or_default()
        };
        let config = object(request, ["generationConfig", "generation_config"]);
        let config = Object::parse_str(&config).unwrap_or_default();
        let thinking = object(&config, ["thinkingConfig", "thinking_config"]);
        let thinking = Object::parse_str(&thinking).unwrap_or_default();
        let includes_thoughts =
            thinking.is_true("includeThoughts") || thinking.is_true("include_thoughts");
        Self {
            parts: PartWriter::new(origin.clone(), includes_thoughts),
            queue: PieceQueue::default(),
            items: Vec::new(),
            head: String::new(),
            includes_thoughts,
            origin,
            events: Vec::new(),
        }
    }

    pub(in crate::dialect) fn event(&mut self, event: &Event) -> Vec<Event> {
        if let Ok(fields) = Object::parse(&event.data) {
            match &*event.kind {
                "response.created" => {
                    self.head = head(&fields.object("response").unwrap_or_default());
                }
                "response.output_item.added" => {
                    let item = fields.object("item").unwrap_or_default();
                    self.items.push(OutputItem::new(&item));
                    self.queue.begin();
                }
                kind => self.within_item(kind, &fields),
            }
        }
        std::mem::take(&mut self.events)
    }

    pub(in crate::dialect) fn end(&mut self, response: &Object<'_>) -> Vec<Event> {
        for piece in self.queue.end_all() {
            self.write(&piece);
        }
        match Outcome::from_response(response) {
            Outcome::Failed { error } => self.push_event(error),
            Outcome::Finished { reason } => {
                // Google's last chunk has an empty text, and its SDK for Python expects a part.
                let part = self.parts.rest().unwrap_or_else(|| r#"{"text":""}"#.to_owned());
                let chunk = answer(&head(response), &[part], Some(reason), response);
                self.push_event(chunk);
            }
        }
        std::mem::take(&mut self.events)
    }

    /// The whole answer, or an error if it failed.
    pub(in crate::dialect) fn fold(&self, response: &Object<'_>) -> String {
        let reason = match Outcome::from_response(response) {
            Outcome::Failed { error } => return error,
            Outcome::Finished { reason } => reason,
        };
        let mut writer = PartWriter::new(self.origin.clone(), self.includes_thoughts);
        let items = response.objects("output");
        let pieces = items.iter().flat_map(pieces);
        let mut parts: Vec<String> = pieces.filter_map(|piece| writer.write(&piece)).collect();
        parts.extend(writer.rest());
        answer(&head(response), &parts, Some(reason), response)
    }

    fn within_item(&mut self, kind: &str, event: &Object<'_>) {
        let Some(at) = number(event, "output_index") else { return };
        let Some(item) = self.items.get_mut(at) else { return };
        if kind == "response.output_item.done" {
            let last = item.last_piece(event.get("item").unwrap_or_default());
            let written = last.and_then(|piece| self.queue.push(at, piece));
            let held = self.queue.end(at);
            for piece in written.into_iter().chain(held) {
                self.write(&piece);
            }
            return;
        }
        let Some(raw) = event.get("delta").filter(|raw| raw.len() > 2) else { return };
        for piece in item.pieces(kind, event, raw) {
            if let Some(piece) = self.queue.push(at, piece) {
                self.write(&piece);
            }
        }
    }

    fn write(&mut self, piece: &Piece) {
        if let Some(part) = self.parts.write(piece) {
            let chunk = answer(&self.head, &[part], None, &Object::default());
            self.push_event(chunk);
        }
    }

    fn push_event(&mut self, data: String) {
        self.events.push(Event { kind: "".into(), data: data.into() });
    }
}

impl OutputItem {
    /// The pieces for a delta of the item.
    fn pieces(&mut self, kind: &str, event: &Object<'_>, raw: &str) -> Vec<Piece> {
        match (self, kind) {
            (Self::Message, "response.output_text.delta" | "response.refusal.delta") => {
                vec![Piece::Text(raw.to_owned())]
            }
            (
                Self::Reasoning { part },
                "response.reasoning_text.delta"
                | "response.reasoning.delta"
                | "response.reasoning_summary_text.delta",
            ) => {
                let is_summary = kind == "response.reasoning_summary_text.delta";
                let index = if is_summary { "summary_index" } else { "content_index" };
                let next = (is_summary, number(event, index).unwrap_or(0));
                let is_later = part.replace(next).is_some_and(|last| last != next);
                let between = is_later.then(|| Piece::Thought(BETWEEN_PARTS.to_owned()));
                between.into_iter().chain([Piece::Thought(raw.to_owned())]).collect()
            }
            _ => Vec::new(),
        }
    }

    /// The piece for the complete item.
    fn last_piece(self, raw: &str) -> Option<Piece> {
        match self {
            Self::Call => Some(Piece::Call(raw.to_owned())),
            Self::Reasoning { .. } => Some(Piece::Reasoning(raw.to_owned())),
            Self::Message | Self::Omitted => None,
        }
    }
}

/// The pieces of a complete item.
fn pieces(item: &Object<'_>) -> Vec<Piece> {
    let output_item = OutputItem::new(item);
    let mut pieces = match output_item {
        OutputItem::Message => texts(item),
        OutputItem::Reasoning { .. } => thoughts(item),
        OutputItem::Call | OutputItem::Omitted => Vec::new(),
    };
    pieces.extend(output_item.last_piece(&item.to_text()));
    pieces
}

/// The nonempty texts of a message.
fn texts(message: &Object<'_>) -> Vec<Piece> {
    let parts = message.objects("content");
    let texts = parts.iter().filter_map(|part| {
        let field = match part.string("type").as_deref()? {
            "output_text" => "text",
            "refusal" => "refusal",
            _ => return None,
        };
        part.get(field).filter(|raw| raw.len() > 2).map(|raw| Piece::Text(raw.to_owned()))
    });
    texts.collect()
}

/// The text of reasoning: the summary and then the raw text, one paragraph per part.
fn thoughts(reasoning: &Object<'_>) -> Vec<Piece> {
    let parts = [reasoning.objects("summary"), reasoning.objects("content")];
    let texts = parts.iter().flatten().filter_map(|part| part.string("text"));
    let texts: Vec<_> = texts.filter(|text| !text.is_empty()).collect();
    let text = (!texts.is_empty()).then(|| Piece::Thought(quote(&texts.join("\n\n"))));
    text.into_iter().collect()
}

/// The fields that are the same in all chunks.
fn head(response: &Object<'_>) -> String {
    let id = response.string("id").unwrap_or_default();
    let id = quote(id.strip_prefix("resp_").unwrap_or(&id));
    let model = response.present("model").unwrap_or(r#""""#);
    format!(r#""modelVersion":{model},"responseId":{id}"#)
}

/// A `GenerateContentResponse` with these parts. The last one has a reason and the usage.
fn answer(head: &str, parts: &[String], reason: Option<&str>, response: &Object<'_>) -> String {
    let content = match parts {
        [] => r#"{"role":"model"}"#.to_owned(),
        parts => format!(r#"{{"role":"model","parts":[{}]}}"#, parts.join(",")),
    };
    let reason = reason.map(|reason| format!(r#","finishReason":"{reason}""#)).unwrap_or_default();
    let usage = response.object("usage").map(|usage| usage_json(&usage));
    let usage = usage.map(|usage| format!(r#""usageMetadata":{usage},"#)).unwrap_or_default();
    let candidate = format!(r#"{{"content":{content}{reason},"index":0}}"#);
    format!(r#"{{"candidates":[{candidate}],{usage}{head}}}"#)
}

/// The number under `key`, as an index.
fn number(event: &Object<'_>, key: &str) -> Option<usize> {
    event.get(key)?.parse().ok()
}
