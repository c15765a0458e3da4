//! Items as the API shows them: with id, type and status, whatever they came with.

use antiphon::json::{Object, quote};
use antiphon::{HeldItem, Kind};

/// The item as JSON. `encrypted`: with encrypted reasoning, which callers have to ask for.
///
/// Source: the conversation and response items of the API, where a message's content is a list, and
/// the Open Responses specification, which demands a status of every item.
pub(crate) fn present(held: &HeldItem, encrypted: bool) -> String {
    let Some(item) = held.item() else {
        return "null".into();
    };
    let mut object = item.object();
    object.set_first("type", quote(held.head.kind.as_str()));
    object.set_string("id", held.id.as_str());
    if object.present("status").is_none() {
        object.set("status", r#""completed""#);
    }
    if held.head.kind == Kind::Message {
        let content = listed_content(&object, held.head.is_model_made());
        object.set("content", content);
    }
    if !encrypted && held.head.kind == Kind::Reasoning {
        object.remove("encrypted_content");
    }
    object.to_text()
}

/// A string of content as the list of one part that it stands for.
fn listed_content(message: &Object<'_>, is_output: bool) -> String {
    match message.present("content") {
        Some(text) if text.starts_with('"') && is_output => {
            format!(r#"[{{"type":"output_text","text":{text},"annotations":[],"logprobs":[]}}]"#)
        }
        Some(text) if text.starts_with('"') => {
            format!(r#"[{{"type":"input_text","text":{text}}}]"#)
        }
        Some(list) => list.to_owned(),
        None => "[]".to_owned(),
    }
}

/// A page of items as the API lists them.
pub(crate) fn list(items: &[HeldItem], has_more: bool, encrypted: bool) -> String {
    let data: Vec<String> = items.iter().map(|item| present(item, encrypted)).collect();
    let id = |item: Option<&HeldItem>| {
        item.map_or_else(|| "null".into(), |item| quote(item.id.as_str()))
    };
    format!(
        r#"{{"object":"list","data":[{}],"first_id":{},"last_id":{},"has_more":{has_more}}}"#,
        data.join(","),
        id(items.first()),
        id(items.last()),
    )
}
