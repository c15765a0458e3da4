//! From what the operator says to what the gateway is given.
//!
//! Three places say something, each as a [`Layer`] of texts: the command line, the environment, and
//! the file. The first of them that mentions a setting decides it; only then is its text
//! understood, once for all places, and a refusal names the place.

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
mod upstreams;
mod webhooks;

use std::net::SocketAddr;

use antiphon::dialect::Dialect;
use antiphon_gateway::settings::{Secret, Settings, UpstreamSettings};

pub(crate) use environment::{Environment, environment};
use layer::{Layer, Layers};
use limits::FromTable;
pub(crate) use parse::form;
use setting::Setting;

use crate::args::ServeArgs;
use crate::failure::Failure;

/// What `serve` needs to know.
#[derive(Debug)]
pub(crate) struct Configuration {
    /// Where to listen.
    pub(crate) listen: SocketAddr,
    /// The URL of the store.
    pub(crate) store: String,
    /// How the gateway behaves.
    pub(crate) gateway: Settings,
}

/// Asks the command line, then the environment, then the file.
pub(crate) fn resolve(
    args: ServeArgs,
    environment: impl Environment,
) -> Result<Configuration, Failure> {
    let named = match args.config.clone() {
        Some(path) => Some(path),
        None => environment("ANTIPHON_CONFIG")?.map(Into::into),
    };
    let variables = environment::layer(&environment)?;
    let file = file::read(named.as_deref(), &environment)?;
    let layers = Layers([Layer::from(args), variables, file.layer]);
    let mut configuration = configure(&layers, file.upstreams, file.limits)?;
    configuration.gateway.webhooks = file.webhooks;
    Ok(configuration)
}

/// What a command needs to know that works on a store beside a gateway, or in its place.
#[derive(Debug)]
pub(crate) struct Access {
    /// The URL of the store.
    pub(crate) store: String,
    /// What may open the store's key.
    pub(crate) secrets: Vec<Secret>,
}

/// Asks the command line, then the environment; not the file, which is a gateway's.
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
    };
    rules::check(&configuration)?;
    Ok(configuration)
}

fn gateway(
    layers: &Layers,
    upstreams: Vec<upstreams::FromTable>,
    limits: FromTable,
) -> Result<Settings, Failure> {
    let upstreams = all_upstreams(layers, upstreams)?;
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
    })
}

/// Those of the file, and then the one that every place can name.
fn all_upstreams(
    layers: &Layers,
    of_file: Vec<upstreams::FromTable>,
) -> Result<Vec<UpstreamSettings>, Failure> {
    let everywhere = state::everywhere(layers);
    let upstreams = of_file.into_iter().map(|upstream| upstream.with(everywhere));
    let mut upstreams = upstreams.collect::<Result<Vec<_>, _>>()?;
    if let Some(mut upstream) = upstream(layers)? {
        state::FromTable::default().settle(everywhere, &mut upstream)?;
        upstreams.push(upstream);
    }
    state::has_a_keeper(everywhere, &upstreams)?;
    state::one_account(&upstreams)?;
    Ok(upstreams)
}

/// The one upstream that every place can name. It answers for what no other one takes.
fn upstream(layers: &Layers) -> Result<Option<UpstreamSettings>, Failure> {
    let key = layers.one(Setting::UpstreamKey, parse::upstream_key)?;
    let api = layers.one(Setting::UpstreamApi, parse::upstream_api)?;
    let api = api.unwrap_or(Dialect::Responses);
    let url = layers.one(Setting::Upstream, |said| parse::upstream(said, api))?;
    Ok(url.map(|url| UpstreamSettings { api, ..UpstreamSettings::new(url, key) }))
}

#[cfg(test)]
mod tests;
