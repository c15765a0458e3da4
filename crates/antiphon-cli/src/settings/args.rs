//! The arguments of `antiphon serve`.

use std::path::PathBuf;

use clap::{Arg, ArgAction, ArgMatches, Args, Command, Error, FromArgMatches};

use super::catalog::SETTINGS;
use super::declaration::{Declaration, Flag};
use super::values::Values;

/// The arguments of `serve`.
#[derive(Args, Debug, Default)]
pub(crate) struct ServeArgs {
    /// Settings file [default: antiphon.toml, if it exists]
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Check the settings, the store and the secret, then exit: with code 0, or with the error that
    /// a start would have
    #[arg(long)]
    pub(crate) check: bool,
    #[command(flatten)]
    pub(super) values: Values,
}

/// The flags that the settings declare.
impl Args for Values {
    fn augment_args(command: Command) -> Command {
        command.args(flags().map(|(declaration, flag)| argument(declaration, flag)))
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
        for (declaration, flag) in flags() {
            let texts = matches.get_many::<String>(flag.name).into_iter().flatten();
            self.push_options(declaration, texts.cloned());
        }
        Ok(())
    }
}

fn argument(declaration: &Declaration, flag: &'static Flag) -> Arg {
    let argument = Arg::new(flag.name).long(flag.name).value_name(flag.value_name).help(flag.help);
    match declaration.form.is_list() {
        true => argument.num_args(1..).action(ArgAction::Append),
        false => argument.allow_negative_numbers(declaration.form.is_number()),
    }
}

/// The settings with a flag.
pub(super) fn flags() -> impl Iterator<Item = (&'static Declaration, &'static Flag)> {
    SETTINGS.iter().filter_map(|declaration| Some((*declaration, declaration.flag.as_ref()?)))
}
