//! Builds the whole answer as one completion.

use super::Options;
use super::calls::{CallEntries, CallEntry};
use super::chunk::completion_fields;
use super::ending::{Outcome, legacy_reason, usage_json};
use super::item::OutputItem;
use super::logprobs::logprobs;
use super::reasoning::Sealed;
use super::text_queue::BLANK_LINE;
use crate::dialect::chat::fields::{Fields, array, join};
use crate::dialect::item_form::ItemForm;
use crate::json::Object;
use crate::stream::{Finished, Note};
use crate::transcript::Origin;

/// The answer as a `chat.completion` object, or as an `error` if it failed.
pub(super) fn fold(response: &Object<'_>, options: Options, origin: Option<&Origin>) -> String {
    let reason = match Outcome::from_response(response) {
        Outcome::Failed { error } => return error,
        Outcome::Finished { reason } if options.is_legacy => legacy_reason(reason),
        Outcome::Finished { reason } => reason,
    };
    let items = response.objects("output");
    let mut choice = Fields::new();
    let calls = CallParts::from_items(&items, options, origin);
    choice.raw("index", "0").raw("message", &message(&items, &calls, &annotations(response)));
    choice.raw("logprobs", &all_logprobs(&items)).string("finish_reason", reason);
    let usage = response.object("usage").map(|usage| usage_json(&usage));
    let usage = usage.as_deref().unwrap_or("null");
    let tier = response.present("service_tier");
    let tier = tier.map(|tier| format!(r#","service_tier":{tier}"#)).unwrap_or_default();
    let (fields, choice) = (completion_fields(response, "chat.completion"), choice.json());
    format!(r#"{{{fields},"choices":[{choice}],"usage":{usage}{tier}}}"#)
}

/// Notes for the output items that a message cannot hold.
pub(in crate::dialect) fn left_out(finished: &Finished) -> Vec<Note> {
    let kinds = finished.output.iter().map(|output| &output.announced.head().kind);
    let others = kinds.filter(|kind| !has_form(ItemForm::from_kind(kind)));
    others
        .map(|kind| Note::Omitted { what: format!("item '{kind}', in Chat Completions") })
        .collect()
}

fn has_form(form: ItemForm) -> bool {
    matches!(
        form,
        ItemForm::Message | ItemForm::Reasoning | ItemForm::FunctionCall | ItemForm::CustomCall
    )
}

fn message(items: &[Object<'_>], calls: &CallParts, annotations: &[String]) -> String {
    let content = joined(&texts(items, "output_text", "text"));
    let refusal = joined(&texts(items, "refusal", "refusal"));
    // An answer with only calls or a refusal has no content.
    let is_empty = refusal.is_none() && calls.is_empty();
    let content = content.or_else(|| is_empty.then(|| r#""""#.to_owned()));
    let mut message = Fields::new();
    message.string("role", "assistant").raw("content", content.as_deref().unwrap_or("null"));
    message.raw("refusal", refusal.as_deref().unwrap_or("null"));
    message.present("reasoning_content", joined(&reasoning_texts(items)).as_deref());
    if !calls.details.is_empty() {
        message.raw("reasoning_details", &array(&calls.details));
    }
    if !calls.entries.is_empty() {
        message.raw("tool_calls", &array(&calls.entries));
    }
    message.present("function_call", calls.legacy.as_deref());
    message.raw("annotations", &array(annotations)).json()
}

/// The calls of a message, and the sealed reasoning, which may sign them.
#[derive(Default)]
struct CallParts {
    entries: Vec<String>,
    legacy: Option<String>,
    details: Vec<String>,
}

impl CallParts {
    fn from_items(items: &[Object<'_>], options: Options, origin: Option<&Origin>) -> Self {
        let (mut parts, mut calls) = (Self::default(), CallEntries::default());
        for item in items.iter().filter(|item| ItemForm::from_object(item) == ItemForm::Reasoning) {
            let sealed = Sealed::from_item(item, origin, parts.details.len());
            parts.details.extend(sealed.details);
            for (call_id, extra) in sealed.extras {
                calls.add_extra(call_id, extra);
            }
        }
        for item in items {
            match OutputItem::new(item, &mut calls, options) {
                OutputItem::Call(CallEntry::Legacy) => {
                    parts.legacy = Some(CallEntries::function_call(item));
                }
                OutputItem::Call(entry) => parts.entries.push(calls.entry(entry, item)),
                OutputItem::Message | OutputItem::Reasoning | OutputItem::Omitted => {}
            }
        }
        parts
    }

    fn is_empty(&self) -> bool {
        self.entries.is_empty() && self.legacy.is_none()
    }
}

/// The nonempty texts of the messages, of their parts with this type: raw JSON strings.
fn texts(items: &[Object<'_>], kind: &str, field: &str) -> Vec<String> {
    let texts = messages(items).map(|message| {
        let texts: Vec<String> =
            parts(message, kind).iter().filter_map(|part| text(part, field)).collect();
        join(texts.iter().map(String::as_str), "")
    });
    texts.filter(|text| text.len() > 2).collect()
}

fn messages<'a>(items: &'a [Object<'a>]) -> impl Iterator<Item = &'a Object<'a>> {
    items.iter().filter(|item| ItemForm::from_object(item) == ItemForm::Message)
}

/// The parts of a message with this type.
fn parts<'a>(message: &'a Object<'_>, kind: &str) -> Vec<Object<'a>> {
    let parts = message.objects("content").into_iter();
    parts.filter(|part| part.string("type").as_deref() == Some(kind)).collect()
}

/// The texts of reasoning: of each item, the summary and then the raw text.
fn reasoning_texts(items: &[Object<'_>]) -> Vec<String> {
    let reasoning = items.iter().filter(|item| ItemForm::from_object(item) == ItemForm::Reasoning);
    let parts = reasoning.flat_map(|item| [item.objects("summary"), item.objects("content")]);
    parts.flatten().filter_map(|part| text(&part, "text")).collect()
}

/// A nonempty text as a raw JSON string.
fn text(part: &Object<'_>, field: &str) -> Option<String> {
    part.get(field).filter(|raw| raw.starts_with('"') && raw.len() > 2).map(str::to_owned)
}

fn joined(texts: &[String]) -> Option<String> {
    (!texts.is_empty()).then(|| join(texts.iter().map(String::as_str), BLANK_LINE))
}

fn all_logprobs(items: &[Object<'_>]) -> String {
    let tokens = messages(items).flat_map(|message| parts(message, "output_text"));
    let tokens = tokens.map(|part| logprobs(&part)).filter(|tokens| !tokens.is_empty());
    match tokens.collect::<Vec<String>>().join(",") {
        tokens if tokens.is_empty() => "null".to_owned(),
        tokens => format!(r#"{{"content":[{tokens}],"refusal":null}}"#),
    }
}

/// The citations of web pages, with their indexes in the `content` of the message. Other
/// annotations are left out, because a message has no form for them.
pub(super) fn annotations(response: &Object<'_>) -> Vec<String> {
    let items = response.objects("output");
    let (mut length, mut citations) = (0, Vec::new());
    for message in messages(&items) {
        // The blank line between two messages.
        let start = if length == 0 { 0 } else { length + 2 };
        let mut offset = start;
        for part in parts(message, "output_text") {
            let annotations = part.objects("annotations");
            citations.extend(annotations.iter().filter_map(|given| citation(given, offset)));
            offset += part.string("text").map_or(0, |text| text.chars().count());
        }
        if offset > start {
            length = offset;
        }
    }
    citations
}

/// The citation of a page at `offset` characters.
fn citation(annotation: &Object<'_>, offset: usize) -> Option<String> {
    let is_citation = annotation.string("type").as_deref() == Some("url_citation");
    let url = annotation.get("url").filter(|_| is_citation)?;
    let index = |key| {
        let index = annotation.get(key).and_then(|raw| raw.parse::<usize>().ok());
        (index.unwrap_or(0) + offset).to_string()
    };
    let mut citation = Fields::new();
    citation.raw("start_index", &index("start_index")).raw("end_index", &index("end_index"));
    citation.raw("title", annotation.present("title").unwrap_or(r#""""#)).raw("url", url);
    Some(Fields::with_type("url_citation").raw("url_citation", &citation.json()).json())
}
