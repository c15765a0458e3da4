//! Encrypted content and signatures that can be verified without stored state.

use crate::Refusal;
use crate::digest;

const MARK: &str = "gAAA";
const SIGNATURE_MARK: &str = "EqQB";
const REDACTED_MARK: &str = "EmwK";
const MODEL_LENGTH: usize = 16;

/// The encrypted content that this upstream issues for the item `item_id` of `model`.
///
/// It is bound to both: the [judge](crate::judge::validate) refuses it with another item id or
/// another model.
pub fn encrypted_content(model: &str, item_id: &str) -> String {
    format!("{}{}", model_seal(model), item_seal(model, item_id))
}

/// The signature that this upstream issues for a `thinking` block of `model` with this text.
///
/// It is bound to both: the [judge](crate::judge::anthropic::validate) refuses it with another text
/// or another model.
pub fn thinking_signature(model: &str, thinking: &str) -> String {
    format!("{SIGNATURE_MARK}{}", digest::hex(&["thinking", model, thinking]))
}

/// The `data` that this upstream issues for a `redacted_thinking` block of `model`.
pub fn redacted_thinking(model: &str) -> String {
    format!("{REDACTED_MARK}{}", digest::hex(&["redacted thinking", model]))
}

/// Verifies encrypted content and the id of its item.
///
/// Clients may omit the id; then only the model is compared.
pub(crate) fn verify(sealed: &str, model: &str, item_id: Option<&str>) -> Result<(), Refusal> {
    let whole = encrypted_content(model, "").len();
    let Some(item) = sealed.strip_prefix(&model_seal(model)).filter(|_| sealed.len() == whole)
    else {
        return Err(Refusal::encrypted_content(sealed, "could not be decrypted or parsed"));
    };
    match item_id {
        Some(id) if item != item_seal(model, id) => {
            Err(Refusal::encrypted_content(sealed, "item_id did not match the target item id"))
        }
        _ => Ok(()),
    }
}

fn model_seal(model: &str) -> String {
    format!("{MARK}{}", &digest::hex(&["model", model])[..MODEL_LENGTH])
}

fn item_seal(model: &str, item_id: &str) -> String {
    digest::hex(&["item", model, item_id])
}
