//! The settings of the commands.
//!
//! Each setting is declared once, as a [`Setting`](setting::Setting): its names, its form in the
//! file, its parser, its help and its target. Settings come from the command line, the environment
//! and the file. Each source becomes [`Values`], which are texts; the first source that contains a
//! setting decides it. Only the deciding texts are parsed, and an error names the source.

mod catalog;
mod file;
mod flags;
mod parse;
mod prices;
mod rules;
mod setting;
mod sources;
mod template;
mod unknown;
mod upstreams;
mod values;
mod webhooks;

use std::collections::HashMap;
use std::net::SocketAddr;

use antiphon_gateway::settings::{Limits, Secret, Settings, Telemetry};

use file::File;
pub(crate) use flags::{
    Environment, LOG, LOG_FORMAT, ServeArgs, SettingsArgs, environment, variable_names,
};
pub(crate) use parse::parse_event_names;
pub(crate) use sources::Sources;
pub(crate) use template::{Chosen, check_file, template};
use values::{Value, Values};

use crate::failure::Failure;

/// The configuration of `serve`.
#[derive(Debug)]
pub(crate) struct Configuration {
    /// The address to listen on.
    pub(crate) listen: SocketAddr,
    /// The address of the metrics, if they have a listener of their own.
    pub(crate) metrics_listen: Option<SocketAddr>,
    /// The URL of the store.
    pub(crate) store: String,
    /// The settings of the gateway.
    pub(crate) gateway: Settings,
    /// Warnings about settings that have no effect and may be mistakes.
    pub(crate) warnings: Vec<String>,
    /// The sources of the settings.
    pub(crate) sources: Sources,
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
    args: SettingsArgs,
    environment: impl Environment,
    set: &[String],
) -> Result<Configuration, Failure> {
    let named = match args.config.clone() {
        Some(path) => Some(path),
        None => environment(flags::CONFIG)?.map(Into::into),
    };
    let file = File::read(named.as_deref())?;
    merge(args, environment, file, set)
}

fn merge(
    args: SettingsArgs,
    environment: impl Environment,
    mut file: File,
    set: &[String],
) -> Result<Configuration, Failure> {
    let has_secrets = sources::has_secrets(&file);
    file.values.override_with(flags::read_variables(&environment)?);
    file.values.override_with(args.values);
    let named_by_file = file.read_variables(&environment)?;
    let mut configuration = configure(&file)?;
    let (telemetry, warnings) = read_telemetry(&environment)?;
    configuration.gateway.telemetry = telemetry;
    configuration.sources = Sources::new(&file, has_secrets);
    configuration.warnings = warnings;
    configuration.warnings.extend(unknown::warnings(set, &named_by_file));
    configuration.warnings.extend(upstreams::idle_variables(&file.values, &named_by_file));
    Ok(configuration)
}

/// Reads the variables of OpenTelemetry. Also returns warnings about values without effect.
fn read_telemetry(environment: &impl Environment) -> Result<(Telemetry, Vec<String>), Failure> {
    let mut set = HashMap::new();
    for name in Telemetry::VARIABLES {
        if let Some(text) = environment(name)? {
            set.insert(*name, text);
        }
    }
    Ok(Telemetry::from_variables(|name| set.get(name).cloned()))
}

fn configure(file: &File) -> Result<Configuration, Failure> {
    let values = &file.values;
    let upstreams = upstreams::upstreams(values, &file.upstreams)?;
    let mut configuration = Configuration {
        listen: SocketAddr::from(([127, 0, 0, 1], 8484)),
        metrics_listen: values.first("metrics-listen").map(parse::listen).transpose()?,
        store: DEFAULT_STORE.to_owned(),
        gateway: Settings { upstreams, ..Settings::default() },
        warnings: Vec::new(),
        sources: Sources::default(),
    };
    if let Some(value) = values.first("listen") {
        configuration.listen = parse::listen(value)?;
    }
    if let Some(value) = values.first("store") {
        configuration.store = parse::store(value)?;
    }
    setting::apply(&catalog::settings(), values, &mut configuration.gateway)?;
    rules::check(&configuration, file)?;
    let gateway = &mut configuration.gateway;
    gateway.prices = prices::prices(&file.prices)?;
    gateway.webhooks = webhooks::webhooks(&file.webhooks, gateway)?;
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

/// The store of a gateway whose settings name none.
pub(crate) const DEFAULT_STORE: &str = "sqlite:antiphon.db";

/// Resolves the access from the options `--store` and `--secret` and from the environment. It does
/// not read the settings file, which belongs to a gateway.
pub(crate) fn access(
    store: Option<String>,
    secrets: Vec<String>,
    environment: impl Environment,
) -> Result<Access, Failure> {
    optional_access(store, secrets, environment)?.ok_or_else(|| {
        Failure::usage(format!(
            "give --store URL or ANTIPHON_STORE, such as {DEFAULT_STORE}, the default of \
             `antiphon serve`: this command has no default"
        ))
    })
}

/// The same; `None` if neither names a store.
pub(crate) fn optional_access(
    store: Option<String>,
    secrets: Vec<String>,
    environment: impl Environment,
) -> Result<Option<Access>, Failure> {
    let mut values = flags::read_variables(&environment)?;
    let mut options = Values::default();
    if let Some(url) = store {
        options.push("store", Value::named("--store", url));
    }
    for text in secrets {
        options.push("secrets", Value::named("--secret", text));
    }
    values.override_with(options);
    let Some(store) = values.first("store") else { return Ok(None) };
    let secrets = values.all("secrets").iter().map(parse::secret).collect::<Result<_, _>>()?;
    Ok(Some(Access { store: parse::store(store)?, secrets }))
}

/// Resolves the quotas from options, by the keys of their settings, and from the environment.
pub(crate) fn quotas(
    options: impl Iterator<Item = (&'static str, String)>,
    environment: impl Environment,
) -> Result<Limits, Failure> {
    const KEYS: [&str; 4] = [
        "max-tenant-bytes",
        "max-tenant-items",
        "max-conversation-bytes",
        "max-conversation-items",
    ];
    let mut values = flags::read_variables(&environment)?;
    let mut given = Values::default();
    for (key, text) in options {
        given.push(key, Value::named(format!("--{key}"), text));
    }
    values.override_with(given);
    let quotas = catalog::settings().into_iter().filter(|setting| KEYS.contains(&setting.key));
    let mut settings = Settings::default();
    setting::apply(&quotas.collect::<Vec<_>>(), &values, &mut settings)?;
    Ok(settings.limits)
}

#[cfg(test)]
mod tests;
