//! The catalogue of the provider's error texts.
//!
//! `provider_errors.json` contains each text once, with its status, `code`, `param` and the public
//! report that it was recorded from. The strict provider of the tests reads the same file with code
//! of its own: both use the same texts, but decide independently which one applies.

use std::sync::LazyLock;

use serde::Deserialize;

use super::{Fault, Refusal};

/// An error in the provider's words. `{name}` in its texts is a placeholder for a value.
#[derive(Debug, Deserialize)]
pub(super) struct ProviderError {
    name: String,
    status: u16,
    code: Option<String>,
    param: Option<String>,
    message: String,
    /// The report that the text was recorded from; `None` if the text was never observed.
    #[cfg_attr(not(test), expect(dead_code, reason = "for readers of the catalogue"))]
    source: Option<String>,
    /// The text that an unobserved one is modelled on.
    #[cfg_attr(not(test), expect(dead_code, reason = "for readers of the catalogue"))]
    worded_like: Option<String>,
}

static CATALOGUE: LazyLock<Vec<ProviderError>> = LazyLock::new(|| {
    serde_json::from_str(include_str!("provider_errors.json"))
        .expect("the catalogue is well formed")
});

impl ProviderError {
    /// Returns the error with this name.
    pub(super) fn find(name: &str) -> &'static Self {
        let named = CATALOGUE.iter().find(|error| error.name == name);
        named.expect("the catalogue has every error that the code names")
    }

    /// The refusal for the fault, with `values` in its texts.
    pub(super) fn refusal(&'static self, fault: &Fault, values: &[(&str, &str)]) -> Refusal {
        Refusal {
            fault: Box::new(fault.clone()),
            status: self.status,
            code: self.code.as_deref(),
            param: self.param.as_deref().map(|param| fill(param, values)),
            message: fill(&self.message, values),
        }
    }
}

/// Replaces each `{name}` of the template once. Braces within a value stay as they are.
fn fill(template: &str, values: &[(&str, &str)]) -> String {
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
    fn braces_in_a_value_stay() {
        let values = [("id", "{kind}"), ("kind", "x")];
        assert_eq!(fill("{id} of {kind}.", &values), "{kind} of x.");
    }

    #[test]
    fn catalogue_names_are_unique_and_have_a_source() {
        let names: HashSet<&str> = CATALOGUE.iter().map(|error| &*error.name).collect();
        assert_eq!(names.len(), CATALOGUE.len());
        for error in &*CATALOGUE {
            assert!(error.source.is_some() != error.worded_like.is_some(), "{error:?}");
        }
    }
}
