//! Converts the reasoning of a message into an item.

use crate::dialect::chat::fields::{Fields, array};
use crate::dialect::{Dialect, Seal};
use crate::json::{Object, quote};
use crate::transcript::Origin;

/// The fields for reasoning. Servers use different ones.
const FIELDS: [&str; 3] = ["reasoning_content", "reasoning", "reasoning_details"];

/// The reasoning item of an assistant message: its text, and, with an `origin`, all its reasoning
/// fields, sealed.
pub(super) fn item(message: &Object<'_>, origin: Option<&Origin>) -> Option<String> {
    let is_nonempty = |raw: &&str| !matches!(*raw, r#""""# | "[]");
    let fields =
        FIELDS.iter().filter_map(|name| Some((*name, message.present(name).filter(is_nonempty)?)));
    let fields: Vec<(&str, &str)> = fields.collect();
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
