//! The beginning of an element, for error messages.

use crate::json::{Object, quote, unquote};

const MAX_LENGTH: usize = 40;

/// The most characteristic field of an element, with dots in place of the others.
pub(super) fn excerpt(element: &str) -> String {
    let Ok(object) = Object::parse_str(element) else {
        return shortened(element);
    };
    let mut characteristic = ["type", "role", "lc", "object"].into_iter();
    let characteristic = characteristic.find_map(|name| Some((name, object.present(name)?)));
    let Some((name, raw)) = characteristic.or_else(|| object.iter().next()) else {
        return "{}".to_owned();
    };
    let others = if object.iter().count() > 1 { ",…" } else { "" };
    format!("{{{}:{}{others}}}", quote(name), shortened(raw))
}

fn shortened(raw: &str) -> String {
    if raw.chars().count() <= MAX_LENGTH {
        return raw.to_owned();
    }
    match unquote(raw) {
        Some(text) => quote(&format!("{}…", start(&text))),
        None => format!("{}…", start(raw)),
    }
}

fn start(text: &str) -> String {
    text.chars().take(MAX_LENGTH).collect()
}
