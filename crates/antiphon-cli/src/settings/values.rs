//! The values of settings, as texts with their sources.

use std::collections::BTreeMap;
use std::fmt;

use antiphon_gateway::settings::Secret;

use super::flags::flags;
use crate::failure::Failure;

/// The values of settings, by the key of the setting.
#[derive(Clone, Debug, Default)]
pub(super) struct Values(BTreeMap<&'static str, Vec<Value>>);

impl Values {
    /// Adds a value to those of its setting.
    pub(super) fn push(&mut self, key: &'static str, value: Value) {
        self.0.entry(key).or_default().push(value);
    }

    /// Replaces the values of each setting that `other` has.
    pub(super) fn override_with(&mut self, other: Self) {
        self.0.extend(other.0);
    }

    /// The keys of the settings that have a value, and the place of the first one of each.
    pub(super) fn places(&self) -> impl Iterator<Item = (&'static str, &str)> {
        self.0.iter().filter_map(|(key, values)| Some((*key, &*values.first()?.place)))
    }

    /// All values of a setting.
    pub(super) fn all(&self, key: &str) -> &[Value] {
        self.0.get(key).map_or(&[], Vec::as_slice)
    }

    /// The first value of a setting.
    pub(super) fn first(&self, key: &str) -> Option<&Value> {
        self.all(key).first()
    }

    /// The values of some settings under other keys. Each pair is the old key and the new one.
    pub(super) fn renamed(&self, keys: &[(&str, &'static str)]) -> Self {
        let values = |(old, new): &(&str, &'static str)| Some((*new, self.0.get(*old)?.clone()));
        Self(keys.iter().filter_map(values).collect())
    }

    /// Rejects the value of a setting if `is_wrong`.
    pub(super) fn reject_if(
        &self,
        is_wrong: bool,
        key: &str,
        sentence: impl fmt::Display,
    ) -> Result<(), Failure> {
        self.first(key).filter(|_| is_wrong).map_or(Ok(()), |value| Err(value.refused(sentence)))
    }

    /// Rejects the value of a setting if `is_wrong`, with a sentence that depends on its source.
    pub(super) fn reject_with(
        &self,
        is_wrong: bool,
        key: &str,
        sentence: impl FnOnce(&Value) -> String,
    ) -> Result<(), Failure> {
        match self.first(key).filter(|_| is_wrong) {
            Some(value) => Err(value.refused(sentence(value))),
            None => Ok(()),
        }
    }

    /// Rejects the value of a setting if another setting, whose value is `max`, hides it.
    pub(super) fn reject_hidden(
        &self,
        is_hidden: bool,
        key: &str,
        other: &str,
        max: impl fmt::Display,
    ) -> Result<(), Failure> {
        self.first(key).filter(|_| is_hidden).map_or(Ok(()), |value| {
            let sentence =
                format!("has no effect above {other}, which is {max}: raise {other} too");
            Err(value.refused_as(sentence))
        })
    }
}

/// The text of a value and its source. The text may be a secret, so it is never shown.
#[derive(Clone, Debug)]
pub(super) struct Value {
    text: Secret,
    /// The flag, the environment variable, or the file and the line.
    place: String,
    /// The key in the line of the file.
    key: Option<&'static str>,
}

impl Value {
    /// A value of the flag or the environment variable with this name.
    pub(super) fn named(name: impl Into<String>, text: impl Into<String>) -> Self {
        Self { text: Secret::new(text), place: name.into(), key: None }
    }

    /// A value in a line of the file, as in `antiphon.toml:3`.
    pub(super) fn in_file(line: String, key: &'static str, text: String) -> Self {
        Self { text: Secret::new(text), place: line, key: Some(key) }
    }

    /// Another text with the same source.
    pub(super) fn with_text(&self, text: String) -> Self {
        Self { text: Secret::new(text), ..self.clone() }
    }

    /// The text without surrounding blanks.
    pub(super) fn text(&self) -> &str {
        self.text.reveal().trim()
    }

    /// The text with surrounding blanks.
    pub(super) fn untrimmed(&self) -> &str {
        self.text.reveal()
    }

    /// The name of the environment variable, if the value comes from one.
    pub(super) fn variable(&self) -> Option<&str> {
        Some(&*self.place).filter(|place| self.key.is_none() && !place.starts_with('-'))
    }

    /// The key of the file, if the value comes from there.
    pub(super) fn key(&self) -> Option<&'static str> {
        self.key
    }

    /// The name of the setting in a sentence: `--listen`, or `listen (antiphon.toml:3)`.
    pub(super) fn name(&self) -> String {
        self.key.map_or_else(|| self.place.clone(), |key| format!("{key} ({})", self.place))
    }

    /// Another setting with this value, in the form of the source of this one.
    pub(super) fn sibling(&self, key: &str, text: &str) -> String {
        let flag = flags().find_map(|(it, _, flag)| (it == key).then_some(flag));
        match (flag, self.key, self.variable()) {
            (Some(flag), None, None) => format!("{} {text}", flag.option()),
            (Some(flag), None, Some(_)) => format!("{}={text}", flag.variable()),
            _ => format!("{key} = \"{text}\""),
        }
    }

    /// The place and the key.
    fn source(&self) -> String {
        self.key.map_or_else(|| self.place.clone(), |key| format!("{}: {key}", self.place))
    }

    /// An error about the value.
    pub(super) fn refused(&self, sentence: impl fmt::Display) -> Failure {
        Failure::usage(format!("{}: {sentence}", self.source()))
    }

    /// An error whose sentence begins with the name of the setting.
    pub(super) fn refused_as(&self, predicate: impl fmt::Display) -> Failure {
        Failure::usage(format!("{} {predicate}", self.source()))
    }

    /// An error without the key of the setting.
    pub(super) fn refused_here(&self, sentence: impl fmt::Display) -> Failure {
        Failure::usage(format!("{}: {sentence}", self.place))
    }

    /// The error for a text that is not `expected`.
    pub(super) fn mismatch(&self, expected: &str) -> Failure {
        self.refused(format_args!("'{}' is not {expected}", self.text()))
    }

    /// Like [`mismatch`](Self::mismatch), but does not repeat the text of a file: there, any value
    /// of a wrong form may be a key.
    pub(super) fn unexpected(&self, expected: &str) -> Failure {
        match self.key {
            Some(_) => self.refused_as(format_args!("must be {expected}")),
            None => self.mismatch(expected),
        }
    }
}
