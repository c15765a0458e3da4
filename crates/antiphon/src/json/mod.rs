//! Reads and changes JSON without rebuilding it: everything that does not change keeps its bytes.
//!
//! ```
//! use antiphon::json::Object;
//!
//! let mut object = Object::parse_str(r#"{"n": 1.50, "id": "a"}"#).unwrap();
//! object.set_string("id", "b");
//! assert_eq!(object.get("n"), Some("1.50"));
//! assert_eq!(object.string("id").as_deref(), Some("b"));
//! ```

mod array;
mod object;
mod scanner;

pub(crate) use array::{elements, objects, parse_elements};
pub use array::{range_of_slice, replace_array};
pub(crate) use object::Key;
pub use object::Object;

/// `text` as a JSON string, quotes included.
pub fn quote(text: &str) -> String {
    match needs_escapes(text) {
        true => escape(text),
        false => ["\"", text, "\""].concat(),
    }
}

/// Appends `text` to `json` as a JSON string.
pub(crate) fn push_quoted(json: &mut String, text: &str) {
    if needs_escapes(text) {
        json.push_str(&escape(text));
    } else {
        json.push('"');
        json.push_str(text);
        json.push('"');
    }
}

fn needs_escapes(text: &str) -> bool {
    scanner::special_byte(text.as_bytes(), 0).is_some()
}

fn escape(text: &str) -> String {
    serde_json::to_string(text).expect("a string is always valid JSON")
}

/// Whether the byte needs no escape in a JSON string.
fn is_plain(byte: u8) -> bool {
    byte >= b' ' && byte != b'"' && byte != b'\\'
}

/// The text of a raw JSON string; `None` if `raw` is not a string.
pub fn unquote(raw: &str) -> Option<std::borrow::Cow<'_, str>> {
    let inner = raw.strip_prefix('"')?.strip_suffix('"')?;
    if memchr::memchr(b'\\', inner.as_bytes()).is_none() {
        return Some(inner.into());
    }
    serde_json::from_str::<String>(raw).ok().map(Into::into)
}

/// The type of the JSON value `raw`, as providers name it in their errors.
pub fn type_name(raw: &str) -> &'static str {
    match raw.as_bytes().first() {
        Some(b'"') => "a string",
        Some(b'{') => "an object",
        Some(b'[') => "an array",
        Some(b't' | b'f') => "a boolean",
        Some(b'n') => "null",
        Some(_) if raw.contains(['.', 'e', 'E']) => "a decimal",
        Some(_) => "an integer",
        None => "nothing",
    }
}
