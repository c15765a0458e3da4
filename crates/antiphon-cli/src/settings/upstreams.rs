//! The upstreams of the file.
//!
//! ```toml
//! [[upstreams]]
//! name = "claude"
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
//! An upstream with the Responses API may own the state: see [`super::state`].
//!
//! Times are in seconds. They limit the time to open a connection, to receive the first byte,
//! between two bytes, and for the whole answer including retries. The gateway sends a failed
//! request up to `max-retries` more times, and only if the upstream has not begun its answer.
//!
//! `context-window` is the number of tokens that the models accept, input and output together. With
//! it, the gateway checks the input first: a too long input is rejected, or truncated if the
//! request allows it.
//!
//! The first upstream in the file whose `models` match the requested model serves it. `models` and
//! `url` are required. Without `key` or `key-env`, callers' own tokens are forwarded.
//!
//! The upstream of `--upstream` has the values above, but no bound for `max-open-requests` and
//! `context-window`. To change these values, declare it in the file with `models = ["*"]`.

use std::time::Duration;

use antiphon::dialect::Dialect;
use antiphon_gateway::settings::{ModelPattern, Secret, UpstreamSettings};
use toml::Spanned;
use toml::de::DeValue;

use super::environment::Environment;
use super::file::Document;
use super::layer::Said;
use super::parse;
use super::state;
use super::table::{Form, Table};
use crate::failure::Failure;

const FORM: Form = Form {
    plural: "upstreams",
    one: "an upstream",
    keys: &[
        "name",
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
        "state",
        "preset",
        "conversations",
        "chains",
        "item-deletion",
        "input-items",
    ],
};

/// Parses the `upstreams` of a file.
pub(super) fn upstreams(
    document: &Document<'_>,
    value: &Spanned<DeValue<'_>>,
    environment: &impl Environment,
) -> Result<Vec<FromTable>, Failure> {
    let mut upstreams: Vec<FromTable> = Vec::new();
    for table in &FORM.tables(document, value)? {
        let settings = settings(table, environment)?;
        let earlier: Vec<&UpstreamSettings> = upstreams.iter().map(|it| &it.settings).collect();
        if let Some(flaw) = unreachable_models(&settings, &earlier) {
            return Err(table.refused_at("models", &flaw));
        }
        upstreams.push(FromTable { settings, state: state::FromTable::of(table)? });
    }
    Ok(upstreams)
}

/// The reason for which an upstream can never serve some of its models: the built-in model or an
/// earlier upstream serves them.
pub(super) fn unreachable_models(
    upstream: &UpstreamSettings,
    earlier: &[&UpstreamSettings],
) -> Option<String> {
    upstream.models.iter().find_map(|pattern| {
        let name = pattern.as_str();
        if name == BUILT_IN {
            return Some(format!("the built-in model answers for '{BUILT_IN}', no upstream does"));
        }
        let covers = |other: &&ModelPattern| other.covers(pattern);
        let covering = earlier.iter().filter(|other| !shares_all_models(upstream, other));
        let wider = covering.flat_map(|other| &other.models).find(covers)?.as_str();
        Some(format!(
            "this upstream is never asked for '{name}': an earlier one takes '{wider}'; the first \
             upstream that takes a name answers for it, so put narrower names first"
        ))
    })
}

/// Whether both upstreams accept all models and exactly one has Anthropic's API. Then both are
/// useful: each serves the requests of its API that name no model.
fn shares_all_models(one: &UpstreamSettings, other: &UpstreamSettings) -> bool {
    let all = ModelPattern::new("*");
    let is_anthropic = |upstream: &UpstreamSettings| upstream.api == Dialect::Anthropic;
    [one, other].iter().all(|upstream| upstream.models.contains(&all))
        && is_anthropic(one) != is_anthropic(other)
}

/// The name of the built-in model.
const BUILT_IN: &str = "sim";

/// One upstream of the file.
pub(super) struct FromTable {
    settings: UpstreamSettings,
    state: state::FromTable,
}

impl FromTable {
    /// The settings of the upstream. `everywhere` is the default for upstreams without a `state`
    /// key.
    pub(super) fn with(mut self, everywhere: Option<&Said>) -> Result<UpstreamSettings, Failure> {
        self.state.settle(everywhere, &mut self.settings)?;
        Ok(self.settings)
    }
}

fn settings(
    table: &Table<'_>,
    environment: &impl Environment,
) -> Result<UpstreamSettings, Failure> {
    let api = table.text("api")?.map(|said| parse::upstream_api(&said)).transpose()?;
    let api = api.unwrap_or(Dialect::Responses);
    let url = table.text("url")?.ok_or_else(|| table.lacks("url"))?;
    let url = parse::upstream(&url, api)?;
    let mut settings = UpstreamSettings::new(url, key(table, environment)?);
    settings.name = table.text("name")?.map(|said| name(table, &said)).transpose()?;
    settings.models = models(table)?;
    settings.api = api;
    settings.max_open = number(table, "max-open-requests")?.map(|count| count as usize);
    settings.context_window = number(table, "context-window")?;
    set_patience(table, &mut settings)?;
    Ok(settings)
}

fn set_patience(table: &Table<'_>, settings: &mut UpstreamSettings) -> Result<(), Failure> {
    if let Some(timeout) = timeout(table, "total-timeout")? {
        settings.total_timeout = timeout;
    }
    let total = settings.total_timeout;
    for (key, bound) in [
        ("connect-timeout", &mut settings.connect_timeout),
        ("first-byte-timeout", &mut settings.first_byte_timeout),
        ("idle-timeout", &mut settings.idle_timeout),
    ] {
        let Some(timeout) = timeout(table, key)? else { continue };
        if timeout > total {
            let total = total.as_secs();
            let sentence = format!(
                "{key} has no effect above total-timeout, which is {total} seconds: raise \
                 total-timeout too"
            );
            return Err(table.refused_at(key, &sentence));
        }
        *bound = timeout;
    }
    if let Some(retries) = table.integer("max-retries", 0, "a whole number")? {
        settings.retries.max = retries;
    }
    Ok(())
}

/// Parses the name. It appears in answers to callers, so it must not be a URL.
fn name(table: &Table<'_>, said: &Said) -> Result<String, Failure> {
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    let name = said.trimmed();
    if (1..=64).contains(&name.len()) && name.bytes().all(is_allowed) {
        return Ok(name.to_owned());
    }
    let sentence = "name must have 1 to 64 letters, digits, '.', '_' and '-'";
    Err(table.refused_at("name", sentence))
}

fn models(table: &Table<'_>) -> Result<Vec<ModelPattern>, Failure> {
    let expected = "a list of names, in which * stands for any characters";
    let models = table.list("models", expected, |name| Some(ModelPattern::new(name)))?;
    let models = models.ok_or_else(|| table.lacks("models"))?;
    let is_padded = |name: &str| name.is_empty() || name.trim() != name;
    match models.iter().map(ModelPattern::as_str).find(|name| is_padded(name)) {
        Some(name) => {
            let sentence = format!("no model's name is '{name}': it is empty or has blanks around");
            Err(table.refused_at("models", &sentence))
        }
        None => Ok(models),
    }
}

fn key(table: &Table<'_>, environment: &impl Environment) -> Result<Option<Secret>, Failure> {
    let said = table.secret("key", "key-env", environment)?;
    said.map(|said| parse::upstream_key(&said)).transpose()
}

fn timeout(table: &Table<'_>, key: &'static str) -> Result<Option<Duration>, Failure> {
    Ok(number(table, key)?.map(|seconds| Duration::from_secs(seconds.into())))
}

fn number(table: &Table<'_>, key: &'static str) -> Result<Option<u32>, Failure> {
    table.integer(key, 1, "a whole number above 0")
}
