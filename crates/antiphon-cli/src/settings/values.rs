//! The values of settings, as texts with their sources.

use std::collections::BTreeMap;
use std::fmt;

use antiphon_gateway::settings::Secret;

use super::declaration::{Declaration, Flag, Setting};
use crate::failure::Failure;

/// The values of settings, by the key of the setting.
#[derive(Clone, Debug, Default)]
pub(super) struct Values(BTreeMap<&'static str, Vec<Value>>);

impl Values {
    /// Adds a value to those of its setting.
    pub(super) fn push(&mut self, declaration: &Declaration, value: Value) {
        self.0.entry(declaration.key).or_default().push(value);
    }

    /// Adds values from the command line.
    pub(super) fn push_options(
        &mut self,
        declaration: &Declaration,
        texts: impl IntoIterator<Item = String>,
    ) {
        let option = declaration.flag.as_ref().map(Flag::option).unwrap_or_default();
        for text in texts {
            self.push(declaration, Value::new(text, Source::named(option.clone())));
        }
    }

    /// Replaces the values of each setting that `other` has.
    pub(super) fn override_with(&mut self, other: Self) {
        self.0.extend(other.0);
    }

    /// All values of a setting.
    pub(super) fn all<T>(&self, setting: &Setting<T>) -> &[Value] {
        self.0.get(setting.declaration.key).map_or(&[], Vec::as_slice)
    }

    /// The first value of a setting.
    pub(super) fn first<T>(&self, setting: &Setting<T>) -> Option<&Value> {
        self.all(setting).first()
    }

    /// The first value of a setting, parsed.
    pub(super) fn parse<T>(&self, setting: &Setting<T>) -> Result<Option<T>, Failure> {
        self.first(setting).map(setting.parse).transpose()
    }

    /// All values of a setting, parsed.
    pub(super) fn parse_all<T>(&self, setting: &Setting<T>) -> Result<Vec<T>, Failure> {
        self.all(setting).iter().map(setting.parse).collect()
    }

    /// Sets `target` if the setting has a value.
    pub(super) fn parse_into<T>(
        &self,
        setting: &Setting<T>,
        target: &mut T,
    ) -> Result<(), Failure> {
        if let Some(value) = self.parse(setting)? {
            *target = value;
        }
        Ok(())
    }
}

/// The text of a value and its source. The text may be a secret, so it is never shown.
#[derive(Clone, Debug)]
pub(super) struct Value {
    text: Secret,
    pub(super) source: Source,
}

impl Value {
    pub(super) fn new(text: impl Into<String>, source: Source) -> Self {
        Self { text: Secret::new(text), source }
    }

    /// The text without surrounding blanks.
    pub(super) fn text(&self) -> &str {
        self.text.reveal().trim()
    }

    /// The text with surrounding blanks.
    pub(super) fn untrimmed(&self) -> &str {
        self.text.reveal()
    }

    /// An error about the value.
    pub(super) fn refused(&self, sentence: impl fmt::Display) -> Failure {
        Failure::usage(format!("{}: {sentence}", self.source))
    }

    /// An error whose sentence begins with the name of the setting.
    pub(super) fn refused_as(&self, predicate: impl fmt::Display) -> Failure {
        Failure::usage(format!("{} {predicate}", self.source))
    }

    /// An error without the key of the setting.
    pub(super) fn refused_here(&self, sentence: impl fmt::Display) -> Failure {
        Failure::usage(format!("{}: {sentence}", self.source.place))
    }
}

/// The source of a value.
#[derive(Clone, Debug)]
pub(super) struct Source {
    /// The flag, the environment variable, or the file and the line.
    place: String,
    /// The key in the line of the file.
    key: Option<&'static str>,
}

impl Source {
    /// The flag or the environment variable of this name.
    pub(super) fn named(name: String) -> Self {
        Self { place: name, key: None }
    }

    /// A line of the file, as in `antiphon.toml:3`.
    pub(super) fn line(place: String, key: &'static str) -> Self {
        Self { place, key: Some(key) }
    }

    pub(super) fn is_variable(&self) -> bool {
        self.key.is_none() && !self.place.starts_with('-')
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.key {
            None => f.write_str(&self.place),
            Some(key) => write!(f, "{}: {key}", self.place),
        }
    }
}
