//! How an element begins, for an error to show.

use crate::json::{Object, quote, unquote};

const MAX_LENGTH: usize = 40;

/// The field of an element that says most of it, and dots in the place of the others.
pub(super) fn excerpt(element: &str) -> String {
    let Ok(object) = Object::of(element) else {
        return shortened(element);
    };
    let mut telling = ["type", "role", "lc", "object"].into_iter();
    let telling = telling.find_map(|name| Some((name, object.present(name)?)));
    let Some((name, raw)) = telling.or_else(|| object.iter().next()) else {
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
