//! The catalogue of the provider's error texts.
//!
//! `provider_errors.json` holds each text once, with its status, `code`, `param` and the public
//! report that it was recorded from. The strict provider of the tests reads the same file with code
//! of its own, so that both say the same while neither decides for the other.

use std::sync::LazyLock;

use serde::Deserialize;

use super::Refusal;

/// An error as the provider words it. `{name}` in its texts stands for a value.
#[derive(Debug, Deserialize)]
pub(super) struct ProviderError {
    name: String,
    status: u16,
    code: Option<String>,
    param: Option<String>,
    message: String,
    /// The report that the text was recorded from; `None` where it was never seen.
    #[cfg_attr(not(test), expect(dead_code, reason = "for readers of the catalogue"))]
    source: Option<String>,
    /// The text that an unseen one is modelled on.
    #[cfg_attr(not(test), expect(dead_code, reason = "for readers of the catalogue"))]
    worded_like: Option<String>,
}

static CATALOGUE: LazyLock<Vec<ProviderError>> = LazyLock::new(|| {
    serde_json::from_str(include_str!("provider_errors.json"))
        .expect("the catalogue is well formed")
});

impl ProviderError {
    /// The error of this name.
    pub(super) fn named(name: &str) -> &'static Self {
        let named = CATALOGUE.iter().find(|error| error.name == name);
        named.expect("every error that is named stands in the catalogue")
    }

    /// The refusal with these values in its texts.
    pub(super) fn refusal(&'static self, values: &[(&str, &str)]) -> Refusal {
        Refusal {
            status: self.status,
            code: self.code.as_deref(),
            param: self.param.as_deref().map(|param| filled(param, values)),
            message: filled(&self.message, values),
        }
    }
}

/// The template with each `{name}` replaced once: braces within a value stay as they are.
fn filled(template: &str, values: &[(&str, &str)]) -> String {
    let mut pieces = template.split('{');
    let mut text = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let (name, rest) = piece.split_once('}').expect("every brace is closed");
        let value = values.iter().find(|(known, _)| *known == name);
        let (_, value) = value.expect("every placeholder has a value");
        text.push_str(value);
        text.push_str(rest);
    }
    text
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn a_value_with_braces_is_not_filled_again() {
        let values = [("id", "{kind}"), ("kind", "x")];
        assert_eq!(filled("{id} of {kind}.", &values), "{kind} of x.");
    }

    #[test]
    fn every_error_is_named_once_and_has_a_source_or_a_model() {
        let names: HashSet<&str> = CATALOGUE.iter().map(|error| &*error.name).collect();
        assert_eq!(names.len(), CATALOGUE.len());
        for error in &*CATALOGUE {
            assert!(error.source.is_some() != error.worded_like.is_some(), "{error:?}");
        }
    }
}
