//! What settings must not be together.

use super::Configuration;
use crate::failure::Failure;

pub(super) fn check(configuration: &Configuration) -> Result<(), Failure> {
    one_way_to_name_a_tenant(configuration)?;
    our_keys_stay_here(configuration)?;
    strangers_stay_out(configuration)
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

/// Without a key of its own, the upstream is given the caller's token. Where callers present our
/// keys, that would hand our keys to the provider, who does not know them.
fn our_keys_stay_here(configuration: &Configuration) -> Result<(), Failure> {
    if configuration.forwards_tokens_to_some() && !configuration.gateway.api_keys.is_empty() {
        return Err(Failure::usage(
            "--api-key with --upstream needs --upstream-key, and with upstreams in the file a key \
             for each: callers' keys are ours, not the provider's, and would be forwarded to it",
        ));
    }
    Ok(())
}

/// Someone must know the caller: we, by our keys; a proxy, which tells us; the provider, by the token
/// forwarded to it; or the machine, which nobody else reaches.
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

impl Configuration {
    /// Whether an upstream is presented the callers' own tokens.
    fn forwards_tokens_to_some(&self) -> bool {
        self.gateway.upstreams.iter().any(|upstream| upstream.key.is_none())
    }

    /// Whether there are upstreams and every one judges the callers' own tokens.
    fn forwards_tokens_to_all(&self) -> bool {
        let upstreams = &self.gateway.upstreams;
        !upstreams.is_empty() && upstreams.iter().all(|upstream| upstream.key.is_none())
    }
}
