//! Finds environment variables that look like settings but are not.
//!
//! They cause a warning, not an error: other programs may have variables with this prefix.

use super::catalog;
use super::flags::known_variables;

const PREFIX: &str = "ANTIPHON_";

/// The maximum number of typing errors in a misspelt name of a setting.
const MAX_DISTANCE: usize = 3;

/// Returns a warning for each variable in `set` that begins with `ANTIPHON_` and has no effect.
/// `named_by_file` has the variables that the settings file names (`key-env`, `secret-env`).
pub(super) fn warnings(set: &[String], named_by_file: &[String]) -> Vec<String> {
    let known: Vec<String> = known_variables().collect();
    let mut unknown: Vec<&String> = set
        .iter()
        .filter(|name| name.to_ascii_uppercase().starts_with(PREFIX))
        .filter(|name| !known.contains(name) && !named_by_file.contains(name))
        .filter(|name| !is_service_link(name))
        .collect();
    unknown.sort();
    unknown.into_iter().map(|name| warning(name, &known)).collect()
}

fn warning(name: &str, known: &[String]) -> String {
    let upper = name.to_ascii_uppercase();
    let key = upper.trim_start_matches(PREFIX).replace('_', "-").to_lowercase();
    let settings = catalog::settings();
    if settings.iter().any(|it| it.is_limit && it.flag.is_none() && it.key == key) {
        return format!(
            "{name} has no effect: {key} has no environment variable; set it in the settings file, \
             below [limits]"
        );
    }
    let by_distance = known.iter().map(|known| (strsim::damerau_levenshtein(known, &upper), known));
    let nearest = by_distance.min().filter(|(distance, _)| *distance <= MAX_DISTANCE);
    match nearest {
        Some((_, nearest)) => {
            format!("{name} has no effect: no setting has this name; did you mean {nearest}?")
        }
        None => format!(
            "{name} has no effect: no setting has this name; antiphon serve --help lists the \
             settings"
        ),
    }
}

/// Whether Kubernetes sets the variable, for a service with the name `antiphon`: `ANTIPHON_PORT`,
/// `ANTIPHON_SERVICE_HOST`, `ANTIPHON_PORT_8484_TCP_ADDR`.
fn is_service_link(name: &str) -> bool {
    let rest = name.strip_prefix(PREFIX).unwrap_or_default();
    let is_port = |rest: &str| rest.starts_with(|first: char| first.is_ascii_digit());
    rest == "PORT"
        || rest == "SERVICE_HOST"
        || rest == "SERVICE_PORT"
        || rest.starts_with("SERVICE_PORT_")
        || rest.strip_prefix("PORT_").is_some_and(is_port)
}
