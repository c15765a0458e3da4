//! Sealed reasoning in `thoughtSignature`, the field in which Gemini clients return reasoning.
//!
//! Google signs the first part after the thoughts. Clients return this part unchanged, but leave
//! out the thoughts before it, so its signature carries all reasoning since the part before. The
//! field is base64, because the SDKs decode it.

use serde_json::Deserializer;
use serde_json::value::RawValue;

use crate::dialect::{Seal, base64};
use crate::json::{Object, quote};
use crate::transcript::Origin;

/// The signature that Gemini CLI sends for a call without one.
const PLACEHOLDER: &str = "skip_thought_signature_validator";

/// The sealed content of a reasoning item of `origin`; `None` if it has none.
pub(super) fn seal(reasoning: &Object<'_>, origin: &Origin) -> Option<String> {
    let text = reasoning.string("encrypted_content").filter(|text| !text.is_empty())?;
    Some(match Seal::parse(&text) {
        Some(_) => text.into_owned(),
        None => Seal::from_encrypted(&text, origin.clone()).to_text(),
    })
}

/// The signature with these seals, which are JSON objects.
pub(super) fn encode(seals: &[String]) -> String {
    base64::encode(seals.join("\n").as_bytes())
}

/// The values of `encrypted_content` in a signature, for `origin`. Content that `origin` encrypted
/// itself loses its seal. `None` if the gateway has not written the signature.
pub(super) fn decode(signature: &str, origin: &Origin) -> Option<Vec<String>> {
    if signature == PLACEHOLDER {
        return Some(Vec::new());
    }
    let text = base64::decode(signature).and_then(|bytes| String::from_utf8(bytes).ok())?;
    let seals: Result<Vec<&RawValue>, _> = Deserializer::from_str(&text).into_iter().collect();
    let seals = seals.ok().filter(|seals| !seals.is_empty())?;
    let contents = seals.into_iter().map(|raw| {
        let seal = Seal::parse(raw.get())?;
        Some(seal.encrypted_by(origin).unwrap_or_else(|| raw.get().to_owned()))
    });
    contents.collect()
}

/// A reasoning item with this `encrypted_content`, and this text in its summary.
pub(super) fn reasoning_item(encrypted: &str, summary: &str) -> String {
    let summary = match summary {
        "" => String::new(),
        text => format!(r#"{{"type":"summary_text","text":{}}}"#, quote(text)),
    };
    let encrypted = quote(encrypted);
    format!(r#"{{"type":"reasoning","summary":[{summary}],"encrypted_content":{encrypted}}}"#)
}
