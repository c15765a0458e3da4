//! The file as a layer.
//!
//! ```toml
//! listen = "127.0.0.1:8484"
//! turn-wait = 30
//! api-keys = ["KEY=TENANT", "KEY=TENANT"]
//! ```
//!
//! The API keys are a list of the strings that `--api-key` takes, not a table: in TOML whatever
//! follows a table's header belongs to the table, so that a setting written below `[api-keys]`
//! would have become a key that lets callers in.
//!
//! Refusals name the line, but repeat none of its values: any of them may be a key.

use std::fs;
use std::io;
use std::ops::Range;
use std::path::Path;

use toml::Spanned;
use toml::de::{DeString, DeTable, DeValue};

use super::layer::{Layer, Place, Said};
use super::setting::Setting;
use crate::failure::Failure;

const DEFAULT: &str = "antiphon.toml";

/// What the file says: the `named` one, which must exist, else `antiphon.toml` in the working
/// directory, which need not.
pub(super) fn read(named: Option<&Path>) -> Result<Layer, Failure> {
    let path = named.unwrap_or(Path::new(DEFAULT));
    let name = path.display().to_string();
    match fs::read_to_string(path) {
        Ok(text) => layer(&name, &text),
        Err(error) if error.kind() == io::ErrorKind::NotFound && named.is_none() => {
            Ok(Layer::default())
        }
        Err(error) => Err(Failure::usage(format!("{name} cannot be read: {error}"))),
    }
}

/// What a file of this name and text says.
pub(super) fn layer(name: &str, text: &str) -> Result<Layer, Failure> {
    let document = Document { name, text };
    let table = DeTable::parse(text).map_err(|error| {
        document.refused(error.span(), &format!("this is not TOML: {}", error.message()))
    })?;
    let mut layer = Layer::default();
    for (key, value) in table.get_ref() {
        let setting = document.setting(key)?;
        for said in document.said(setting, value)? {
            layer.say(setting, said);
        }
    }
    Ok(layer)
}

struct Document<'a> {
    name: &'a str,
    text: &'a str,
}

impl Document<'_> {
    fn setting(&self, key: &Spanned<DeString<'_>>) -> Result<Setting, Failure> {
        let name = key.get_ref();
        let known = Setting::ALL.map(Setting::key);
        Setting::ALL.into_iter().find(|setting| setting.key() == name).ok_or_else(|| {
            let sentence = format!("unknown key '{name}'; the keys are {}", known.join(", "));
            self.refused(Some(key.span()), &sentence)
        })
    }

    /// What a setting's value says: the API keys are several, of any other setting there is one.
    fn said(&self, setting: Setting, value: &Spanned<DeValue<'_>>) -> Result<Vec<Said>, Failure> {
        match (setting, value.get_ref()) {
            (Setting::ApiKeys, DeValue::Array(entries)) => {
                entries.iter().map(|entry| self.single(setting, entry)).collect()
            }
            (Setting::ApiKeys, _) => Err(self.of_wrong_type(setting, value)),
            _ => Ok(vec![self.single(setting, value)?]),
        }
    }

    fn single(&self, setting: Setting, value: &Spanned<DeValue<'_>>) -> Result<Said, Failure> {
        let text = match (setting, value.get_ref()) {
            (Setting::TurnWait, DeValue::Integer(number)) => number.to_string(),
            (Setting::TurnWait, _) => return Err(self.of_wrong_type(setting, value)),
            (_, DeValue::String(text)) => text.to_string(),
            _ => return Err(self.of_wrong_type(setting, value)),
        };
        let place = Place::Line {
            file: self.name.to_owned(),
            line: self.line(value.span()),
            key: setting.key(),
        };
        Ok(Said { text, place })
    }

    fn of_wrong_type(&self, setting: Setting, value: &Spanned<DeValue<'_>>) -> Failure {
        let expected = match setting {
            Setting::ApiKeys => "a list of \"KEY=TENANT\" strings",
            Setting::TurnWait => "a whole number of seconds",
            _ => "a string",
        };
        let sentence = format!("{} must be {expected}", setting.key());
        self.refused(Some(value.span()), &sentence)
    }

    fn refused(&self, span: Option<Range<usize>>, sentence: &str) -> Failure {
        let line = self.line(span.unwrap_or_default());
        Failure::usage(format!("{}:{line}: {sentence}", self.name))
    }

    /// The number of the line that `span` begins in, from 1.
    fn line(&self, span: Range<usize>) -> usize {
        let before = self.text.bytes().take(span.start);
        1 + before.filter(|&byte| byte == b'\n').count()
    }
}
