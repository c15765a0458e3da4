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

/// Looks up an environment variable. An empty one counts as none: that is how container files
/// leave a variable out.
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

/// The names of all variables of this process that are not empty. A name that is not UTF-8 is none
/// of ours.
pub(crate) fn variable_names() -> Vec<String> {
    let set = env::vars_os().filter(|(_, text)| !text.is_empty());
    set.filter_map(|(name, _)| name.into_string().ok()).collect()
}

/// Every variable that `serve` reads, the ones that the file names aside.
pub(super) fn known_variables() -> impl Iterator<Item = String> {
    let settings = Setting::ALL.into_iter().map(Setting::variable);
    settings.chain([CONFIG, LOG, LOG_FORMAT].map(str::to_owned))
}

/// What the variables of the settings say.
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

/// Commas separate the entries of a list; any other setting has one value.
fn entries(setting: Setting, text: &str) -> Vec<&str> {
    if setting.is_list() { text.split(',').collect() } else { vec![text] }
}
