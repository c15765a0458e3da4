//! The upstreams of the file, and the one of `--upstream`.
//!
//! The first upstream of the file whose `models` match a model serves it. `state` below
//! `[[upstreams]]` takes precedence over the one at the top. The capabilities `conversations`,
//! `chains`, `item-deletion` and `input-items` override the preset one by one; all four together
//! need none. Without them the gateway infers the capabilities from the host, or probes the server.

use std::num::NonZeroU32;

use antiphon::dialect::UpstreamApi;
use antiphon::stream::ReasoningForm;
use antiphon_gateway::settings::{Capabilities, ModelPattern, Preset, State, UpstreamSettings};
use http::Uri;
use http::uri::Scheme;

use super::file::{File, Table};
use super::parse::{self, boolean, count, one_of, size, timeout};
use super::setting::{BOOLEAN, COUNT, Form, NUMBER, Setting, TEXT, apply, settings};
use super::values::{Value, Values};
use crate::failure::Failure;

/// The keys below `[[upstreams]]`. A preset is set before the capabilities that override it.
pub(super) fn settings() -> Vec<Setting<UpstreamSettings>> {
    let apis = UpstreamApi::ALL.map(|api| (api.name(), api));
    settings! { UpstreamSettings;
        "name": TEXT, name => |it, name| it.name = Some(name);
        "models": MODELS, model => |it, pattern| it.models.push(pattern);
        "api": TEXT, one_of(apis) => |it, api| it.api = api;
        "url": TEXT;
        "key": TEXT, parse::upstream_key => |it, key| it.key = Some(key);
        "key-env": TEXT;
        "ca-file": TEXT;
        "connect-timeout": COUNT, timeout => |it, time| it.connect_timeout = time;
        "first-byte-timeout": COUNT, timeout => |it, time| it.first_byte_timeout = time;
        "idle-timeout": COUNT, timeout => |it, time| it.idle_timeout = time;
        "always-stream": BOOLEAN, boolean => |it, always| it.always_stream = Some(always);
        "total-timeout": COUNT, timeout => |it, time| it.total_timeout = time;
        "max-retries": NUMBER, retries => |it, max| it.retries.max = max;
        "max-open-requests": COUNT, size => |it, max| it.max_open = Some(max);
        "context-window": COUNT, tokens => |it, max| it.context_window = Some(max);
        "reasoning-as": TEXT, one_of(REASONING) => |it, form| it.reasoning = form;
        "state": TEXT, one_of(STATES) => |it, state| it.state = state;
        "preset": TEXT, one_of(PRESETS) => |it, preset| *capabilities(it) = preset.capabilities();
        "conversations": BOOLEAN, boolean => |it, can| capabilities(it).conversations = can;
        "chains": BOOLEAN, boolean => |it, can| capabilities(it).chains = can;
        "item-deletion": BOOLEAN, boolean => |it, can| capabilities(it).item_deletion = can;
        "input-items": BOOLEAN, boolean => |it, can| capabilities(it).input_items = can;
    }
}

const MODELS: (Form, &str) =
    (Form::List { may_be_empty: false }, "a list of names, in which * stands for any characters");
const STATES: [(&str, State); 2] = [("antiphon", State::Here), ("upstream", State::Upstream)];
const REASONING: [(&str, ReasoningForm); 2] =
    [("summary", ReasoningForm::Summary), ("content", ReasoningForm::Content)];
const PRESETS: [(&str, Preset); 3] = [
    ("openai", Preset::OpenAi),
    ("azure", Preset::Azure),
    ("open-responses", Preset::OpenResponses),
];

/// Parses the name. It appears in answers to callers, so it must not be a URL.
fn name(value: &Value) -> Result<String, Failure> {
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    let name = value.text();
    match (1..=64).contains(&name.len()) && name.bytes().all(is_allowed) {
        true => Ok(name.to_owned()),
        false => Err(value.refused_as("must have 1 to 64 letters, digits, '.', '_' and '-'")),
    }
}

fn model(value: &Value) -> Result<ModelPattern, Failure> {
    let name = value.untrimmed();
    match name.is_empty() || name.trim() != name {
        true => Err(value.refused_here(format!(
            "'{name}' is not the name of a model: it is empty, or begins or ends with a space"
        ))),
        false => Ok(ModelPattern::new(name)),
    }
}

fn retries(value: &Value) -> Result<u32, Failure> {
    value.text().parse().map_err(|_| value.unexpected(NUMBER.1))
}

fn tokens(value: &Value) -> Result<u32, Failure> {
    count::<NonZeroU32>(value).map(NonZeroU32::get)
}

fn capabilities(upstream: &mut UpstreamSettings) -> &mut Capabilities {
    upstream.capabilities.get_or_insert_default()
}

/// All upstreams: those of the file, followed by the one of `--upstream`, which serves every model
/// that no other upstream takes. `general` are the settings at the top.
pub(super) fn upstreams(
    general: &Values,
    tables: &[Table],
) -> Result<Vec<UpstreamSettings>, Failure> {
    let mut upstreams = Vec::with_capacity(tables.len() + 1);
    for table in tables {
        table.required("url")?;
        let models = table.required("models")?;
        let mut values = general.renamed(&[("state", "state"), ("reasoning-as", "reasoning-as")]);
        values.override_with(table.values.clone());
        let upstream = upstream(&values)?;
        table.values.reject_if(
            upstream.api == UpstreamApi::Responses,
            "reasoning-as",
            format_args!(
                "this has an effect only with api = \"chat\" or \"anthropic\": {PASSES_AS_IT_IS}"
            ),
        )?;
        if let Some(flaw) = unreachable_models(&upstream, &upstreams) {
            return Err(models.refused_here(flaw));
        }
        upstreams.push(upstream);
    }
    let values = general.renamed(&[
        ("upstream", "url"),
        ("upstream-api", "api"),
        ("upstream-key", "key"),
        ("upstream-ca-file", "ca-file"),
        ("state", "state"),
        ("reasoning-as", "reasoning-as"),
    ]);
    let upstream = upstream(&values)?;
    match values.first("url") {
        Some(url) => {
            if let Some(flaw) = unreachable_models(&upstream, &upstreams) {
                return Err(url.refused(flaw));
            }
            upstreams.push(upstream);
        }
        None => reject_options(general)?,
    }
    let max_answer = general.first("max-answer-bytes").map(parse::size).transpose()?;
    for upstream in &mut upstreams {
        upstream.max_answer = max_answer.unwrap_or(upstream.max_answer);
    }
    Ok(upstreams)
}

/// The URL of the upstream at this position of [`upstreams`].
pub(super) fn url(file: &File, position: usize) -> Option<&Value> {
    match file.upstreams.get(position) {
        Some(table) => table.values.first("url"),
        None => file.values.first("upstream"),
    }
}

/// The upstream with these values. Without `models` it serves all models.
fn upstream(values: &Values) -> Result<UpstreamSettings, Failure> {
    let mut upstream = UpstreamSettings::new(Uri::default(), None);
    let all_models = std::mem::take(&mut upstream.models);
    apply(&settings(), values, &mut upstream)?;
    if upstream.models.is_empty() {
        upstream.models = all_models;
    }
    if let Some(url) = values.first("url") {
        upstream.url = parse::base_url(url, upstream.api)?;
        values.reject_if(
            upstream.url.scheme() != Some(&Scheme::HTTPS),
            "ca-file",
            "this has an effect only with an https URL: other servers have no certificate",
        )?;
        upstream.authorities = values.first("ca-file").map(parse::authorities).transpose()?;
        check_timeouts(values, &upstream)?;
        check_state(values, &upstream)?;
    }
    Ok(upstream)
}

/// Rejects a timeout that the total timeout hides.
fn check_timeouts(values: &Values, upstream: &UpstreamSettings) -> Result<(), Failure> {
    let total = upstream.total_timeout;
    let max = format!("{} seconds", total.as_secs());
    for (key, timeout) in [
        ("connect-timeout", upstream.connect_timeout),
        ("first-byte-timeout", upstream.first_byte_timeout),
        ("idle-timeout", upstream.idle_timeout),
    ] {
        values.reject_hidden(timeout > total, key, "total-timeout", &max)?;
    }
    Ok(())
}

/// Rejects capabilities that are incomplete or have no effect, and an upstream that cannot own the
/// state: only the Responses API has conversations and stored responses.
fn check_state(values: &Values, upstream: &UpstreamSettings) -> Result<(), Failure> {
    let preset = values.first("preset");
    let others = ["conversations", "chains", "item-deletion", "input-items"];
    let others: Vec<&Value> = others.iter().filter_map(|key| values.first(key)).collect();
    if let Some(first) = preset.or(others.first().copied()) {
        if preset.is_none() && others.len() < 4 {
            return Err(first.refused_as(
                "needs a preset too, which sets the other capabilities: \"openai\", \"azure\" or \
                 \"open-responses\"",
            ));
        }
        if upstream.state == State::Here {
            return Err(first.refused_as(
                "needs an upstream that owns the state; give this one state = \"upstream\"",
            ));
        }
    }
    let api = match upstream.api {
        UpstreamApi::Responses => return Ok(()),
        api @ (UpstreamApi::Chat | UpstreamApi::Anthropic) => api,
    };
    let is_in_table = values.first("url").and_then(Value::key) == Some("url");
    values.reject_with(upstream.state == State::Upstream, "state", |state| {
        let remedy = match is_in_table {
            true => "give it state = \"antiphon\" below [[upstreams]]".to_owned(),
            false => format!(
                "give {}, or {} if the server has that API too",
                state.sibling("state", "antiphon"),
                state.sibling("upstream-api", "responses")
            ),
        };
        format!("{} speaks '{api}', an API without stored state; {remedy}", upstream.url)
    })
}

/// Rejects the options of `--upstream` if it is missing. A variable causes only a warning: another
/// process of the same environment may need it, or `key-env` names it.
fn reject_options(general: &Values) -> Result<(), Failure> {
    match options(general).find(|value| value.variable().is_none()) {
        Some(value) => Err(value.refused(NEEDS_UPSTREAM)),
        None => Ok(()),
    }
}

/// Returns a warning for each variable that has no effect because `--upstream` is missing.
pub(super) fn idle_variables(general: &Values, named_by_file: &[String]) -> Vec<String> {
    if general.first("upstream").is_some() {
        return Vec::new();
    }
    let names = options(general).filter_map(Value::variable);
    let idle = names.filter(|name| !named_by_file.iter().any(|named| named == name));
    idle.map(|name| format!("{name}: {NEEDS_UPSTREAM}")).collect()
}

/// The options of `--upstream`.
fn options(general: &Values) -> impl Iterator<Item = &Value> {
    let keys = ["upstream-key", "upstream-api", "upstream-ca-file"];
    keys.into_iter().filter_map(|key| general.first(key))
}

/// The reason for which `reasoning-as` has no effect.
pub(super) const PASSES_AS_IT_IS: &str =
    "reasoning items of the Responses API pass in their own form";

const NEEDS_UPSTREAM: &str = "this has no effect without --upstream; upstreams in the file have \
                              settings of their own, below [[upstreams]]";

/// The reason for which an upstream can never serve some of its models: the built-in model or an
/// earlier upstream serves them.
fn unreachable_models(upstream: &UpstreamSettings, earlier: &[UpstreamSettings]) -> Option<String> {
    upstream.models.iter().find_map(|pattern| {
        let name = pattern.as_str();
        if name == antiphon_sim::NAME {
            return Some(format!("the built-in model serves '{name}', so no upstream can"));
        }
        let covers = |other: &&ModelPattern| other.covers(pattern);
        let covering = earlier.iter().filter(|other| !shares_all_models(upstream, other));
        let wider = covering.flat_map(|other| &other.models).find(covers)?.as_str();
        Some(format!(
            "this upstream never gets a request for '{name}': an earlier one matches '{wider}'; \
             the first match serves the model, so put narrower patterns first"
        ))
    })
}

/// Whether both upstreams accept all models and follow different vendors. Then both are useful:
/// each serves the requests of its vendor's API that name no model.
fn shares_all_models(one: &UpstreamSettings, other: &UpstreamSettings) -> bool {
    let all = ModelPattern::new("*");
    [one, other].iter().all(|upstream| upstream.models.contains(&all))
        && one.api.vendor() != other.api.vendor()
}
