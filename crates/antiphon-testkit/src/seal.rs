//! Encrypted content and signatures that can be checked without remembering what was issued.

use crate::Refusal;
use crate::digest;

const MARK: &str = "gAAA";
const SIGNATURE_MARK: &str = "EqQB";
const REDACTED_MARK: &str = "EmwK";
const MODEL_LENGTH: usize = 16;

/// The encrypted content that this upstream issues for the item `item_id` of `model`.
///
/// It is bound to both: the [judge](crate::judge::judge) refuses it under another item id and for
/// another model.
pub fn encrypted_content(model: &str, item_id: &str) -> String {
    format!("{}{}", of_model(model), of_item(model, item_id))
}

/// The signature that this upstream gives a `thinking` block of `model` with this text.
///
/// It is bound to both: the [judge](crate::judge::anthropic::judge) refuses it with another text
/// and for another model.
pub fn thinking_signature(model: &str, thinking: &str) -> String {
    format!("{SIGNATURE_MARK}{}", digest::hex(&["thinking", model, thinking]))
}

/// The `data` that this upstream gives a `redacted_thinking` block of `model`.
pub fn redacted_thinking(model: &str) -> String {
    format!("{REDACTED_MARK}{}", digest::hex(&["redacted thinking", model]))
}

/// Checks encrypted content that came back, under the id it came with, if any.
///
/// Clients may leave the id out; then only the model can be compared.
pub(crate) fn verify(sealed: &str, model: &str, item_id: Option<&str>) -> Result<(), Refusal> {
    let whole = encrypted_content(model, "").len();
    let Some(item) = sealed.strip_prefix(&of_model(model)).filter(|_| sealed.len() == whole) else {
        return Err(Refusal::encrypted_content(sealed, "could not be decrypted or parsed"));
    };
    match item_id {
        Some(id) if item != of_item(model, id) => {
            Err(Refusal::encrypted_content(sealed, "item_id did not match the target item id"))
        }
        _ => Ok(()),
    }
}

fn of_model(model: &str) -> String {
    format!("{MARK}{}", &digest::hex(&["model", model])[..MODEL_LENGTH])
}

fn of_item(model: &str, item_id: &str) -> String {
    digest::hex(&["item", model, item_id])
}
