//! The declaration of a setting: its names, its form in the file, its parser, target and help.

use toml::de::DeValue;

use super::values::{Value, Values};
use crate::failure::Failure;

/// A setting of a `C`, as the command line, the environment and the file contain it.
pub(super) struct Setting<C> {
    /// The key in the file, as in `turn-wait`.
    pub(super) key: &'static str,
    /// The form of the value in the file.
    pub(super) form: Form,
    /// The values that the file may have, for an error.
    pub(super) expected: &'static str,
    /// The flag, if the setting has one. It then has an environment variable too.
    pub(super) flag: Option<Flag>,
    /// Whether the key belongs to `[limits]`.
    pub(super) is_limit: bool,
    /// Parses a value and stores the result.
    pub(super) set: Set<C>,
}

type Set<C> = Box<dyn Fn(&mut C, &Value) -> Result<(), Failure>>;

/// The form of a value in the file. Every permitted value becomes a text, or a list of texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    Text,
    List { may_be_empty: bool },
    Boolean,
    Integer,
    IntegerOrText,
}

/// The flag of a setting.
#[derive(Clone, Copy)]
pub(super) struct Flag {
    /// The name without hyphens, as in `turn-wait`.
    pub(super) name: &'static str,
    pub(super) value_name: &'static str,
    pub(super) help: &'static str,
}

pub(super) const TEXT: (Form, &str) = (Form::Text, "a string");
pub(super) const BOOLEAN: (Form, &str) = (Form::Boolean, "true or false");
pub(super) const NUMBER: (Form, &str) = (Form::Integer, "a whole number");
pub(super) const COUNT: (Form, &str) = (Form::Integer, "a whole number above 0");

impl<C: 'static> Setting<C> {
    /// A setting of this form, with the permitted values for an error. Each value is parsed and
    /// passed to `set`.
    pub(super) fn new<T: 'static>(
        key: &'static str,
        (form, expected): (Form, &'static str),
        parse: impl Fn(&Value) -> Result<T, Failure> + 'static,
        set: impl Fn(&mut C, T) + 'static,
    ) -> Self {
        let set = move |target: &mut C, value: &Value| parse(value).map(|it| set(target, it));
        Self { key, form, expected, flag: None, is_limit: false, set: Box::new(set) }
    }

    /// A text that other code reads.
    pub(super) fn unparsed(key: &'static str) -> Self {
        Self::new(key, TEXT, |_| Ok(()), |_, ()| ())
    }

    /// Adds a flag with the name of the key.
    pub(super) fn flag(self, value_name: &'static str, help: &'static str) -> Self {
        let flag = Flag { name: self.key, value_name, help };
        Self { flag: Some(flag), ..self }
    }

    /// Adds a flag with a name of its own: the key of a list is plural, and a flag gives one entry.
    pub(super) fn flag_named(
        self,
        name: &'static str,
        value_name: &'static str,
        help: &'static str,
    ) -> Self {
        Self { flag: Some(Flag { name, value_name, help }), ..self }
    }
}

/// Sets the fields of `target`, in the order of `settings`.
pub(super) fn apply<C>(
    settings: &[Setting<C>],
    values: &Values,
    target: &mut C,
) -> Result<(), Failure> {
    settings.iter().try_for_each(|setting| {
        values.all(setting.key).iter().try_for_each(|value| (setting.set)(target, value))
    })
}

impl Flag {
    /// The option on the command line, as in `--turn-wait`.
    pub(super) fn option(self) -> String {
        format!("--{}", self.name)
    }

    /// The environment variable, as in `ANTIPHON_TURN_WAIT`.
    pub(super) fn variable(self) -> String {
        format!("ANTIPHON_{}", self.name.replace('-', "_").to_uppercase())
    }
}

impl Form {
    pub(super) fn is_list(self) -> bool {
        matches!(self, Self::List { .. })
    }

    pub(super) fn is_number(self) -> bool {
        matches!(self, Self::Integer | Self::IntegerOrText)
    }

    /// The text of a value, or of one entry of a list. `None` if the value has another form.
    pub(super) fn text(self, value: &DeValue<'_>) -> Option<String> {
        match (self, value) {
            (Self::Text | Self::List { .. } | Self::IntegerOrText, DeValue::String(text)) => {
                Some(text.to_string())
            }
            (Self::Integer | Self::IntegerOrText, DeValue::Integer(number)) => {
                let number = i128::from_str_radix(number.as_str(), number.radix()).ok()?;
                Some(number.to_string())
            }
            (Self::Boolean, DeValue::Boolean(is_true)) => Some(is_true.to_string()),
            _ => None,
        }
    }
}
