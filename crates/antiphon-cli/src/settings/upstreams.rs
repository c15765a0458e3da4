//! The upstreams of the file, and the one of `--upstream`.

use std::time::Duration;

use antiphon::dialect::UpstreamApi;
use antiphon_gateway::settings::{ModelPattern, UpstreamSettings};

use super::catalog::{self, MAX_ANSWER_BYTES, UPSTREAM_API, UPSTREAM_KEY};
use super::declaration::Setting;
use super::environment::Environment;
use super::table::Table;
use super::upstream_keys::{
    API, CONNECT_TIMEOUT, CONTEXT_WINDOW, FIRST_BYTE_TIMEOUT, IDLE_TIMEOUT, KEY, KEY_ENV,
    MAX_OPEN_REQUESTS, MAX_RETRIES, MODELS, NAME, TOTAL_TIMEOUT, URL,
};
use super::values::{Value, Values};
use super::{parse, state};
use crate::failure::Failure;

/// All upstreams: those of the file, followed by the one of `--upstream`.
pub(super) fn upstreams(
    values: &Values,
    tables: &[Table],
    environment: &impl Environment,
) -> Result<Vec<UpstreamSettings>, Failure> {
    let mut upstreams = Vec::with_capacity(tables.len() + 1);
    for table in tables {
        let mut upstream = from_table(table, environment)?;
        if let Some(flaw) = unreachable_models(&upstream, &upstreams) {
            return Err(table.required(&MODELS)?.refused_here(flaw));
        }
        state::set(values, &table.values, &mut upstream)?;
        upstreams.push(upstream);
    }
    if let Some((value, mut upstream)) = from_flags(values)? {
        if let Some(flaw) = unreachable_models(&upstream, &upstreams) {
            return Err(value.refused(flaw));
        }
        state::set(values, &Values::default(), &mut upstream)?;
        upstreams.push(upstream);
    }
    for upstream in &mut upstreams {
        values.parse_into(&MAX_ANSWER_BYTES, &mut upstream.max_answer)?;
    }
    state::check(values, &upstreams)?;
    Ok(upstreams)
}

fn from_table(table: &Table, environment: &impl Environment) -> Result<UpstreamSettings, Failure> {
    let values = &table.values;
    let api = values.parse(&API)?.unwrap_or(UpstreamApi::Responses);
    let url = parse::upstream(table.required(&URL)?, api)?;
    let mut upstream = UpstreamSettings::new(url, table.secret(&KEY, &KEY_ENV, environment)?);
    upstream.api = api;
    upstream.name = values.parse(&NAME)?;
    table.required(&MODELS)?;
    upstream.models = values.parse_all(&MODELS)?;
    upstream.max_open = values.parse(&MAX_OPEN_REQUESTS)?;
    upstream.context_window = values.parse(&CONTEXT_WINDOW)?;
    values.parse_into(&MAX_RETRIES, &mut upstream.retries.max)?;
    set_timeouts(values, &mut upstream)?;
    Ok(upstream)
}

fn set_timeouts(values: &Values, upstream: &mut UpstreamSettings) -> Result<(), Failure> {
    values.parse_into(&TOTAL_TIMEOUT, &mut upstream.total_timeout)?;
    let total = upstream.total_timeout;
    let set = |setting: &Setting<Duration>, timeout: &mut Duration| {
        values.parse_into(setting, timeout)?;
        match values.first(setting).filter(|_| *timeout > total) {
            Some(value) => Err(value.refused_as(format!(
                "has no effect above total-timeout, which is {} seconds: raise total-timeout too",
                total.as_secs()
            ))),
            None => Ok(()),
        }
    };
    set(&CONNECT_TIMEOUT, &mut upstream.connect_timeout)?;
    set(&FIRST_BYTE_TIMEOUT, &mut upstream.first_byte_timeout)?;
    set(&IDLE_TIMEOUT, &mut upstream.idle_timeout)
}

/// The upstream of `--upstream`. It serves every model that no other upstream takes.
fn from_flags(values: &Values) -> Result<Option<(&Value, UpstreamSettings)>, Failure> {
    let key = values.parse(&UPSTREAM_KEY)?;
    let api = values.parse(&UPSTREAM_API)?.unwrap_or(UpstreamApi::Responses);
    let Some(value) = values.first(&catalog::UPSTREAM) else {
        return check_no_upstream(values).map(|()| None);
    };
    let url = parse::upstream(value, api)?;
    Ok(Some((value, UpstreamSettings { api, ..UpstreamSettings::new(url, key) })))
}

/// Rejects the settings of `--upstream` if it is missing. A variable causes only a warning: another
/// process of the same environment may need it, or `key-env` names it.
fn check_no_upstream(values: &Values) -> Result<(), Failure> {
    match settings_of_upstream(values).find(|value| !value.source.is_variable()) {
        Some(value) => Err(value.refused(NEEDS_UPSTREAM)),
        None => Ok(()),
    }
}

/// Returns a warning for each variable that has no effect because `--upstream` is missing.
pub(super) fn idle_variables(values: &Values, named_by_file: &[String]) -> Vec<String> {
    if values.first(&catalog::UPSTREAM).is_some() {
        return Vec::new();
    }
    let sources = settings_of_upstream(values).map(|value| value.source.to_string());
    let idle = sources.filter(|name| !named_by_file.contains(name));
    idle.map(|name| format!("{name}: {NEEDS_UPSTREAM}")).collect()
}

fn settings_of_upstream(values: &Values) -> impl Iterator<Item = &Value> {
    [values.first(&UPSTREAM_KEY), values.first(&UPSTREAM_API)].into_iter().flatten()
}

const NEEDS_UPSTREAM: &str = "this has no effect without --upstream; upstreams in the file have \
                              settings of their own, below [[upstreams]]";

/// The reason for which an upstream can never serve some of its models: the built-in model or an
/// earlier upstream serves them.
fn unreachable_models(upstream: &UpstreamSettings, earlier: &[UpstreamSettings]) -> Option<String> {
    upstream.models.iter().find_map(|pattern| {
        let name = pattern.as_str();
        if name == antiphon_sim::NAME {
            return Some(format!("the built-in model answers for '{name}', no upstream does"));
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

/// Whether both upstreams accept all models and follow different vendors. Then both are useful:
/// each serves the requests of its vendor's API that name no model.
fn shares_all_models(one: &UpstreamSettings, other: &UpstreamSettings) -> bool {
    let all = ModelPattern::new("*");
    [one, other].iter().all(|upstream| upstream.models.contains(&all))
        && one.api.vendor() != other.api.vendor()
}
