//! The upstreams of the file.
//!
//! ```toml
//! [[upstreams]]
//! models = ["claude-*"]
//! api = "anthropic"
//! url = "https://api.anthropic.com/v1"
//! key-env = "ANTHROPIC_API_KEY"
//! connect-timeout = 10
//! first-byte-timeout = 600
//! idle-timeout = 600
//! total-timeout = 3600
//! max-retries = 2
//! max-open-requests = 100
//! context-window = 200000
//! ```
//!
//! Times are in seconds: until a connection is open, until an answer's first byte, between two of its
//! bytes, and until it is whole, retries included. An upstream that fails is asked again up to
//! `max-retries` times, 0 being never, and only before it has said anything.
//!
//! `context-window` is how many tokens its models take, input and answer together. Where it is given,
//! an input that is too long is refused before it is sent, or cut where its caller lets it be.
//!
//! They are asked in the order of the file: the first whose `models` take a model's name answers for
//! it. `models` and `url` are needed. Without `key` or `key-env`, callers' own tokens are forwarded.
//! The one that `--upstream` names has the values above, `max-open-requests` and `context-window`
//! aside, for which there is no bound: who wants others names it here, with `models = ["*"]`.

use antiphon::dialect::Dialect;
use antiphon_gateway::settings::{ModelPattern, Secret, UpstreamSettings};
use std::time::Duration;

use toml::Spanned;
use toml::de::{DeString, DeTable, DeValue};

use super::environment::Environment;
use super::file::Document;
use super::layer::Said;
use super::parse;
use crate::failure::Failure;

const KEYS: [&str; 12] = [
    "models",
    "api",
    "url",
    "key",
    "key-env",
    "connect-timeout",
    "first-byte-timeout",
    "idle-timeout",
    "total-timeout",
    "max-retries",
    "max-open-requests",
    "context-window",
];

/// What the `upstreams` of a file say.
pub(super) fn upstreams(
    document: &Document<'_>,
    value: &Spanned<DeValue<'_>>,
    environment: &impl Environment,
) -> Result<Vec<UpstreamSettings>, Failure> {
    let tables = value.get_ref().as_array().ok_or_else(|| {
        document.refused(Some(value.span()), "upstreams must be tables, each below [[upstreams]]")
    })?;
    let table = |table: &Spanned<DeValue<'_>>| {
        let entries = table.get_ref().as_table().ok_or_else(|| {
            document.refused(Some(table.span()), "an upstream must be a table below [[upstreams]]")
        })?;
        Entry { document, span: table.span(), entries }.settings(environment)
    };
    tables.iter().map(table).collect()
}

/// One table.
struct Entry<'a> {
    document: &'a Document<'a>,
    span: std::ops::Range<usize>,
    entries: &'a DeTable<'a>,
}

impl Entry<'_> {
    fn settings(&self, environment: &impl Environment) -> Result<UpstreamSettings, Failure> {
        self.has_known_keys_only()?;
        let api = self.text("api")?.map(|said| parse::upstream_api(&said)).transpose()?;
        let api = api.unwrap_or(Dialect::Responses);
        let url = self.text("url")?.ok_or_else(|| self.lacks("url"))?;
        let url = parse::upstream(&url, api)?;
        let mut settings = UpstreamSettings::new(url, self.key(environment)?);
        settings.models = self.models()?;
        settings.api = api;
        settings.max_open = self.number("max-open-requests")?.map(|count| count as usize);
        settings.context_window = self.number("context-window")?;
        self.set_patience(&mut settings)?;
        Ok(settings)
    }

    fn set_patience(&self, settings: &mut UpstreamSettings) -> Result<(), Failure> {
        for (key, bound) in [
            ("connect-timeout", &mut settings.connect_timeout),
            ("first-byte-timeout", &mut settings.first_byte_timeout),
            ("idle-timeout", &mut settings.idle_timeout),
            ("total-timeout", &mut settings.total_timeout),
        ] {
            if let Some(seconds) = self.number(key)? {
                *bound = Duration::from_secs(seconds.into());
            }
        }
        if let Some(retries) = self.count("max-retries")? {
            settings.retries.max = retries;
        }
        Ok(())
    }

    fn has_known_keys_only(&self) -> Result<(), Failure> {
        let unknown = |key: &&Spanned<DeString<'_>>| !KEYS.contains(&&**key.get_ref());
        match self.entries.keys().find(unknown) {
            None => Ok(()),
            Some(key) => {
                let (name, known) = (key.get_ref(), KEYS.join(", "));
                let sentence = format!("unknown key '{name}'; an upstream's keys are {known}");
                Err(self.document.refused(Some(key.span()), &sentence))
            }
        }
    }

    fn models(&self) -> Result<Vec<ModelPattern>, Failure> {
        let value = self.value("models").ok_or_else(|| self.lacks("models"))?;
        let wrong = || {
            let sentence = "models must be a list of names, in which * stands for any characters";
            self.document.refused(Some(value.span()), sentence)
        };
        let names = value.get_ref().as_array().filter(|names| !names.is_empty());
        let names = names.ok_or_else(wrong)?.iter();
        names.map(|name| name.get_ref().as_str().map(ModelPattern::new).ok_or_else(wrong)).collect()
    }

    fn key(&self, environment: &impl Environment) -> Result<Option<Secret>, Failure> {
        match (self.text("key")?, self.text("key-env")?) {
            (Some(_), Some(named)) => {
                Err(named.refused("an upstream has 'key' or 'key-env', not both"))
            }
            (Some(key), None) => parse::upstream_key(&key).map(Some),
            (None, None) => Ok(None),
            (None, Some(named)) => {
                let name = named.trimmed();
                let text = environment(name)?
                    .ok_or_else(|| named.refused(format!("the variable {name} is not set")))?;
                parse::upstream_key(&Said { text, place: named.place }).map(Some)
            }
        }
    }

    fn text(&self, key: &'static str) -> Result<Option<Said>, Failure> {
        let Some(value) = self.value(key) else { return Ok(None) };
        match value.get_ref().as_str() {
            Some(text) => Ok(Some(self.document.said_at(key, value, text.to_owned()))),
            None => Err(self.wrong_type(key, "a string")),
        }
    }

    /// A whole number above 0.
    fn number(&self, key: &'static str) -> Result<Option<u32>, Failure> {
        self.integer(key, 1, "a whole number above 0")
    }

    /// A whole number.
    fn count(&self, key: &'static str) -> Result<Option<u32>, Failure> {
        self.integer(key, 0, "a whole number")
    }

    fn integer(
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

    fn value(&self, key: &str) -> Option<&Spanned<DeValue<'_>>> {
        let mut entries = self.entries.iter();
        entries.find(|(name, _)| name.get_ref() == key).map(|(_, value)| value)
    }

    fn wrong_type(&self, key: &str, expected: &str) -> Failure {
        let span = self.value(key).map(Spanned::span);
        self.document.refused(span, &format!("{key} must be {expected}"))
    }

    fn lacks(&self, key: &str) -> Failure {
        self.document.refused(Some(self.span.clone()), &format!("this upstream lacks '{key}'"))
    }
}
