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
    /// Parses a value and stores the result. Other code reads a setting that stores nothing.
    set: Set<C>,
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
    Decimal,
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

/// Declares the settings of a target. A row has the key in the file, the form there, the parser and
/// the assignment; other code reads a setting without a parser.
///
/// A setting with a flag has the name of the value next to the key. The flag's own name precedes it
/// if that is not the key, because a flag gives one entry of a list. The doc comment is the help.
macro_rules! settings {
    ($target:ty; $(
        $(#[doc = $help:literal])*
        $key:literal $([$($flag:literal),+])?: $form:expr $(, $parse:expr => $set:expr)?;
    )*) => {
        vec![$(
            $crate::settings::setting::Setting::<$target>::new($key, $form)
                .with_flag(&[$($($flag),+)?], concat!($($help),*))
                $(.parsed($parse, $set))?
        ),*]
    };
}
pub(super) use settings;

impl<C: 'static> Setting<C> {
    /// A setting of this form, with the permitted values for an error. `limits.` before the key
    /// stands for the table.
    pub(super) fn new(key: &'static str, (form, expected): (Form, &'static str)) -> Self {
        let (is_limit, key) = key.strip_prefix("limits.").map_or((false, key), |key| (true, key));
        Self { key, form, expected, flag: None, is_limit, set: Box::new(|_, _| Ok(())) }
    }

    /// Parses each value and passes it to `set`.
    pub(super) fn parsed<T: 'static>(
        self,
        parse: impl Fn(&Value) -> Result<T, Failure> + 'static,
        set: impl Fn(&mut C, T) + 'static,
    ) -> Self {
        let set = move |target: &mut C, value: &Value| parse(value).map(|it| set(target, it));
        Self { set: Box::new(set), ..self }
    }

    /// Adds a flag with these names: its own, unless it is the key, and the one of its value.
    pub(super) fn with_flag(self, names: &[&'static str], help: &'static str) -> Self {
        let (name, value_name) = match *names {
            [value_name] => (self.key, value_name),
            [name, value_name] => (name, value_name),
            _ => return self,
        };
        Self { flag: Some(Flag { name, value_name, help: help.trim_start() }), ..self }
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
            (Self::Integer | Self::IntegerOrText | Self::Decimal, DeValue::Integer(number)) => {
                let number = i128::from_str_radix(number.as_str(), number.radix()).ok()?;
                Some(number.to_string())
            }
            (Self::Decimal, DeValue::Float(number)) => Some(number.as_str().to_owned()),
            (Self::Boolean, DeValue::Boolean(is_true)) => Some(is_true.to_string()),
            _ => None,
        }
    }
}
