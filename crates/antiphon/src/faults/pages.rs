//! Descriptions of the faults for readers: one page for each fault and each state error.

use super::recognition::recognize;

/// The description of a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Page {
    /// The name of the fault, as in reports.
    pub name: &'static str,
    /// Markdown. It begins with the name and, in an indented line, with an error of the provider.
    pub text: &'static str,
}

impl Page {
    /// The page of the fault with this name.
    pub fn find(name: &str) -> Option<&'static Self> {
        PAGES.iter().find(|page| page.name == name)
    }

    /// The page of the fault that this text names, or that the error in it reports. The text may be
    /// part of a longer one, such as a line of a log.
    pub fn recognize(text: &str) -> Option<&'static Self> {
        recognize(text).and_then(Self::find)
    }

    /// The error of the provider, with ids as an example.
    pub fn error(&self) -> &'static str {
        let line = self.text.lines().find_map(|line| line.strip_prefix("    "));
        line.unwrap_or_default()
    }
}

macro_rules! pages {
    ($($name:literal),* $(,)?) => {
        &[$(Page { name: $name, text: include_str!(concat!("pages/", $name, ".md")) }),*]
    };
}

/// All pages, the most frequent faults first.
pub static PAGES: &[Page] = pages![
    "duplicate_item",
    "unanswered_call",
    "output_without_call",
    "lone_reasoning",
    "missing_reasoning",
    "previous_response_not_found",
    "unresolved_reference",
    "conversation_locked",
    "duplicate_call",
    "duplicate_output",
    "foreign_content",
    "malformed_id",
    "missing_id",
    "missing_call_id",
    "empty_call_id",
    "overlong_id",
    "overlong_call_id",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_page_has_the_same_parts() {
        for page in PAGES {
            assert!(page.text.starts_with(&format!("# {}\n", page.name)), "{}", page.name);
            assert!(page.error().ends_with('.'), "{}: {}", page.name, page.error());
            for part in ["## Causes", "## Example", "## The fix", "## With Antiphon"] {
                assert!(page.text.contains(&format!("\n{part}\n")), "{} has no {part}", page.name);
            }
        }
    }
}
