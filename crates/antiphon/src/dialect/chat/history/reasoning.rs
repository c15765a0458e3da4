//! Converts the reasoning of an assistant message.

use crate::dialect::chat::fields::{Fields, array};
use crate::dialect::chat::sealed_details;
use crate::dialect::{Dialect, Seal};
use crate::json::{Object, quote};
use crate::transcript::Origin;

/// The text fields for reasoning. Servers use different ones.
const TEXT_FIELDS: [&str; 2] = ["reasoning_content", "reasoning"];

const DETAILS: &str = "reasoning_details";

/// The reasoning items of an assistant message.
///
/// - Entries of `reasoning_details` that [`ChatWriter`](crate::dialect::chat::ChatWriter) wrote
///   become the items that they came from. The text of the message repeats them, so it makes no
///   other item.
/// - All other reasoning is one item: its text, and, with an `origin`, its fields, sealed. The
///   fields include the `extra_content` of calls.
pub(super) fn items(message: &Object<'_>, origin: Option<&Origin>) -> Vec<String> {
    let details = message.objects(DETAILS);
    let items: Vec<String> = details
        .iter()
        .filter_map(|detail| sealed_details::reasoning_item(detail, origin))
        .collect();
    let other = match items.is_empty() {
        true => sealed_item(message, message.present(DETAILS), true, origin),
        false => sealed_item(message, Some(&foreign_details(&details)), false, origin),
    };
    items.into_iter().chain(other).collect()
}

/// The entries that are no item.
fn foreign_details(details: &[Object<'_>]) -> String {
    let foreign = details.iter().filter(|detail| !sealed_details::is_sealed(detail));
    array(foreign.map(Object::to_text))
}

/// The item of the message's own fields. `has_text` is false if its text belongs to other items.
fn sealed_item(
    message: &Object<'_>,
    details: Option<&str>,
    has_text: bool,
    origin: Option<&Origin>,
) -> Option<String> {
    let is_nonempty = |raw: &&str| !matches!(*raw, r#""""# | "[]");
    let texts = TEXT_FIELDS.iter().filter(|_| has_text);
    let texts = texts.filter_map(|name| Some((*name, message.present(name)?)));
    let signed = signed_calls(message);
    let details = details.map(|details| (DETAILS, details));
    let signed = signed.iter().map(|calls| ("tool_calls", calls.as_str()));
    let signed = signed.filter(|_| origin.is_some());
    let fields: Vec<(&str, &str)> =
        texts.chain(details).chain(signed).filter(|(_, raw)| is_nonempty(raw)).collect();
    if fields.is_empty() {
        return None;
    }
    let mut item = Fields::with_type("reasoning");
    item.raw("summary", "[]");
    if let Some((_, text)) = fields.iter().find(|(_, raw)| raw.starts_with('"')) {
        let part = Fields::with_type("reasoning_text").raw("text", text).json();
        item.raw("content", &array([part]));
    }
    if let Some(origin) = origin {
        let content = Fields::new().all(fields.iter().copied()).json();
        let seal = Seal { dialect: Dialect::Chat, origin: origin.clone(), content };
        item.raw("encrypted_content", &quote(&seal.to_text()));
    }
    Some(item.json())
}

/// The calls with an `extra_content`, which their server requires: raw objects with their ids.
fn signed_calls(message: &Object<'_>) -> Option<String> {
    let calls = message.objects("tool_calls");
    let signed = calls.iter().filter_map(|call| {
        let extra = call.get("extra_content").filter(|raw| raw.starts_with('{') && *raw != "{}")?;
        Some(Fields::new().raw("id", call.get("id")?).raw("extra_content", extra).json())
    });
    let signed: Vec<String> = signed.collect();
    (!signed.is_empty()).then(|| array(signed))
}
