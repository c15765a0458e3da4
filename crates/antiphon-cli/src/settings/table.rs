//! Tables that may occur several times in a file, as `[[upstreams]]` and `[[webhooks]]`.

use std::ops::Range;

use toml::Spanned;
use toml::de::{DeString, DeTable, DeValue};

use super::environment::Environment;
use super::file::Document;
use super::layer::Said;
use crate::failure::Failure;

/// The description of one kind of table.
pub(super) struct Form {
    /// The key of the array of tables, as in `upstreams`.
    pub(super) plural: &'static str,
    /// The name of one table, as in `an upstream`.
    pub(super) one: &'static str,
    /// The permitted keys.
    pub(super) keys: &'static [&'static str],
}

/// One table. Its errors name keys and never repeat values.
pub(super) struct Table<'a> {
    form: &'static Form,
    document: &'a Document<'a>,
    span: Range<usize>,
    entries: &'a DeTable<'a>,
}

impl Form {
    /// Parses the tables in `value`. Rejects unknown keys.
    pub(super) fn tables<'a>(
        &'static self,
        document: &'a Document<'a>,
        value: &'a Spanned<DeValue<'a>>,
    ) -> Result<Vec<Table<'a>>, Failure> {
        let plural = self.plural;
        let tables = value.get_ref().as_array().ok_or_else(|| {
            let sentence = format!("{plural} must be tables, each below [[{plural}]]");
            document.refused(Some(value.span()), &sentence)
        })?;
        tables.iter().map(|table| self.table(document, table)).collect()
    }

    fn table<'a>(
        &'static self,
        document: &'a Document<'a>,
        table: &'a Spanned<DeValue<'a>>,
    ) -> Result<Table<'a>, Failure> {
        let entries = table.get_ref().as_table().ok_or_else(|| {
            let sentence = format!("{} must be a table below [[{}]]", self.one, self.plural);
            document.refused(Some(table.span()), &sentence)
        })?;
        let table = Table { form: self, document, span: table.span(), entries };
        table.has_known_keys_only()?;
        Ok(table)
    }

    /// The name of one table without its article, as in `upstream`.
    fn name(&self) -> &'static str {
        self.one.split_once(' ').map_or(self.one, |(_, name)| name)
    }
}

impl Table<'_> {
    /// The text at `key`.
    pub(super) fn text(&self, key: &'static str) -> Result<Option<Said>, Failure> {
        let Some(value) = self.value(key) else { return Ok(None) };
        match value.get_ref().as_str() {
            Some(text) => Ok(Some(self.document.said_at(key, value, text.to_owned()))),
            None => Err(self.wrong_type(key, "a string")),
        }
    }

    /// A secret text: either the one at `key`, or the value of the environment variable that the
    /// key `variable` names.
    pub(super) fn secret(
        &self,
        key: &'static str,
        variable: &'static str,
        environment: &impl Environment,
    ) -> Result<Option<Said>, Failure> {
        let (said, named) = match (self.text(key)?, self.text(variable)?) {
            (Some(_), Some(named)) => {
                let one = self.form.one;
                return Err(named.refused(format!("{one} has '{key}' or '{variable}', not both")));
            }
            pair => pair,
        };
        let Some(named) = named else { return Ok(said) };
        let name = named.trimmed();
        let text = environment(name)?
            .ok_or_else(|| named.refused(format!("the variable {name} is not set")))?;
        Ok(Some(Said { text, place: named.place }))
    }

    /// A whole number of at least `least`.
    pub(super) fn integer(
        &self,
        key: &'static str,
        least: u32,
        expected: &str,
    ) -> Result<Option<u32>, Failure> {
        let Some(value) = self.value(key) else { return Ok(None) };
        let number = value.get_ref().as_integer();
        let number =
            number.and_then(|number| u32::from_str_radix(number.as_str(), number.radix()).ok());
        match number.filter(|number| *number >= least) {
            Some(number) => Ok(Some(number)),
            None => Err(self.wrong_type(key, expected)),
        }
    }

    /// A boolean.
    pub(super) fn boolean(&self, key: &'static str) -> Result<Option<bool>, Failure> {
        let Some(value) = self.value(key) else { return Ok(None) };
        match value.get_ref().as_bool() {
            Some(is_so) => Ok(Some(is_so)),
            None => Err(self.wrong_type(key, "true or false")),
        }
    }

    /// A list of texts with at least one entry.
    pub(super) fn list<T>(
        &self,
        key: &'static str,
        expected: &str,
        parse: impl Fn(&str) -> Option<T>,
    ) -> Result<Option<Vec<T>>, Failure> {
        let Some(value) = self.value(key) else { return Ok(None) };
        let texts = value.get_ref().as_array().filter(|texts| !texts.is_empty());
        let texts = texts.ok_or_else(|| self.wrong_type(key, expected))?;
        let parsed = texts.iter().map(|text| text.get_ref().as_str().and_then(&parse));
        let parsed = parsed.collect::<Option<_>>();
        parsed.map(Some).ok_or_else(|| self.wrong_type(key, expected))
    }

    /// The place of the value at `key`, for a later error.
    pub(super) fn place(&self, key: &'static str) -> Option<Said> {
        self.value(key).map(|value| self.document.said_at(key, value, String::new()))
    }

    /// Whether the table has `key`.
    pub(super) fn has(&self, key: &str) -> bool {
        self.value(key).is_some()
    }

    /// The error for a missing `key`.
    pub(super) fn lacks(&self, key: &str) -> Failure {
        self.refused(&format!("this {} lacks '{key}'", self.form.name()))
    }

    /// An error about the whole table.
    pub(super) fn refused(&self, sentence: &str) -> Failure {
        self.document.refused(Some(self.span.clone()), sentence)
    }

    /// An error about the value at `key`.
    pub(super) fn refused_at(&self, key: &str, sentence: &str) -> Failure {
        self.document.refused(self.value(key).map(Spanned::span), sentence)
    }

    fn has_known_keys_only(&self) -> Result<(), Failure> {
        let Form { one, keys, .. } = self.form;
        let unknown = |key: &&Spanned<DeString<'_>>| !keys.contains(&&**key.get_ref());
        match self.entries.keys().find(unknown) {
            None => Ok(()),
            Some(key) => {
                let (name, known) = (key.get_ref(), keys.join(", "));
                let sentence = format!("unknown key '{name}'; {one}'s keys are {known}");
                Err(self.document.refused(Some(key.span()), &sentence))
            }
        }
    }

    fn value(&self, key: &str) -> Option<&Spanned<DeValue<'_>>> {
        let mut entries = self.entries.iter();
        entries.find(|(name, _)| name.get_ref() == key).map(|(_, value)| value)
    }

    fn wrong_type(&self, key: &str, expected: &str) -> Failure {
        self.refused_at(key, &format!("{key} must be {expected}"))
    }
}
