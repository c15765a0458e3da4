//! Colors and safe text for a terminal.

use crate::failure::Failure;
use crate::one_line::one_line;
use crate::{platform, settings};

/// A color of a terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Color {
    Bold,
    Dim,
    Red,
    Green,
    Yellow,
    Blue,
}

impl Color {
    fn code(self) -> &'static str {
        match self {
            Self::Bold => "1",
            Self::Dim => "2",
            Self::Red => "31",
            Self::Green => "32",
            Self::Yellow => "33",
            Self::Blue => "34",
        }
    }
}

/// Whether text is colored.
#[derive(Clone, Copy, Debug)]
pub(super) struct Style {
    is_colored: bool,
}

impl Style {
    /// Colors only on a terminal, and not if `NO_COLOR` is set.
    pub(super) fn detect() -> Result<Self, Failure> {
        let shows_colors = platform::shows_colors(&std::io::stdout());
        Ok(Self { is_colored: shows_colors && settings::environment("NO_COLOR")?.is_none() })
    }

    /// The text in a color. Control characters are escaped.
    pub(super) fn paint(self, color: Color, text: &str) -> String {
        let text = visible(text);
        match self.is_colored {
            true => format!("\u{1b}[{}m{text}\u{1b}[0m", color.code()),
            false => text,
        }
    }
}

/// The text on one line, with control characters and characters of text direction escaped.
pub(super) fn visible(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for c in one_line(text).chars() {
        if changes_direction(c) { line.extend(c.escape_unicode()) } else { line.push(c) }
    }
    line
}

fn changes_direction(c: char) -> bool {
    matches!(c, '\u{200e}' | '\u{200f}' | '\u{061c}')
        || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hostile_text_is_inert() {
        let text = visible("a\u{1b}[31mb\nc\u{0}\u{202e}d\u{9b}");
        assert_eq!(text, r"a\u{1b}[31mb\nc\u{0}\u{202e}d\u{9b}");
    }

    #[test]
    fn color_needs_a_terminal() {
        assert_eq!(Style { is_colored: false }.paint(Color::Red, "a"), "a");
        assert_eq!(
            Style { is_colored: true }.paint(Color::Red, "a\u{1b}"),
            "\u{1b}[31ma\\u{1b}\u{1b}[0m"
        );
    }
}
