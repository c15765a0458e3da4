//! The settings file.
//!
//! ```toml
//! listen = "127.0.0.1:8484"
//! turn-wait = 30
//! api-keys = ["KEY=TENANT", "KEY=TENANT"]
//! ```
//!
//! The API keys are a list of strings, in the form of `--api-key`, and not a table. In TOML, every
//! line after a table header belongs to that table: a setting written below `[api-keys]` would
//! become a valid API key.
//!
//! Errors name the line but never repeat a value of the wrong form: any value may be a key.

use std::fmt;
use std::fs;
use std::io;
use std::ops::Range;
use std::path::Path;

use antiphon_gateway::settings::Secret;
use toml::Spanned;
use toml::de::{DeString, DeTable, DeValue};

use super::catalog::SETTINGS;
use super::declaration::{Declaration, Form};
use super::table::{Table, TableForm};
use super::upstream_keys::UPSTREAM;
use super::values::{Source, Value, Values};
use super::webhooks::WEBHOOK;
use crate::failure::Failure;

const DEFAULT: &str = "antiphon.toml";

/// The keys of the file whose values are tables.
const TABLES: [&str; 3] = [UPSTREAMS, WEBHOOKS, LIMITS];
const UPSTREAMS: &str = "upstreams";
const WEBHOOKS: &str = "webhooks";
const LIMITS: &str = "limits";

/// The settings in the file.
#[derive(Default)]
pub(super) struct File {
    /// The settings at the top and the limits.
    pub(super) values: Values,
    /// The upstreams, in the order of the file.
    pub(super) upstreams: Vec<Table>,
    /// The webhook endpoints.
    pub(super) webhooks: Vec<Table>,
}

impl File {
    /// Reads the settings file: the `named` one, which must exist, or else `antiphon.toml` in the
    /// working directory, which may be absent.
    pub(super) fn read(named: Option<&Path>) -> Result<Self, Failure> {
        let path = named.unwrap_or(Path::new(DEFAULT));
        let name = path.display().to_string();
        match fs::read_to_string(path) {
            Ok(text) => Self::parse(&name, Secret::new(text).reveal()),
            Err(error) if error.kind() == io::ErrorKind::NotFound && named.is_none() => {
                Ok(Self::default())
            }
            Err(error) => Err(Failure::usage(format!("{name} cannot be read: {error}"))),
        }
    }

    /// Parses the text of a settings file.
    pub(super) fn parse(name: &str, text: &str) -> Result<Self, Failure> {
        let document = Document { name, text };
        let table = DeTable::parse(text).map_err(|error| {
            let span = error.span().unwrap_or_default();
            document.refused(span, format!("this is not TOML: {}", error.message()))
        })?;
        let keys = Keys::new("the keys", declarations(false), &TABLES);
        let mut file = Self::default();
        for (key, value) in table.get_ref() {
            match &**key.get_ref() {
                UPSTREAMS => file.upstreams = document.tables(&UPSTREAM, value)?,
                WEBHOOKS => file.webhooks = document.tables(&WEBHOOK, value)?,
                LIMITS => document.limits(value, &mut file.values)?,
                _ => document.entry(&keys, key, value, &mut file.values)?,
            }
        }
        Ok(file)
    }
}

/// The text of the file, for the lines of errors.
struct Document<'a> {
    name: &'a str,
    text: &'a str,
}

impl Document<'_> {
    /// Reads the tables of an array.
    fn tables(
        &self,
        form: &'static TableForm,
        value: &Spanned<DeValue<'_>>,
    ) -> Result<Vec<Table>, Failure> {
        let TableForm { plural, one, keys } = form;
        let tables = value.get_ref().as_array().ok_or_else(|| {
            self.refused(value.span(), format!("{plural} must be tables, each below [[{plural}]]"))
        })?;
        let keys = Keys::new(&format!("{one}'s keys"), keys.iter().copied(), &[]);
        let table = |table: &Spanned<DeValue<'_>>| {
            let sentence = format!("{one} must be a table below [[{plural}]]");
            let values = self.table(&keys, table, sentence)?;
            Ok(Table { form, place: self.place(table.span()), values })
        };
        tables.iter().map(table).collect()
    }

    fn limits(&self, value: &Spanned<DeValue<'_>>, values: &mut Values) -> Result<(), Failure> {
        let keys = Keys::new("the limits", declarations(true), &[]);
        let sentence = format!("{LIMITS} must be a table below [{LIMITS}]");
        values.override_with(self.table(&keys, value, sentence)?);
        Ok(())
    }

    /// Reads a table with these keys. `sentence` is the error for any other value.
    fn table(
        &self,
        keys: &Keys,
        value: &Spanned<DeValue<'_>>,
        sentence: String,
    ) -> Result<Values, Failure> {
        let table = value.get_ref().as_table();
        let mut values = Values::default();
        for (key, entry) in table.ok_or_else(|| self.refused(value.span(), sentence))? {
            self.entry(keys, key, entry, &mut values)?;
        }
        Ok(values)
    }

    /// Reads the value of one key.
    fn entry(
        &self,
        keys: &Keys,
        key: &Spanned<DeString<'_>>,
        value: &Spanned<DeValue<'_>>,
        values: &mut Values,
    ) -> Result<(), Failure> {
        let declaration = keys.find(key.get_ref());
        let declaration = declaration.map_err(|sentence| self.refused(key.span(), sentence))?;
        let Declaration { key, form, expected, .. } = *declaration;
        let wrong = |value: &Spanned<DeValue<'_>>| {
            self.refused(value.span(), format!("{key} must be {expected}"))
        };
        let entries = match (form, value.get_ref()) {
            (Form::List { may_be_empty }, DeValue::Array(entries))
                if may_be_empty || !entries.is_empty() =>
            {
                entries
            }
            (Form::List { .. }, _) => return Err(wrong(value)),
            _ => std::slice::from_ref(value),
        };
        for entry in entries {
            let text = form.text(entry.get_ref()).ok_or_else(|| wrong(entry))?;
            let source = Source::line(self.place(entry.span()), key);
            values.push(declaration, Value::new(text, source));
        }
        Ok(())
    }

    fn refused(&self, span: Range<usize>, sentence: impl fmt::Display) -> Failure {
        Failure::usage(format!("{}: {sentence}", self.place(span)))
    }

    /// The file and the line, from 1, of the start of `span`.
    fn place(&self, span: Range<usize>) -> String {
        let before = self.text.bytes().take(span.start);
        let line = 1 + before.filter(|&byte| byte == b'\n').count();
        format!("{}:{line}", self.name)
    }
}

/// The keys that a table may have.
struct Keys {
    /// Names the keys in an error, as in `the limits`.
    title: String,
    known: Vec<&'static Declaration>,
    /// Known keys that another code reads.
    others: &'static [&'static str],
}

impl Keys {
    fn new(
        title: &str,
        known: impl Iterator<Item = &'static Declaration>,
        others: &'static [&'static str],
    ) -> Self {
        Self { title: title.to_owned(), known: known.collect(), others }
    }

    /// The declaration of a key. The error is a sentence.
    fn find(&self, name: &str) -> Result<&'static Declaration, String> {
        let known = self.known.iter().find(|declaration| declaration.key == name);
        known.copied().ok_or_else(|| {
            let keys = self.known.iter().map(|declaration| declaration.key);
            let keys: Vec<&str> = keys.chain(self.others.iter().copied()).collect();
            format!("unknown key '{name}'; {} are {}", self.title, keys.join(", "))
        })
    }
}

/// The declared limits, or all other settings.
fn declarations(are_limits: bool) -> impl Iterator<Item = &'static Declaration> {
    SETTINGS.iter().copied().filter(move |declaration| declaration.is_limit == are_limits)
}
