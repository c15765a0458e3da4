//! `metadata`.

use antiphon::json::{self, Object};

use super::values::within;
use super::wrong;
use crate::error::ApiError;

/// The maximum number of pairs, and the maximum length of keys and values in characters.
const PAIRS: usize = 16;
const KEY: usize = 64;
const VALUE: usize = 512;

/// `metadata`: at most 16 pairs of strings, keys up to 64 and values up to 512 characters.
pub(crate) fn metadata(fields: &Object<'_>) -> Result<Option<String>, ApiError> {
    let Some(raw) = fields.present("metadata") else {
        return Ok(None);
    };
    let object = Object::parse(raw.as_bytes()).map_err(|_| wrong("metadata", "an object", raw))?;
    let pairs = object.iter().count();
    if pairs > PAIRS {
        return Err(ApiError::TooMuchMetadata { maximum: PAIRS, count: pairs });
    }
    for (key, raw) in object.iter() {
        let path = format!("metadata.{key}");
        let value = json::unquote(raw).ok_or_else(|| wrong(&path, "a string", raw))?;
        within(&path, key, KEY)?;
        within(&path, &value, VALUE)?;
    }
    Ok(Some(raw.to_owned()))
}
