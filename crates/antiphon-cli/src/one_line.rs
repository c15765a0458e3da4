//! Foreign text on a terminal.

/// The text with its control characters escaped, so that it stays in one line.
pub(crate) fn one_line(message: &str) -> String {
    let mut line = String::with_capacity(message.len());
    for c in message.chars() {
        if c.is_control() { line.extend(c.escape_default()) } else { line.push(c) }
    }
    line
}

/// The text as a string of TOML or JSON.
pub(crate) fn quote(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
