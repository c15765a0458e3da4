//! The choice of the requests that have spans.

use super::variables::Variables;

/// The choice of the requests that have spans.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TraceSampler {
    /// Whether the decision of the caller's trace applies to requests that belong to one.
    pub follows_parent: bool,
    /// The share of all other requests, from 0 to 1. The id of the trace decides.
    pub ratio: f64,
}

/// All requests, unless their caller has decided otherwise.
impl Default for TraceSampler {
    fn default() -> Self {
        Self { follows_parent: true, ratio: 1.0 }
    }
}

impl TraceSampler {
    pub(super) fn read(variables: &mut Variables<'_>) -> Self {
        const NAME: &str = "OTEL_TRACES_SAMPLER";
        let Some(text) = variables.text(NAME) else { return Self::default() };
        let (follows_parent, root) = match text.strip_prefix("parentbased_") {
            Some(root) => (true, root),
            None => (false, &*text),
        };
        let ratio = match root {
            "always_on" => 1.0,
            "always_off" => 0.0,
            "traceidratio" => ratio(variables),
            _ => {
                let sampler = "parentbased_always_on applies";
                variables.warn(NAME, &format!("'{text}' is not supported; {sampler}"));
                return Self::default();
            }
        };
        Self { follows_parent, ratio }
    }
}

fn ratio(variables: &mut Variables<'_>) -> f64 {
    const NAME: &str = "OTEL_TRACES_SAMPLER_ARG";
    let text = variables.text(NAME);
    let ratio = text.as_deref().map(|text| text.parse().ok());
    match ratio.map(|ratio| ratio.filter(|ratio| (0.0..=1.0).contains(ratio))) {
        None => 1.0,
        Some(Some(ratio)) => ratio,
        Some(None) => {
            let text = text.unwrap_or_default();
            variables.warn(NAME, &format!("'{text}' is not a number from 0 to 1; 1 applies"));
            1.0
        }
    }
}
