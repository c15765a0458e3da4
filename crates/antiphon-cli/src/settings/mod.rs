//! The settings of the commands.
//!
//! Settings come from three sources, each of which is a [`Layer`] of texts: the command line, the
//! environment, and the file. The first source that contains a setting decides it. Only this text
//! is parsed, by the same code for every source, and an error names the source.

mod args;
mod callers;
mod environment;
mod file;
mod layer;
mod limits;
mod parse;
mod rules;
mod setting;
mod state;
mod table;
mod unknown;
mod upstreams;
mod webhooks;

use std::cell::RefCell;
use std::net::SocketAddr;

use antiphon::dialect::Dialect;
use antiphon_gateway::settings::{Secret, Settings, UpstreamSettings};

pub(crate) use args::ServeArgs;
pub(crate) use environment::{Environment, LOG, LOG_FORMAT, environment, variable_names};
use layer::{Layer, Layers, Said};
use limits::FromTable;
pub(crate) use parse::form;
use setting::Setting;

use crate::failure::Failure;

/// The configuration of `serve`.
#[derive(Debug)]
pub(crate) struct Configuration {
    /// The address to listen on.
    pub(crate) listen: SocketAddr,
    /// The URL of the store.
    pub(crate) store: String,
    /// The settings of the gateway.
    pub(crate) gateway: Settings,
    /// Warnings about settings that have no effect and may be mistakes.
    pub(crate) warnings: Vec<String>,
}

impl Configuration {
    pub(crate) fn log_warnings(&self) {
        for warning in &self.warnings {
            tracing::warn!("{warning}");
        }
    }
}

/// Resolves the settings from the command line, the environment and the file.
///
/// `set` has the names of all environment variables. The configuration gets a warning for each one
/// that looks like a setting and has no effect.
pub(crate) fn resolve(
    args: ServeArgs,
    environment: impl Environment,
    set: &[String],
) -> Result<Configuration, Failure> {
    let named = match args.config.clone() {
        Some(path) => Some(path),
        None => environment(environment::CONFIG)?.map(Into::into),
    };
    let variables = environment::layer(&environment)?;
    let named_by_file = RefCell::new(Vec::new());
    let of_file = |name: &str| {
        named_by_file.borrow_mut().push(name.to_owned());
        environment(name)
    };
    let file = file::read(named.as_deref(), &of_file)?;
    let layers = Layers([Layer::from(args), variables, file.layer]);
    let mut configuration = configure(&layers, file.upstreams, file.limits)?;
    configuration.gateway.webhooks = webhooks::settle(file.webhooks, &configuration.gateway)?;
    let named_by_file = named_by_file.into_inner();
    configuration.warnings = unknown::warnings(set, &named_by_file);
    configuration.warnings.extend(idle_variables(&layers, &named_by_file));
    Ok(configuration)
}

/// The access to a store, for a command that runs next to a gateway or instead of it.
#[derive(Debug)]
pub(crate) struct Access {
    /// The URL of the store.
    pub(crate) store: String,
    /// The secrets that may decrypt the key in the store.
    pub(crate) secrets: Vec<Secret>,
}

/// Resolves the access from the command line and the environment. It does not read the settings
/// file, which belongs to a gateway.
pub(crate) fn access(args: ServeArgs, environment: impl Environment) -> Result<Access, Failure> {
    let variables = environment::layer(&environment)?;
    let layers = Layers([Layer::from(args), variables, Layer::default()]);
    let store = layers.one(Setting::Store, parse::store)?;
    let store = store.ok_or_else(|| {
        Failure::usage("give --store URL or ANTIPHON_STORE: which store is not guessed")
    })?;
    Ok(Access { store, secrets: callers::secrets(layers.all(Setting::Secrets))? })
}

fn configure(
    layers: &Layers,
    upstreams: Vec<upstreams::FromTable>,
    limits: FromTable,
) -> Result<Configuration, Failure> {
    let listen = layers.one(Setting::Listen, parse::listen)?;
    let store = layers.one(Setting::Store, parse::store)?;
    let configuration = Configuration {
        listen: listen.unwrap_or_else(|| SocketAddr::from(([127, 0, 0, 1], 8484))),
        store: store.unwrap_or_else(|| "sqlite:antiphon.db".to_owned()),
        gateway: gateway(layers, upstreams, limits)?,
        warnings: Vec::new(),
    };
    rules::check(&configuration)?;
    Ok(configuration)
}

fn gateway(
    layers: &Layers,
    upstreams: Vec<upstreams::FromTable>,
    limits: FromTable,
) -> Result<Settings, Failure> {
    let mut upstreams = all_upstreams(layers, upstreams)?;
    if let Some(bytes) = limits.max_answer {
        for upstream in &mut upstreams {
            upstream.max_answer = bytes;
        }
    }
    let defaults = Settings::default();
    let faults = layers.one(Setting::Faults, parse::faults)?;
    let turn_wait = layers.one(Setting::TurnWait, parse::seconds)?;
    let shutdown_grace = layers.one(Setting::ShutdownGrace, parse::seconds)?;
    let retention = layers.one(Setting::Retention, parse::retention)?;
    let on_disconnect = layers.one(Setting::OnDisconnect, parse::on_disconnect)?;
    let event_names = layers.one(Setting::EventNames, parse::event_names)?;
    Ok(Settings {
        ledger: state::ledger(layers, &upstreams)?,
        upstreams,
        api_keys: callers::api_keys(layers.all(Setting::ApiKeys))?,
        tenant_header: layers.one(Setting::TenantHeader, callers::tenant_header)?,
        allowed_origins: parse_each(layers.all(Setting::AllowOrigins), parse::origin)?,
        allowed_hosts: parse_each(layers.all(Setting::AllowHosts), parse::host_name)?,
        secrets: callers::secrets(layers.all(Setting::Secrets))?,
        faults: faults.unwrap_or(defaults.faults),
        turn_wait: turn_wait.unwrap_or(defaults.turn_wait),
        on_disconnect: on_disconnect.unwrap_or(defaults.on_disconnect),
        event_names: event_names.unwrap_or(defaults.event_names),
        retention: retention.unwrap_or(defaults.retention),
        shutdown_grace: shutdown_grace.unwrap_or(defaults.shutdown_grace),
        limits: limits.with(layers)?,
        pass_through: layers.one(Setting::PassThrough, parse::pass_through)?,
        webhooks: Vec::new(),
        store: defaults.store,
    })
}

fn parse_each<T>(
    entries: &[Said],
    parse: impl Fn(&Said) -> Result<T, Failure>,
) -> Result<Vec<T>, Failure> {
    entries.iter().map(parse).collect()
}

/// The upstreams of the file, followed by the one of `--upstream`.
fn all_upstreams(
    layers: &Layers,
    of_file: Vec<upstreams::FromTable>,
) -> Result<Vec<UpstreamSettings>, Failure> {
    let everywhere = state::everywhere(layers);
    let upstreams = of_file.into_iter().map(|upstream| upstream.with(everywhere));
    let mut upstreams = upstreams.collect::<Result<Vec<_>, _>>()?;
    if let Some((said, mut upstream)) = upstream(layers)? {
        let earlier: Vec<&UpstreamSettings> = upstreams.iter().collect();
        if let Some(flaw) = upstreams::unreachable_models(&upstream, &earlier) {
            return Err(said.refused(flaw));
        }
        state::FromTable::default().settle(everywhere, &mut upstream)?;
        upstreams.push(upstream);
    }
    state::has_a_keeper(everywhere, &upstreams)?;
    state::one_account(&upstreams)?;
    Ok(upstreams)
}

/// The upstream of `--upstream`. It serves every model that no other upstream takes.
fn upstream(layers: &Layers) -> Result<Option<(&Said, UpstreamSettings)>, Failure> {
    let key = layers.one(Setting::UpstreamKey, parse::upstream_key)?;
    let api = layers.one(Setting::UpstreamApi, parse::upstream_api)?;
    let api = api.unwrap_or(Dialect::Responses);
    let Some(said) = layers.all(Setting::Upstream).first() else {
        return no_upstream(layers).map(|()| None);
    };
    let url = parse::upstream(said, api)?;
    Ok(Some((said, UpstreamSettings { api, ..UpstreamSettings::new(url, key) })))
}

/// The settings of the upstream that `--upstream` names.
const OF_UPSTREAM: [Setting; 2] = [Setting::UpstreamKey, Setting::UpstreamApi];

/// Rejects the settings of `--upstream` if it is missing. A variable causes only a warning: another
/// process of the same environment may need it, or `key-env` names it.
fn no_upstream(layers: &Layers) -> Result<(), Failure> {
    let mut said = OF_UPSTREAM.into_iter().filter_map(|setting| layers.all(setting).first());
    match said.find(|said| !said.place.is_variable()) {
        Some(said) => Err(said.refused(NEEDS_UPSTREAM)),
        None => Ok(()),
    }
}

fn idle_variables(layers: &Layers, named_by_file: &[String]) -> Vec<String> {
    if !layers.all(Setting::Upstream).is_empty() {
        return Vec::new();
    }
    let given = OF_UPSTREAM.into_iter().filter(|setting| !layers.all(*setting).is_empty());
    let variables = given.map(Setting::variable).filter(|name| !named_by_file.contains(name));
    variables.map(|name| format!("{name}: {NEEDS_UPSTREAM}")).collect()
}

const NEEDS_UPSTREAM: &str = "this has no effect without --upstream; upstreams in the file have \
                              settings of their own, below [[upstreams]]";

#[cfg(test)]
mod tests;
