//! Settings in environment variables.

use std::env::{self, VarError};

use antiphon_gateway::settings::Secret;

use super::args::flags;
use super::values::{Source, Value, Values};
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
    flags().map(|(_, flag)| flag.variable()).chain([CONFIG, LOG, LOG_FORMAT].map(str::to_owned))
}

/// Reads the variables of the settings. Commas separate the entries of a list.
pub(super) fn values(environment: &impl Environment) -> Result<Values, Failure> {
    let mut values = Values::default();
    for (declaration, flag) in flags() {
        let name = flag.variable();
        let Some(text) = environment(&name)?.map(Secret::new) else { continue };
        let entries = match declaration.form.is_list() {
            true => text.reveal().split(',').collect(),
            false => vec![text.reveal()],
        };
        for entry in entries {
            values.push(declaration, Value::new(entry, Source::named(name.clone())));
        }
    }
    Ok(values)
}
