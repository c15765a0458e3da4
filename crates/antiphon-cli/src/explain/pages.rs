//! The pages, one for each fault.

/// The description of a fault.
pub(super) struct Page {
    pub(super) name: &'static str,
    /// Markdown. It begins with the name and, in an indented line, with an error of the provider.
    pub(super) text: &'static str,
}

impl Page {
    /// The error of the provider, with ids as an example.
    pub(super) fn error(&self) -> &'static str {
        let line = self.text.lines().find_map(|line| line.strip_prefix("    "));
        line.unwrap_or_default()
    }
}

macro_rules! pages {
    ($($name:literal),* $(,)?) => {
        &[$(Page { name: $name, text: include_str!(concat!("faults/", $name, ".md")) }),*]
    };
}

/// All pages, the most frequent faults first.
pub(super) const PAGES: &[Page] = pages![
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
