//! Tables that may occur several times in the file, as `[[upstreams]]` and `[[webhooks]]`.

use super::declaration::{Declaration, Setting};
use super::environment::Environment;
use super::values::{Value, Values};
use crate::failure::Failure;

/// The description of one kind of table.
pub(super) struct TableForm {
    /// The key of the array of tables, as in `upstreams`.
    pub(super) plural: &'static str,
    /// The name of one table, as in `an upstream`.
    pub(super) one: &'static str,
    pub(super) keys: &'static [&'static Declaration],
}

/// One table.
pub(super) struct Table {
    pub(super) form: &'static TableForm,
    /// The file and the line of the table.
    pub(super) place: String,
    pub(super) values: Values,
}

impl Table {
    /// The value of a required setting.
    pub(super) fn required<T>(&self, setting: &Setting<T>) -> Result<&Value, Failure> {
        self.values.first(setting).ok_or_else(|| self.lacks(setting))
    }

    /// The error for a missing setting.
    pub(super) fn lacks<T>(&self, setting: &Setting<T>) -> Failure {
        let name = self.form.one.split_once(' ').map_or(self.form.one, |(_, name)| name);
        self.refused(&format!("this {name} lacks '{}'", setting.declaration.key))
    }

    /// A secret: either the value of `setting`, or the value of the environment variable that
    /// `variable` names.
    pub(super) fn secret<T>(
        &self,
        setting: &Setting<T>,
        variable: &Setting<String>,
        environment: &impl Environment,
    ) -> Result<Option<T>, Failure> {
        let Some(named) = self.values.first(variable) else { return self.values.parse(setting) };
        if self.values.first(setting).is_some() {
            let (one, key) = (self.form.one, setting.declaration.key);
            let other = variable.declaration.key;
            return Err(named.refused(format!("{one} has '{key}' or '{other}', not both")));
        }
        let name = named.text();
        let text = environment(name)?
            .ok_or_else(|| named.refused(format!("the variable {name} is not set")))?;
        (setting.parse)(&Value::new(text, named.source.clone())).map(Some)
    }

    /// An error about the whole table.
    pub(super) fn refused(&self, sentence: &str) -> Failure {
        Failure::usage(format!("{}: {sentence}", self.place))
    }
}
