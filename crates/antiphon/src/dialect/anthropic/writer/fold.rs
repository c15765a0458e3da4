//! Builds the whole answer as one message.

use super::block::{
    Sealed, ToolIds, citation_json, extension_block, input_json, message, tool_use,
};
use super::ending::Outcome;
use crate::dialect::item_form::ItemForm;
use crate::item::Kind;
use crate::json::{Object, quote};
use crate::stream::{Finished, Note};
use crate::transcript::Origin;

/// The answer as a `message` object, or as an `error` if it failed. `origin` created the answer.
pub(super) fn fold(response: &Object<'_>, origin: Option<&Origin>) -> String {
    match Outcome::from_response(response) {
        Outcome::Failed { error } => error,
        Outcome::Stopped { reason, .. } => {
            let content = content(response, origin).join(",");
            let usage = response.object("usage");
            message(response, &content, &quote(reason), usage.as_ref())
        }
    }
}

/// Notes for the output items that the Anthropic Messages API has no block for.
pub(in crate::dialect) fn left_out(finished: &Finished) -> Vec<Note> {
    let kinds = finished.output.iter().map(|output| &output.announced.head().kind);
    let others = kinds.filter(|kind| !has_blocks(kind));
    others
        .map(|kind| Note::Omitted { what: format!("item '{kind}', in Anthropic Messages") })
        .collect()
}

fn has_blocks(kind: &Kind) -> bool {
    match ItemForm::from_kind(kind) {
        ItemForm::Message | ItemForm::Reasoning | ItemForm::FunctionCall | ItemForm::CustomCall => {
            true
        }
        ItemForm::Extension => kind.as_str().starts_with("anthropic:"),
        ItemForm::Output | ItemForm::ProviderRecord | ItemForm::Unsupported => false,
    }
}

/// The blocks of a response's output.
fn content(response: &Object<'_>, origin: Option<&Origin>) -> Vec<String> {
    let mut tools = ToolIds::default();
    let items = response.objects("output");
    items.iter().flat_map(|item| blocks(item, origin, &mut tools)).collect()
}

fn blocks(item: &Object<'_>, origin: Option<&Origin>, tools: &mut ToolIds) -> Vec<String> {
    match ItemForm::from_object(item) {
        ItemForm::Message => item.objects("content").iter().filter_map(text).collect(),
        ItemForm::Reasoning => reasoning(item, origin),
        ItemForm::FunctionCall => {
            let input = input_json(item.get("arguments").unwrap_or(r#""""#));
            vec![tool_use(item, tools, &input)]
        }
        ItemForm::CustomCall => {
            let text = item.present("input").unwrap_or(r#""""#);
            vec![tool_use(item, tools, &format!(r#"{{"input":{text}}}"#))]
        }
        ItemForm::Extension => extension_block(item).into_iter().collect(),
        ItemForm::Output | ItemForm::ProviderRecord | ItemForm::Unsupported => Vec::new(),
    }
}

/// A part as a text block; `None` if it is empty.
fn text(part: &Object<'_>) -> Option<String> {
    let raw = match part.string("type").as_deref()? {
        "output_text" => part.get("text")?,
        "refusal" => part.get("refusal")?,
        _ => return None,
    };
    let annotations = part.objects("annotations");
    let citations: Vec<String> = annotations.iter().filter_map(citation_json).collect();
    if raw == r#""""# && citations.is_empty() {
        return None;
    }
    let citations = match &*citations {
        [] => String::new(),
        citations => format!(r#","citations":[{}]"#, citations.join(",")),
    };
    Some(format!(r#"{{"type":"text","text":{raw}{citations}}}"#))
}

/// The blocks of reasoning. The text is the summary and then the raw text, one paragraph per part.
fn reasoning(item: &Object<'_>, origin: Option<&Origin>) -> Vec<String> {
    let parts = [item.objects("summary"), item.objects("content")];
    let texts = parts.iter().flatten().filter_map(|part| part.string("text"));
    let texts: Vec<_> = texts.filter(|text| !text.is_empty()).collect();
    let thinking = |signature: &str| {
        let text = quote(&texts.join("\n\n"));
        format!(r#"{{"type":"thinking","thinking":{text},"signature":{signature}}}"#)
    };
    let reply = (!texts.is_empty()).then(|| thinking(r#""""#));
    match Sealed::from_item(item, origin) {
        Sealed::Nothing => reply.into_iter().collect(),
        Sealed::Signature(signature) => vec![thinking(&signature)],
        Sealed::Redacted(block) => reply.into_iter().chain([block]).collect(),
    }
}
