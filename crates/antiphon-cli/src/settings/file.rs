//! The settings file.
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
use std::path::{Path, PathBuf};

use antiphon_gateway::settings::Secret;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::flags::Environment;
use super::setting::{Form, Setting};
use super::values::{Value, Values};
use super::{catalog, prices, upstreams, webhooks};
use crate::failure::Failure;

const DEFAULT: &str = "antiphon.toml";

/// The settings in the file.
#[derive(Default)]
pub(super) struct File {
    /// The path, if a file was read.
    pub(super) path: Option<PathBuf>,
    /// The settings at the top and the limits.
    pub(super) values: Values,
    /// The upstreams, in the order of the file.
    pub(super) upstreams: Vec<Table>,
    /// The webhook endpoints.
    pub(super) webhooks: Vec<Table>,
    pub(super) prices: PriceTables,
}

/// The table `[prices]`.
#[derive(Default)]
pub(super) struct PriceTables {
    /// The settings besides the models.
    pub(super) values: Values,
    /// The models and their prices.
    pub(super) models: Vec<(String, Table)>,
}

/// A table that may occur several times in the file, as `[[upstreams]]`.
pub(super) struct Table {
    /// The name of one such table, with an article: `an upstream`.
    title: &'static str,
    /// The file and the line of the table.
    place: String,
    pub(super) values: Values,
}

impl File {
    /// Reads the settings file: the `named` one, which must exist, or else `antiphon.toml` in the
    /// working directory, which may be absent.
    pub(super) fn read(named: Option<&Path>) -> Result<Self, Failure> {
        let path = named.unwrap_or(Path::new(DEFAULT));
        let name = path.display().to_string();
        match fs::read_to_string(path) {
            Ok(text) => {
                let file = Self::parse(&name, Secret::new(text).reveal())?;
                Ok(Self { path: Some(path.to_owned()), ..file })
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound && named.is_none() => {
                Ok(Self::default())
            }
            Err(error) => Err(Failure::usage(format!("{name} cannot be read: {error}"))),
        }
    }

    /// Parses the text of a settings file.
    pub(super) fn parse(name: &str, text: &str) -> Result<Self, Failure> {
        let document = Document { name, text };
        let file = DeTable::parse(text).map_err(|error| {
            let span = error.span().unwrap_or_default();
            document.refused(span, format!("this is not TOML: {}", error.message()))
        })?;
        let file = file.get_ref();
        let (limits, settings): (Vec<_>, Vec<_>) =
            catalog::settings().into_iter().partition(|setting| setting.is_limit);
        let tables = ["upstreams", "webhooks", "limits", "prices"];
        let mut values = document.values(file, "the keys", &settings, &tables)?;
        if let Some(table) = file.get("limits") {
            let table = document.table(table, "limits must be a table below [limits]")?;
            values.override_with(document.values(table, "the limits", &limits, &[])?);
        }
        let (upstreams, webhooks) = (file.get("upstreams"), file.get("webhooks"));
        let upstreams = document.tables(upstreams, "an upstream", &upstreams::settings())?;
        let webhooks = document.tables(webhooks, "a webhook", &webhooks::settings())?;
        let prices = file.get("prices").map(|it| document.prices(it)).transpose()?;
        Ok(Self { path: None, values, upstreams, webhooks, prices: prices.unwrap_or_default() })
    }

    /// Replaces `key-env` and `secret-env` by the values of the variables that they name. Returns
    /// the names of these variables.
    pub(super) fn read_variables(
        &mut self,
        environment: &impl Environment,
    ) -> Result<Vec<String>, Failure> {
        let mut names = Vec::new();
        for table in self.upstreams.iter_mut().chain(&mut self.webhooks) {
            for (key, named_by) in [("key", "key-env"), ("secret", "secret-env")] {
                names.extend(table.read_variable(key, named_by, environment)?);
            }
        }
        Ok(names)
    }
}

impl Table {
    /// The value of a required setting.
    pub(super) fn required(&self, key: &str) -> Result<&Value, Failure> {
        self.values.first(key).ok_or_else(|| {
            let (_, name) = self.title.split_once(' ').unwrap_or_default();
            self.refused(&format!("this {name} lacks '{key}'"))
        })
    }

    /// Sets `key` to the value of the environment variable that `named_by` names. Returns the name.
    fn read_variable(
        &mut self,
        key: &'static str,
        named_by: &str,
        environment: &impl Environment,
    ) -> Result<Option<String>, Failure> {
        let Some(named) = self.values.first(named_by) else { return Ok(None) };
        if self.values.first(key).is_some() {
            let title = self.title;
            return Err(named.refused(format!("{title} has '{key}' or '{named_by}', not both")));
        }
        let name = named.text().to_owned();
        let text = environment(&name)?
            .ok_or_else(|| named.refused(format!("the variable {name} is not set, or is empty")))?;
        let value = named.with_text(text);
        self.values.push(key, value);
        Ok(Some(name))
    }

    /// The file and the line of the table.
    pub(super) fn place(&self) -> &str {
        &self.place
    }

    /// An error about the whole table.
    pub(super) fn refused(&self, sentence: &str) -> Failure {
        Failure::usage(format!("{}: {sentence}", self.place))
    }
}

/// The place of a setting that is in the wrong table.
fn hint(key: &str) -> &'static str {
    match catalog::settings().iter().find(|setting| setting.key == key) {
        Some(limit) if limit.is_limit => ", which belongs below [limits]",
        Some(_) => ", which belongs at the top of the file, before the first table",
        None => "",
    }
}

/// The text of the file, for the lines of errors.
struct Document<'a> {
    name: &'a str,
    text: &'a str,
}

impl Document<'_> {
    /// The tables of an array. `title` is the name of one of them, with an article.
    fn tables<C>(
        &self,
        array: Option<&Spanned<DeValue<'_>>>,
        title: &'static str,
        settings: &[Setting<C>],
    ) -> Result<Vec<Table>, Failure> {
        let Some(array) = array else { return Ok(Vec::new()) };
        let plural = format!("{}s", title.split_once(' ').unwrap_or_default().1);
        let tables = array.get_ref().as_array().ok_or_else(|| {
            let sentence = format!("{plural} must be tables, each below [[{plural}]]");
            self.refused(array.span(), sentence)
        })?;
        let read = |value: &Spanned<DeValue<'_>>| {
            let table =
                self.table(value, &format!("{title} must be a table below [[{plural}]]"))?;
            let values = self.values(table, &format!("{title}'s keys"), settings, &[])?;
            Ok(Table { title, place: self.place(value.span()), values })
        };
        tables.iter().map(read).collect()
    }

    /// The tables below `[prices]`.
    fn prices(&self, value: &Spanned<DeValue<'_>>) -> Result<PriceTables, Failure> {
        let (title, general) = ("a price", prices::general());
        let table = self.table(value, "prices must be tables, each below [prices.\"MODEL\"]")?;
        let mut tables = PriceTables::default();
        for (key, value) in table {
            let model = &**key.get_ref();
            if let Some(setting) = general.iter().find(|setting| setting.key == model) {
                self.read(setting, value, &mut tables.values)?;
                continue;
            }
            let price = self.table(value, "a price must be a table below [prices.\"MODEL\"]")?;
            let values = self.values(price, "a price's keys", &prices::settings(), &[])?;
            let place = self.place(value.span());
            tables.models.push((model.to_owned(), Table { title, place, values }));
        }
        Ok(tables)
    }

    /// The table in `value`. `sentence` is the error for any other value.
    fn table<'v, 'i>(
        &self,
        value: &'v Spanned<DeValue<'i>>,
        sentence: &str,
    ) -> Result<&'v DeTable<'i>, Failure> {
        value.get_ref().as_table().ok_or_else(|| self.refused(value.span(), sentence))
    }

    /// The values of a table. `title` names its keys in an error; other code reads `tables`.
    fn values<C>(
        &self,
        table: &DeTable<'_>,
        title: &str,
        settings: &[Setting<C>],
        tables: &[&str],
    ) -> Result<Values, Failure> {
        let mut values = Values::default();
        for (key, value) in table {
            let name = &**key.get_ref();
            match settings.iter().find(|setting| setting.key == name) {
                Some(setting) => self.read(setting, value, &mut values)?,
                None if tables.contains(&name) => {}
                None => {
                    let known = settings.iter().map(|setting| setting.key);
                    let known: Vec<&str> = known.chain(tables.iter().copied()).collect();
                    let hint = hint(name);
                    let sentence =
                        format!("unknown key '{name}'{hint}; {title} are {}", known.join(", "));
                    return Err(self.refused(key.span(), sentence));
                }
            }
        }
        Ok(values)
    }

    /// Adds the value of a setting to `values`, or all entries if it is a list.
    fn read<C>(
        &self,
        setting: &Setting<C>,
        value: &Spanned<DeValue<'_>>,
        values: &mut Values,
    ) -> Result<(), Failure> {
        let Setting { key, form, expected, .. } = *setting;
        let unexpected = |value: &Spanned<DeValue<'_>>| {
            self.refused(value.span(), format!("{key} must be {expected}"))
        };
        let entries = match (form, value.get_ref()) {
            (Form::List { may_be_empty }, DeValue::Array(entries))
                if may_be_empty || !entries.is_empty() =>
            {
                entries
            }
            (Form::List { .. }, _) => return Err(unexpected(value)),
            _ => std::slice::from_ref(value),
        };
        for entry in entries {
            let text = form.text(entry.get_ref()).ok_or_else(|| unexpected(entry))?;
            values.push(key, Value::in_file(self.place(entry.span()), key, text));
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
