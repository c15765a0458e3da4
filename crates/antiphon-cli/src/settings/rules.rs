//! Rules for combinations of settings.

use std::net::IpAddr;

use antiphon_gateway::settings::UpstreamSettings;
use http::uri::Scheme;

use super::Configuration;
use super::catalog::ALLOW_HOSTS;
use super::values::Values;
use crate::failure::Failure;

pub(super) fn check(configuration: &Configuration, values: &Values) -> Result<(), Failure> {
    one_way_to_name_a_tenant(configuration)?;
    our_keys_stay_here(configuration)?;
    no_upstream_is_this_gateway(configuration)?;
    strangers_stay_out(configuration)?;
    hosts_are_checked(configuration, values)
}

fn one_way_to_name_a_tenant(configuration: &Configuration) -> Result<(), Failure> {
    let gateway = &configuration.gateway;
    if gateway.tenant_header.is_some() && !gateway.api_keys.is_empty() {
        return Err(Failure::usage(
            "--api-key and --tenant-header both say whose data a caller sees; give one of them",
        ));
    }
    Ok(())
}

/// Rejects gateway API keys next to an upstream without a key. The gateway forwards the caller's
/// token to such an upstream, and so would send its own API keys to the provider.
fn our_keys_stay_here(configuration: &Configuration) -> Result<(), Failure> {
    if configuration.forwards_tokens_to_some() && !configuration.gateway.api_keys.is_empty() {
        return Err(Failure::usage(
            "--api-key with --upstream needs --upstream-key, and with upstreams in the file a key \
             for each: callers' keys are ours, not the provider's, and would be forwarded to it",
        ));
    }
    Ok(())
}

/// Rejects an upstream that is this gateway: each request would cause another one, without end.
fn no_upstream_is_this_gateway(configuration: &Configuration) -> Result<(), Failure> {
    let listen = configuration.listen;
    let is_here = |upstream: &&UpstreamSettings| {
        let url = &upstream.url;
        let usual_port = if url.scheme() == Some(&Scheme::HTTPS) { 443 } else { 80 };
        let port = url.port_u16().unwrap_or(usual_port);
        port == listen.port() && is_served_by(url.host().unwrap_or_default(), listen.ip())
    };
    match configuration.gateway.upstreams.iter().find(is_here) {
        Some(upstream) => Err(Failure::usage(format!(
            "the upstream {} is this gateway itself (--listen {listen}), which would ask itself \
             without end; give the URL of a server of models",
            upstream.url
        ))),
        None => Ok(()),
    }
}

/// Whether connections to `host` reach a listener on `ip` of this machine.
fn is_served_by(host: &str, ip: IpAddr) -> bool {
    let is_open = ip.is_unspecified();
    match host.trim_matches(['[', ']']).parse::<IpAddr>() {
        Ok(address) => address == ip || (is_open && address.is_loopback()),
        Err(_) => host == "localhost" && (is_open || ip.is_loopback()),
    }
}

/// Rejects a setup in which nobody authenticates the callers. One of these must do so: the gateway,
/// by its API keys; a proxy, by the tenant header; the provider, by the forwarded token; or the
/// machine, by a loopback address.
fn strangers_stay_out(configuration: &Configuration) -> Result<(), Failure> {
    let listen = configuration.listen;
    let is_known = listen.ip().to_canonical().is_loopback()
        || !configuration.gateway.api_keys.is_empty()
        || configuration.gateway.tenant_header.is_some()
        || configuration.forwards_tokens_to_all();
    if is_known {
        return Ok(());
    }
    Err(Failure::usage(format!(
        "--listen {listen} can be reached from other machines, where nobody would check callers' \
         tokens; give --api-key KEY=TENANT, or --tenant-header NAME where a trusted proxy sets it, \
         or upstreams that are given the callers' own tokens, or listen on 127.0.0.1",
    )))
}

/// Rejects names of hosts if the gateway accepts every host: it checks hosts only if nothing else
/// keeps web pages out.
fn hosts_are_checked(configuration: &Configuration, values: &Values) -> Result<(), Failure> {
    let Some(value) = values.first(&ALLOW_HOSTS) else { return Ok(()) };
    let gateway = &configuration.gateway;
    let cause = if !gateway.api_keys.is_empty() {
        "with --api-key".to_owned()
    } else if gateway.tenant_header.is_some() {
        "with --tenant-header".to_owned()
    } else if !configuration.listen.ip().to_canonical().is_loopback() {
        format!("with --listen {}, which is no loopback address", configuration.listen)
    } else {
        return Ok(());
    };
    Err(value.refused(format!("this has no effect {cause}: then every host name is accepted")))
}

impl Configuration {
    /// Whether any upstream receives the callers' own tokens.
    fn forwards_tokens_to_some(&self) -> bool {
        self.gateway.upstreams.iter().any(|upstream| upstream.key.is_none())
    }

    /// Whether there are upstreams and each one receives the callers' own tokens.
    fn forwards_tokens_to_all(&self) -> bool {
        let upstreams = &self.gateway.upstreams;
        !upstreams.is_empty() && upstreams.iter().all(|upstream| upstream.key.is_none())
    }
}
