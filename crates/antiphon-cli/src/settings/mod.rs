//! The settings of the commands.
//!
//! Each setting is declared once, as a [`Setting`](declaration::Setting): its names, its form in
//! the file, its parser and its help. Settings come from the command line, the environment and the
//! file. Each source becomes [`Values`], which are texts; the first source that contains a setting
//! decides it. Only the deciding texts are parsed, and an error names the source.

mod args;
mod callers;
mod catalog;
mod declaration;
mod environment;
mod file;
mod limits;
mod parse;
mod rules;
mod state;
mod table;
mod unknown;
mod upstream_keys;
mod upstreams;
mod values;
mod webhooks;

use std::cell::RefCell;
use std::net::SocketAddr;

use antiphon_gateway::settings::{Secret, Settings};

pub(crate) use args::ServeArgs;
use catalog::{
    ALLOW_HOSTS, ALLOW_ORIGINS, API_KEYS, EVENT_NAMES, FAULTS, LISTEN, ON_DISCONNECT, PASS_THROUGH,
    RETENTION, SECRETS, SHUTDOWN_GRACE, STORE, TENANT_HEADER, TURN_WAIT,
};
pub(crate) use environment::{Environment, LOG, LOG_FORMAT, environment, variable_names};
use file::File;
pub(crate) use parse::form;
use values::Values;

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
    let file = File::read(named.as_deref())?;
    merge(args, environment, file, set)
}

fn merge(
    args: ServeArgs,
    environment: impl Environment,
    mut file: File,
    set: &[String],
) -> Result<Configuration, Failure> {
    let named_by_file = RefCell::new(Vec::new());
    let of_file = |name: &str| {
        named_by_file.borrow_mut().push(name.to_owned());
        environment(name)
    };
    file.values.override_with(environment::values(&environment)?);
    file.values.override_with(args.values);
    let mut configuration = configure(&file, &of_file)?;
    let named_by_file = named_by_file.into_inner();
    configuration.warnings = unknown::warnings(set, &named_by_file);
    configuration.warnings.extend(upstreams::idle_variables(&file.values, &named_by_file));
    Ok(configuration)
}

fn configure(file: &File, environment: &impl Environment) -> Result<Configuration, Failure> {
    let values = &file.values;
    let listen = values.parse(&LISTEN)?;
    let store = values.parse(&STORE)?;
    let mut configuration = Configuration {
        listen: listen.unwrap_or_else(|| SocketAddr::from(([127, 0, 0, 1], 8484))),
        store: store.unwrap_or_else(|| "sqlite:antiphon.db".to_owned()),
        gateway: gateway(file, environment)?,
        warnings: Vec::new(),
    };
    rules::check(&configuration, values)?;
    let gateway = &mut configuration.gateway;
    gateway.webhooks = webhooks::webhooks(&file.webhooks, environment, gateway)?;
    Ok(configuration)
}

fn gateway(file: &File, environment: &impl Environment) -> Result<Settings, Failure> {
    let values = &file.values;
    let mut settings = Settings {
        upstreams: upstreams::upstreams(values, &file.upstreams, environment)?,
        api_keys: callers::api_keys(values.all(&API_KEYS))?,
        tenant_header: values.parse(&TENANT_HEADER)?,
        allowed_origins: values.parse_all(&ALLOW_ORIGINS)?,
        allowed_hosts: values.parse_all(&ALLOW_HOSTS)?,
        secrets: values.parse_all(&SECRETS)?,
        limits: limits::limits(values)?,
        pass_through: values.parse(&PASS_THROUGH)?,
        ..Settings::default()
    };
    settings.ledger = state::ledger(values, &settings.upstreams)?;
    values.parse_into(&FAULTS, &mut settings.faults)?;
    values.parse_into(&TURN_WAIT, &mut settings.turn_wait)?;
    values.parse_into(&ON_DISCONNECT, &mut settings.on_disconnect)?;
    values.parse_into(&EVENT_NAMES, &mut settings.event_names)?;
    values.parse_into(&RETENTION, &mut settings.retention)?;
    values.parse_into(&SHUTDOWN_GRACE, &mut settings.shutdown_grace)?;
    Ok(settings)
}

/// The access to a store, for a command that runs next to a gateway or instead of it.
#[derive(Debug)]
pub(crate) struct Access {
    /// The URL of the store.
    pub(crate) store: String,
    /// The secrets that may decrypt the key in the store.
    pub(crate) secrets: Vec<Secret>,
}

/// Resolves the access from the options `--store` and `--secret` and from the environment. It does
/// not read the settings file, which belongs to a gateway.
pub(crate) fn access(
    store: Option<String>,
    secrets: Vec<String>,
    environment: impl Environment,
) -> Result<Access, Failure> {
    let mut values = environment::values(&environment)?;
    let mut options = Values::default();
    options.push_options(&STORE.declaration, store);
    options.push_options(&SECRETS.declaration, secrets);
    values.override_with(options);
    let store = values.parse(&STORE)?.ok_or_else(|| {
        Failure::usage("give --store URL or ANTIPHON_STORE: which store is not guessed")
    })?;
    Ok(Access { store, secrets: values.parse_all(&SECRETS)? })
}

#[cfg(test)]
mod tests;
