//! Rules for combinations of settings.

use std::net::IpAddr;

use antiphon::dialect::UpstreamApi;
use antiphon_gateway::settings::{Inspect, State, UpstreamSettings};
use http::uri::Scheme;

use super::Configuration;
use super::file::File;
use super::upstreams::{PASSES_AS_IT_IS, url};
use super::values::{Value, Values};
use crate::failure::Failure;

pub(super) fn check(configuration: &Configuration, file: &File) -> Result<(), Failure> {
    let values = &file.values;
    check_api_keys(configuration, values)?;
    check_metrics_key(configuration, values)?;
    check_inspector(configuration, values)?;
    check_limits(configuration, values)?;
    check_state_owners(configuration, values)?;
    check_reasoning(configuration, values)?;
    check_accounts(&configuration.gateway.upstreams)?;
    check_tenants(values)?;
    check_forwarded_tokens(configuration, values)?;
    check_loops(configuration, file)?;
    check_strangers(configuration, values)?;
    check_hosts(configuration, values)
}

/// Rejects an API key that occurs twice.
fn check_api_keys(configuration: &Configuration, values: &Values) -> Result<(), Failure> {
    let keys = &configuration.gateway.api_keys;
    for (at, (key, value)) in keys.iter().zip(values.all("api-keys")).enumerate() {
        if let Some(first) = keys[..at].iter().find(|first| first.hash == key.hash) {
            let (first, second) = (first.tenant.as_str(), key.tenant.as_str());
            return Err(value.refused(format!("'{first}' and '{second}' have the same key")));
        }
    }
    Ok(())
}

/// Rejects a metrics key that is also a caller's: the caller could read the metrics of all tenants.
fn check_metrics_key(configuration: &Configuration, values: &Values) -> Result<(), Failure> {
    let gateway = &configuration.gateway;
    let shared = gateway.api_keys.iter().find(|key| gateway.metrics.key == Some(key.hash));
    let tenant = shared.map_or("", |key| key.tenant.as_str());
    let sentence = format!("this is also the API key of '{tenant}'; give a key of its own");
    values.reject_if(shared.is_some(), "metrics-key", sentence)
}

/// Rejects an inspector for all listeners if callers have no keys: everyone could read everything.
/// Rejects settings of an inspector that is off.
fn check_inspector(configuration: &Configuration, values: &Values) -> Result<(), Failure> {
    let gateway = &configuration.gateway;
    let is_open = gateway.inspect.access == Inspect::Keys
        && gateway.api_keys.is_empty()
        && gateway.tenant_header.is_none();
    values.reject_with(is_open, "inspect", |value| {
        let keys = value.sibling("api-keys", "KEY=TENANT");
        format!("callers have no keys, so everyone could read all conversations; give {keys}")
    })?;
    let is_off = gateway.inspect.access == Inspect::Off;
    for key in ["inspect-writes", "inspect-bodies"] {
        values.reject_if(is_off, key, "this has no effect, because the inspector is off")?;
    }
    Ok(())
}

/// Rejects a limit that another one hides: a body contains its items, and the quota of a tenant
/// covers all its conversations together.
fn check_limits(configuration: &Configuration, values: &Values) -> Result<(), Failure> {
    let limits = &configuration.gateway.limits;
    let sentence = "a burst needs requests-per-second, which is not set";
    values.reject_if(limits.rate.is_none(), "burst", sentence)?;
    let max = limits.max_body_bytes;
    values.reject_hidden(limits.max_item_bytes > max, "max-item-bytes", "max-body-bytes", max)?;
    let (tenant, conversation) = (limits.tenant_quota, limits.conversation_quota);
    for (unit, tenant, conversation) in [
        ("items", tenant.max_items, conversation.max_items),
        ("bytes", tenant.max_bytes, conversation.max_bytes),
    ] {
        let Some(max) = tenant else { continue };
        let (key, other) = (format!("max-conversation-{unit}"), format!("max-tenant-{unit}"));
        let sentence =
            format!("this has no effect above {other}, which is {max}: raise {other} too");
        values.reject_if(conversation > tenant, &key, sentence)?;
    }
    Ok(())
}

/// Rejects `reasoning-as` if every upstream has reasoning items of its own.
fn check_reasoning(configuration: &Configuration, values: &Values) -> Result<(), Failure> {
    let mut upstreams = configuration.gateway.upstreams.iter();
    let is_idle = upstreams.all(|upstream| upstream.api == UpstreamApi::Responses);
    values.reject_with(is_idle, "reasoning-as", |value| {
        let [chat, anthropic] = ["chat", "anthropic"].map(|api| value.sibling("upstream-api", api));
        format!(
            "this has an effect only with {chat} or {anthropic}, or such an 'api' below \
             [[upstreams]]: {PASSES_AS_IT_IS}"
        )
    })
}

/// Rejects `state = "upstream"` without an upstream, because the built-in model `sim` stores
/// nothing, and `ledger` if no upstream owns the state.
fn check_state_owners(configuration: &Configuration, values: &Values) -> Result<(), Failure> {
    let upstreams = &configuration.gateway.upstreams;
    let is_upstream = values.first("state").is_some_and(|state| state.text() == "upstream");
    values.reject_if(
        is_upstream && upstreams.is_empty(),
        "state",
        "no upstream is configured that could own the state, and the built-in model 'sim' stores \
         none; give --upstream URL",
    )?;
    values.reject_if(
        upstreams.iter().all(|upstream| upstream.state == State::Here),
        "ledger",
        "this has no effect, because Antiphon owns all state; give --state upstream, or state = \
         \"upstream\" below [[upstreams]]",
    )
}

/// Rejects different keys for one stateful upstream. Stored state refers to the upstream's URL and
/// to an id there. Neither identifies the account, so with two keys the gateway could ask the wrong
/// one.
fn check_accounts(upstreams: &[UpstreamSettings]) -> Result<(), Failure> {
    let base =
        |upstream: &UpstreamSettings| upstream.url.to_string().trim_end_matches('/').to_owned();
    let has_two_keys = |owner: &&UpstreamSettings| {
        let mut same_url = upstreams.iter().filter(|other| base(other) == base(owner));
        owner.state == State::Upstream && same_url.any(|other| other.key != owner.key)
    };
    match upstreams.iter().find(has_two_keys) {
        Some(owner) => Err(Failure::usage(format!(
            "[[upstreams]]: {} owns the state and has different keys; its ids do not identify \
             the account, so give it the same key everywhere",
            owner.url
        ))),
        None => Ok(()),
    }
}

/// Rejects two ways to name a tenant.
fn check_tenants(values: &Values) -> Result<(), Failure> {
    match (values.first("tenant-header"), values.first("api-keys")) {
        (Some(header), Some(key)) => Err(header.refused(format!(
            "this and {} both identify the tenant of a caller; give one of them",
            key.name()
        ))),
        _ => Ok(()),
    }
}

/// Rejects gateway API keys next to an upstream without a key. The gateway forwards the caller's
/// token to such an upstream, and so would send its own API keys to the provider.
fn check_forwarded_tokens(configuration: &Configuration, values: &Values) -> Result<(), Failure> {
    let mut upstreams = configuration.gateway.upstreams.iter();
    match (upstreams.find(|upstream| upstream.key.is_none()), values.first("api-keys")) {
        (Some(upstream), Some(key)) => Err(key.refused(format!(
            "the upstream {} has no key, so the gateway would forward its own API keys to the \
             provider; give {}, or 'key' or 'key-env' below [[upstreams]]",
            upstream.url,
            key.sibling("upstream-key", "KEY")
        ))),
        _ => Ok(()),
    }
}

/// Rejects an upstream that is this gateway: each request would cause another one, without end.
fn check_loops(configuration: &Configuration, file: &File) -> Result<(), Failure> {
    let listen = configuration.listen;
    let is_here = |upstream: &&UpstreamSettings| {
        let url = &upstream.url;
        let usual_port = if url.scheme() == Some(&Scheme::HTTPS) { 443 } else { 80 };
        let port = url.port_u16().unwrap_or(usual_port);
        port == listen.port() && is_served_by(url.host().unwrap_or_default(), listen.ip())
    };
    let mut upstreams = configuration.gateway.upstreams.iter();
    let position = upstreams.position(|upstream| is_here(&upstream));
    let Some(url) = position.and_then(|position| url(file, position)) else { return Ok(()) };
    let cause = file.values.first("listen").map_or("by default".to_owned(), Value::name);
    Err(url.refused(format!(
        "'{}' is this gateway itself, which listens on {listen} ({cause}), so each request would \
         cause another one without end; give the URL of a model server",
        url.text()
    )))
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
fn check_strangers(configuration: &Configuration, values: &Values) -> Result<(), Failure> {
    let Configuration { listen, gateway, .. } = configuration;
    let upstreams = &gateway.upstreams;
    let is_known = listen.ip().to_canonical().is_loopback()
        || !gateway.api_keys.is_empty()
        || gateway.tenant_header.is_some()
        || (!upstreams.is_empty() && upstreams.iter().all(|upstream| upstream.key.is_none()));
    values.reject_with(!is_known, "listen", |value| {
        let keys = match value.key() {
            Some(_) => "api-keys = [\"KEY=TENANT\"]".to_owned(),
            None => value.sibling("api-keys", "KEY=TENANT"),
        };
        format!(
            "{listen} can be reached from other machines, and nothing authenticates the callers; \
             give {keys}, or {} if a trusted proxy sets it, or only upstreams that get the \
             callers' own tokens, or listen on 127.0.0.1",
            value.sibling("tenant-header", "NAME")
        )
    })
}

/// Rejects names of hosts if the gateway accepts every host: it checks hosts only if nothing else
/// keeps web pages out.
fn check_hosts(configuration: &Configuration, values: &Values) -> Result<(), Failure> {
    let address = configuration.listen;
    let listen = values.first("listen").filter(|_| !address.ip().to_canonical().is_loopback());
    let cause = match (values.first("api-keys").or(values.first("tenant-header")), listen) {
        (Some(tenants), _) => tenants.name(),
        (None, Some(listen)) => {
            format!("{} {address}, which is not a loopback address", listen.name())
        }
        (None, None) => return Ok(()),
    };
    let sentence = format!("this has no effect with {cause}: every host name is accepted");
    values.reject_if(true, "allow-hosts", sentence)
}
