//! The sealed form of reasoning, which a client returns with its next request.

use crate::dialect::chat::sealed_details::sealed_detail;
use crate::dialect::{Dialect, Seal};
use crate::json::{Object, objects, quote};
use crate::transcript::Origin;

/// The sealed form of one reasoning item.
///
/// A seal of a Chat Completions server contains fields of a message: they are written as the server
/// sent them. Any other `encrypted_content` becomes an entry of `reasoning_details`.
#[derive(Debug, Default)]
pub(super) struct Sealed {
    /// Raw entries of `reasoning_details`.
    pub(super) details: Vec<String>,
    /// The `call_id` of each signed call, and its raw `extra_content`.
    pub(super) extras: Vec<(String, String)>,
}

impl Sealed {
    /// The sealed form of an item that `origin` created. `index` is the number of earlier entries
    /// of `reasoning_details`.
    pub(super) fn from_item(reasoning: &Object<'_>, origin: Option<&Origin>, index: usize) -> Self {
        let Some(encrypted) = reasoning.string("encrypted_content").filter(|text| !text.is_empty())
        else {
            return Self::default();
        };
        let seal = Seal::parse(&encrypted);
        let fields = seal.as_ref().filter(|seal| seal.dialect == Dialect::Chat);
        if let Some(sealed) = fields.and_then(|seal| Self::from_message_fields(&seal.content)) {
            return sealed;
        }
        let encrypted = match (seal, origin) {
            (None, Some(origin)) => Seal::from_encrypted(&encrypted, origin.clone()).to_text(),
            _ => encrypted.into_owned(),
        };
        let detail = sealed_detail(reasoning.get("id"), &quote(&encrypted), index);
        Self { details: vec![detail], extras: Vec::new() }
    }

    /// The form of sealed fields of a message; `None` if the written message would not have the
    /// same fields.
    fn from_message_fields(content: &str) -> Option<Self> {
        let fields = Object::parse_str(content).ok()?;
        let mut sealed = Self::default();
        for (name, raw) in fields.iter() {
            match name {
                // The text is written while it is generated.
                "reasoning_content" => {}
                "reasoning_details" => {
                    sealed.details = objects(raw).iter().map(Object::to_text).collect();
                }
                "tool_calls" => sealed.extras = objects(raw).iter().filter_map(extra).collect(),
                _ => return None,
            }
        }
        Some(sealed)
    }
}

fn extra(call: &Object<'_>) -> Option<(String, String)> {
    let extra = call.get("extra_content")?.to_owned();
    Some((call.string("id")?.into_owned(), extra))
}
