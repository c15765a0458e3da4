//! The settings file as a layer.
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
//! Errors name the line but never repeat a value: any value may be a key.

use std::fs;
use std::io;
use std::ops::Range;
use std::path::Path;

use toml::Spanned;
use toml::de::{DeString, DeTable, DeValue};

use super::environment::Environment;
use super::layer::{Layer, Place, Said};
use super::limits::{self, FromTable};
use super::setting::Setting;
use super::upstreams;
use super::webhooks;
use crate::failure::Failure;

const DEFAULT: &str = "antiphon.toml";

/// Reads the settings file: the `named` one, which must exist, or else `antiphon.toml` in the
/// working directory, which may be absent.
pub(super) fn read(
    named: Option<&Path>,
    environment: &impl Environment,
) -> Result<FromFile, Failure> {
    let path = named.unwrap_or(Path::new(DEFAULT));
    let name = path.display().to_string();
    match fs::read_to_string(path) {
        Ok(text) => understood(&name, &text, environment),
        Err(error) if error.kind() == io::ErrorKind::NotFound && named.is_none() => {
            Ok(FromFile::default())
        }
        Err(error) => Err(Failure::usage(format!("{name} cannot be read: {error}"))),
    }
}

/// Parses the text of a settings file.
pub(super) fn understood(
    name: &str,
    text: &str,
    environment: &impl Environment,
) -> Result<FromFile, Failure> {
    let document = Document { name, text };
    let table = DeTable::parse(text).map_err(|error| {
        document.refused(error.span(), &format!("this is not TOML: {}", error.message()))
    })?;
    let FromFile { mut layer, mut upstreams, mut webhooks, mut limits } = FromFile::default();
    for (key, value) in table.get_ref() {
        if key.get_ref() == UPSTREAMS {
            upstreams = upstreams::upstreams(&document, value, environment)?;
            continue;
        }
        if key.get_ref() == WEBHOOKS {
            webhooks = webhooks::webhooks(&document, value, environment)?;
            continue;
        }
        if key.get_ref() == LIMITS {
            limits = limits::understood(&document, value, &mut layer)?;
            continue;
        }
        let setting = document.setting(key)?;
        for said in document.said(setting, value)? {
            layer.say(setting, said);
        }
    }
    Ok(FromFile { layer, upstreams, webhooks, limits })
}

/// Keys of the file that have no flag and no variable: their values are tables.
const UPSTREAMS: &str = "upstreams";
const WEBHOOKS: &str = "webhooks";
const LIMITS: &str = "limits";

/// The settings in the file.
#[derive(Default)]
pub(super) struct FromFile {
    /// The settings that also have a flag and a variable.
    pub(super) layer: Layer,
    /// The upstreams, in the order of the file.
    pub(super) upstreams: Vec<upstreams::FromTable>,
    /// The webhook endpoints for the outcomes of background responses.
    pub(super) webhooks: Vec<webhooks::FromTable>,
    /// The limits. Some of them also have a flag and a variable.
    pub(super) limits: FromTable,
}

pub(super) struct Document<'a> {
    name: &'a str,
    text: &'a str,
}

impl Document<'_> {
    fn setting(&self, key: &Spanned<DeString<'_>>) -> Result<Setting, Failure> {
        let name = key.get_ref();
        let settings = Setting::ALL.into_iter().filter(|setting| !setting.is_limit());
        settings.clone().find(|setting| setting.key() == name).ok_or_else(|| {
            let known: Vec<&str> =
                settings.map(Setting::key).chain([UPSTREAMS, WEBHOOKS, LIMITS]).collect();
            let sentence = format!("unknown key '{name}'; the keys are {}", known.join(", "));
            self.refused(Some(key.span()), &sentence)
        })
    }

    /// The values of a setting: several for a list, otherwise one.
    fn said(&self, setting: Setting, value: &Spanned<DeValue<'_>>) -> Result<Vec<Said>, Failure> {
        match (setting, value.get_ref()) {
            (_, DeValue::Array(entries)) if setting.is_list() => {
                entries.iter().map(|entry| self.single(setting, entry)).collect()
            }
            (Setting::Upstream, DeValue::Array(_) | DeValue::Table(_)) => Err(self.refused(
                Some(value.span()),
                "upstream must be a string; several upstreams stand below [[upstreams]]",
            )),
            _ if setting.is_list() => Err(self.of_wrong_type(setting, value)),
            _ => Ok(vec![self.single(setting, value)?]),
        }
    }

    fn single(&self, setting: Setting, value: &Spanned<DeValue<'_>>) -> Result<Said, Failure> {
        let text = match (setting, value.get_ref()) {
            (
                Setting::TurnWait | Setting::ShutdownGrace | Setting::Retention,
                DeValue::Integer(number),
            ) => number.to_string(),
            (Setting::TurnWait | Setting::ShutdownGrace, _) => {
                return Err(self.of_wrong_type(setting, value));
            }
            (_, DeValue::String(text)) => text.to_string(),
            _ => return Err(self.of_wrong_type(setting, value)),
        };
        Ok(self.said_at(setting.key(), value, text))
    }

    /// A value with its position in the file.
    pub(super) fn said_at(
        &self,
        key: &'static str,
        value: &Spanned<DeValue<'_>>,
        text: String,
    ) -> Said {
        let (file, line) = (self.name.to_owned(), self.line(value.span()));
        Said { text, place: Place::Line { file, line, key } }
    }

    fn of_wrong_type(&self, setting: Setting, value: &Spanned<DeValue<'_>>) -> Failure {
        let expected = match setting {
            Setting::ApiKeys => "a list of \"KEY=TENANT\" strings",
            Setting::Secrets | Setting::AllowOrigins | Setting::AllowHosts => "a list of strings",
            Setting::TurnWait | Setting::ShutdownGrace => "a whole number of seconds",
            Setting::Retention => "a whole number of days, or \"never\"",
            _ => "a string",
        };
        let sentence = format!("{} must be {expected}", setting.key());
        self.refused(Some(value.span()), &sentence)
    }

    pub(super) fn refused(&self, span: Option<Range<usize>>, sentence: &str) -> Failure {
        let line = self.line(span.unwrap_or_default());
        Failure::usage(format!("{}:{line}: {sentence}", self.name))
    }

    /// The line number, from 1, of the start of `span`.
    fn line(&self, span: Range<usize>) -> usize {
        let before = self.text.bytes().take(span.start);
        1 + before.filter(|&byte| byte == b'\n').count()
    }
}
