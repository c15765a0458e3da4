//! Settings on the command line and in environment variables.

use std::env::{self, VarError};
use std::path::PathBuf;

use antiphon_gateway::settings::Secret;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, Error, FromArgMatches};

use super::catalog;
use super::setting::{Flag, Form};
use super::values::{Value, Values};
use crate::failure::Failure;

/// The settings on the command line.
#[derive(Args, Debug, Default)]
pub(crate) struct SettingsArgs {
    /// Settings file [default: antiphon.toml, if it exists]
    #[arg(long, value_name = "FILE")]
    pub(super) config: Option<PathBuf>,
    #[command(flatten)]
    pub(super) values: Values,
}

impl SettingsArgs {
    /// The settings of a command with few of the options of `serve`. Each has its key.
    pub(crate) fn from_options(
        config: Option<PathBuf>,
        options: impl Iterator<Item = (&'static str, String)>,
    ) -> Self {
        let mut values = Values::default();
        for (key, text) in options {
            values.push(key, Value::named(format!("--{key}"), text));
        }
        Self { config, values }
    }
}

/// The arguments of `serve`.
#[derive(Args, Debug, Default)]
pub(crate) struct ServeArgs {
    /// Check the settings, the store and the secret, then exit: with code 0, or with the error that
    /// a start would have
    #[arg(long)]
    pub(crate) check: bool,
    #[command(flatten)]
    pub(crate) settings: SettingsArgs,
}

/// The settings with a flag: their keys, forms and flags.
pub(super) fn flags() -> impl Iterator<Item = (&'static str, Form, Flag)> {
    catalog::settings()
        .into_iter()
        .filter_map(|setting| Some((setting.key, setting.form, setting.flag?)))
}

impl Args for Values {
    fn augment_args(command: Command) -> Command {
        command.args(flags().map(|(_, form, flag)| {
            let arg = Arg::new(flag.name).long(flag.name).value_name(flag.value_name);
            match form.is_list() {
                true => arg.help(flag.help).num_args(1..).action(ArgAction::Append),
                false => arg.help(flag.help).allow_negative_numbers(form.is_number()),
            }
        }))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for Values {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let mut values = Self::default();
        values.update_from_arg_matches(matches)?;
        Ok(values)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        for (key, _, flag) in flags() {
            for text in matches.get_many::<String>(flag.name).into_iter().flatten() {
                self.push(key, Value::named(flag.option(), text));
            }
        }
        Ok(())
    }
}

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
    flags().map(|(.., flag)| flag.variable()).chain([CONFIG, LOG, LOG_FORMAT].map(str::to_owned))
}

/// Reads the variables of the settings. Commas separate the entries of a list.
pub(super) fn read_variables(environment: &impl Environment) -> Result<Values, Failure> {
    let mut values = Values::default();
    for (key, form, flag) in flags() {
        let name = flag.variable();
        let Some(text) = environment(&name)?.map(Secret::new) else { continue };
        let entries = match form.is_list() {
            true => text.reveal().split(',').collect(),
            false => vec![text.reveal()],
        };
        for entry in entries {
            values.push(key, Value::named(&name, entry));
        }
    }
    Ok(values)
}
