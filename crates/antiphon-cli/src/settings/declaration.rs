//! The declaration of a setting: its names, its form in the file, its parser and its help.

use toml::de::DeValue;

use super::values::Value;
use crate::failure::Failure;

/// A setting with values of type `T`.
pub(super) struct Setting<T: 'static> {
    pub(super) declaration: Declaration,
    pub(super) parse: fn(&Value) -> Result<T, Failure>,
}

/// The properties of a setting that do not depend on the type of its values.
pub(super) struct Declaration {
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
}

/// The form of a value in the file. Every permitted value becomes a text, or a list of texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    Text,
    List { may_be_empty: bool },
    Boolean,
    Integer,
    IntegerOrText,
    Number { least: u64, most: u64 },
}

/// The flag of a setting.
pub(super) struct Flag {
    /// The name without hyphens, as in `turn-wait`.
    pub(super) name: &'static str,
    pub(super) value_name: &'static str,
    pub(super) help: &'static str,
}

impl<T> Setting<T> {
    pub(super) const fn new(
        key: &'static str,
        (form, expected): (Form, &'static str),
        parse: fn(&Value) -> Result<T, Failure>,
    ) -> Self {
        let declaration = Declaration { key, form, expected, flag: None, is_limit: false };
        Self { declaration, parse }
    }

    /// The error for a value that the setting does not permit.
    pub(super) fn unexpected(&self, value: &Value) -> Failure {
        value.refused_as(format!("must be {}", self.declaration.expected))
    }

    /// Moves the key to `[limits]`.
    pub(super) const fn limit(mut self) -> Self {
        self.declaration.is_limit = true;
        self
    }

    /// Adds a flag with the name of the key.
    pub(super) const fn flag(self, value_name: &'static str, help: &'static str) -> Self {
        let name = self.declaration.key;
        self.flag_named(name, value_name, help)
    }

    /// Adds a flag with a name of its own: the key of a list is plural, and a flag gives one entry.
    pub(super) const fn flag_named(
        mut self,
        name: &'static str,
        value_name: &'static str,
        help: &'static str,
    ) -> Self {
        self.declaration.flag = Some(Flag { name, value_name, help });
        self
    }
}

pub(super) const TEXT: (Form, &str) = (Form::Text, "a string");
pub(super) const BOOLEAN: (Form, &str) = (Form::Boolean, "true or false");
pub(super) const COUNT: (Form, &str) =
    (Form::Number { least: 1, most: u32::MAX as u64 }, "a whole number above 0");
pub(super) const LARGE_COUNT: (Form, &str) =
    (Form::Number { least: 1, most: u64::MAX }, "a whole number above 0");
pub(super) const COUNT_OR_ZERO: (Form, &str) =
    (Form::Number { least: 0, most: u32::MAX as u64 }, "a whole number");
pub(super) const LIST: Form = Form::List { may_be_empty: true };
pub(super) const NON_EMPTY_LIST: Form = Form::List { may_be_empty: false };

impl Form {
    pub(super) fn is_list(self) -> bool {
        matches!(self, Self::List { .. })
    }

    pub(super) fn is_number(self) -> bool {
        matches!(self, Self::Integer | Self::IntegerOrText | Self::Number { .. })
    }

    /// The text of a value, or of one entry of a list. `None` if the value has another form.
    pub(super) fn text(self, value: &DeValue<'_>) -> Option<String> {
        let text = || value.as_str().map(str::to_owned);
        let integer = || value.as_integer().map(ToString::to_string);
        match self {
            Self::Text | Self::List { .. } => text(),
            Self::Boolean => value.as_bool().map(|is_so| is_so.to_string()),
            Self::Integer => integer(),
            Self::IntegerOrText => integer().or_else(text),
            Self::Number { least, most } => {
                let integer = value.as_integer()?;
                let number = u64::from_str_radix(integer.as_str(), integer.radix()).ok()?;
                (least..=most).contains(&number).then(|| number.to_string())
            }
        }
    }
}

impl Flag {
    /// The option on the command line, as in `--turn-wait`.
    pub(super) fn option(&self) -> String {
        format!("--{}", self.name)
    }

    /// The environment variable, as in `ANTIPHON_TURN_WAIT`.
    pub(super) fn variable(&self) -> String {
        format!("ANTIPHON_{}", self.name.replace('-', "_").to_uppercase())
    }
}

/// Declares settings as statics, and lists their declarations in the order of the source.
macro_rules! settings {
    ($all:ident: $($name:ident: $type:ty = $setting:expr;)+) => {
        $(pub(super) static $name: Setting<$type> = $setting;)+
        pub(super) static $all: &[&Declaration] = &[$(&$name.declaration),+];
    };
}

pub(super) use settings;
