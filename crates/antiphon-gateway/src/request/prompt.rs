//! `prompt`: a prompt stored by the provider.

use antiphon::json::{Object, type_name};

use super::wrong;
use crate::error::ApiError;

/// Checks that it has an `id`, and the types of `version` and `variables`. The upstream checks the
/// values.
pub(super) fn check_prompt(fields: &Object<'_>) -> Result<(), ApiError> {
    let Some(raw) = fields.present("prompt") else { return Ok(()) };
    let prompt = Object::parse(raw.as_bytes()).map_err(|_| wrong("prompt", "an object", raw))?;
    if prompt.present("id").is_none() {
        return Err(ApiError::MissingParameter { name: "prompt.id".into() });
    }
    for (key, expected) in [("id", "a string"), ("version", "a string"), ("variables", "an object")]
    {
        if let Some(raw) = prompt.present(key).filter(|raw| type_name(raw) != expected) {
            return Err(wrong(&format!("prompt.{key}"), expected, raw));
        }
    }
    Ok(())
}
