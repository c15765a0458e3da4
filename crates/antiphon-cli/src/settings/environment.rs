//! The environment as a layer.

use std::env::{self, VarError};

use super::layer::{Layer, Place, Said};
use super::setting::Setting;
use crate::failure::Failure;

/// The variable that names the settings file.
pub(super) const CONFIG: &str = "ANTIPHON_CONFIG";
/// The variable that filters the log.
pub(crate) const LOG: &str = "ANTIPHON_LOG";
/// The variable that sets the form of a log line.
pub(crate) const LOG_FORMAT: &str = "ANTIPHON_LOG_FORMAT";

/// Looks up an environment variable. An empty variable counts as unset: container files leave
/// variables out this way.
pub(crate) trait Environment: Fn(&str) -> Result<Option<String>, Failure> {}

impl<F: Fn(&str) -> Result<Option<String>, Failure>> Environment for F {}

/// The [`Environment`] of this process.
pub(crate) fn environment(name: &str) -> Result<Option<String>, Failure> {
    match env::var(name) {
        Ok(text) => Ok(Some(text).filter(|text| !text.is_empty())),
        Err(VarError::NotPresent) => Ok(None),
        Err(VarError::NotUnicode(_)) => Err(Failure::usage(format!("{name} is not UTF-8"))),
    }
}

/// The names of all non-empty variables of this process. Skips names that are not UTF-8: they
/// cannot belong to a setting.
pub(crate) fn variable_names() -> Vec<String> {
    let set = env::vars_os().filter(|(_, text)| !text.is_empty());
    set.filter_map(|(name, _)| name.into_string().ok()).collect()
}

/// The variables that `serve` reads, except those that the settings file names.
pub(super) fn known_variables() -> impl Iterator<Item = String> {
    let settings = Setting::ALL.into_iter().map(Setting::variable);
    settings.chain([CONFIG, LOG, LOG_FORMAT].map(str::to_owned))
}

/// Reads the variables of the settings.
pub(super) fn layer(environment: impl Environment) -> Result<Layer, Failure> {
    let mut layer = Layer::default();
    for setting in Setting::ALL {
        let name = setting.variable();
        for text in environment(&name)?.iter().flat_map(|text| entries(setting, text)) {
            layer.say(setting, Said { text: text.to_owned(), place: Place::Named(name.clone()) });
        }
    }
    Ok(layer)
}

/// Splits the value of a list at its commas. Any other setting has a single value.
fn entries(setting: Setting, text: &str) -> Vec<&str> {
    if setting.is_list() { text.split(',').collect() } else { vec![text] }
}
