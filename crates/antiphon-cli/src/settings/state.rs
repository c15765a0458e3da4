//! The owner of the conversations with an upstream's models.
//!
//! ```toml
//! state = "upstream"
//! ledger = "bodies"
//!
//! [[upstreams]]
//! models = ["gpt-*"]
//! url = "https://models.example/v1"
//! state = "upstream"
//! preset = "open-responses"
//! input-items = true
//! ```
//!
//! A key below `[[upstreams]]` applies to that upstream only, and takes precedence. `preset` names
//! a kind of server; `conversations`, `chains`, `item-deletion` and `input-items` override its
//! capabilities one by one. All four together need no preset. If none of these keys is present, the
//! gateway infers the capabilities from the host, or probes the server.

use antiphon::dialect::UpstreamApi;
use antiphon_gateway::settings::{Capabilities, Ledger, Preset, State, UpstreamSettings};

use super::catalog;
use super::declaration::Setting;
use super::parse;
use super::upstream_keys::{CHAINS, CONVERSATIONS, INPUT_ITEMS, ITEM_DELETION, PRESET, STATE};
use super::values::{Value, Values};
use crate::failure::Failure;

/// Sets the owner of an upstream's state. `own` are the settings of its table, and `general` those
/// for every upstream.
pub(super) fn set(
    general: &Values,
    own: &Values,
    upstream: &mut UpstreamSettings,
) -> Result<(), Failure> {
    upstream.capabilities = capabilities(own)?;
    let state = own.first(&STATE).or(general.first(&catalog::STATE));
    upstream.state = state.map(parse::state).transpose()?.unwrap_or_default();
    match (upstream.state, state, first_capability(own)) {
        (State::Here, _, Some(value)) => Err(value.refused_as(
            "says what an upstream can do that keeps the state; this one keeps none without state \
             = \"upstream\"",
        )),
        (State::Upstream, Some(value), _) => speaks_responses(upstream, value),
        _ => Ok(()),
    }
}

/// The first value in a table that declares a capability.
fn first_capability(own: &Values) -> Option<&Value> {
    let declared = [&CONVERSATIONS, &CHAINS, &ITEM_DELETION, &INPUT_ITEMS];
    own.first(&PRESET).or_else(|| declared.into_iter().find_map(|setting| own.first(setting)))
}

/// The capabilities of the preset, with the overrides of the table. `None` if the table declares
/// none.
fn capabilities(own: &Values) -> Result<Option<Capabilities>, Failure> {
    let Some(first) = first_capability(own) else { return Ok(None) };
    let preset = own.parse(&PRESET)?.map(Preset::capabilities);
    let one = |setting: &Setting<bool>, of_preset: fn(Capabilities) -> bool| {
        own.parse(setting)?.or(preset.map(of_preset)).ok_or_else(|| {
            first.refused_as(
                "needs a preset beside it, which says the rest: \"openai\", \"azure\" or \
                 \"open-responses\"",
            )
        })
    };
    Ok(Some(Capabilities {
        conversations: one(&CONVERSATIONS, |can| can.conversations)?,
        chains: one(&CHAINS, |can| can.chains)?,
        item_deletion: one(&ITEM_DELETION, |can| can.item_deletion)?,
        input_items: one(&INPUT_ITEMS, |can| can.input_items)?,
    }))
}

/// Rejects an upstream-owned state for other APIs: only the Responses API has conversations and
/// stored responses.
fn speaks_responses(upstream: &UpstreamSettings, value: &Value) -> Result<(), Failure> {
    let api = match upstream.api {
        UpstreamApi::Responses => return Ok(()),
        api @ (UpstreamApi::Chat | UpstreamApi::Anthropic) => api,
    };
    Err(value.refused(format!(
        "{} speaks '{api}', in which no server keeps state; state = \"antiphon\" below \
         [[upstreams]] leaves one out",
        upstream.url
    )))
}

/// The stored part of items that upstreams own.
pub(super) fn ledger(values: &Values, upstreams: &[UpstreamSettings]) -> Result<Ledger, Failure> {
    let has_owner = upstreams.iter().any(|upstream| upstream.state == State::Upstream);
    match (values.parse(&catalog::LEDGER)?, values.first(&catalog::LEDGER)) {
        (_, Some(value)) if !has_owner => Err(value.refused(
            "Antiphon keeps all state itself, and so no ledger of what others keep; give --state \
             upstream, or state = \"upstream\" below [[upstreams]]",
        )),
        (ledger, _) => Ok(ledger.unwrap_or_default()),
    }
}

/// Rejects owners that cannot work.
pub(super) fn check(values: &Values, upstreams: &[UpstreamSettings]) -> Result<(), Failure> {
    has_an_owner(values, upstreams)?;
    one_account(upstreams)
}

/// Rejects `state = "upstream"` without an upstream: the built-in model `sim` stores nothing.
fn has_an_owner(values: &Values, upstreams: &[UpstreamSettings]) -> Result<(), Failure> {
    match (values.parse(&catalog::STATE)?, values.first(&catalog::STATE)) {
        (Some(State::Upstream), Some(value)) if upstreams.is_empty() => Err(value.refused(
            "there is no upstream to keep the state, and the built-in model 'sim' keeps none; \
             give --upstream URL",
        )),
        _ => Ok(()),
    }
}

/// Rejects different keys for one stateful upstream. Stored state refers to the upstream's URL and
/// to an id there. Neither identifies the account, so with two keys the gateway could ask the wrong
/// one.
fn one_account(upstreams: &[UpstreamSettings]) -> Result<(), Failure> {
    let base =
        |upstream: &UpstreamSettings| upstream.url.to_string().trim_end_matches('/').to_owned();
    let of_two = |owner: &&UpstreamSettings| {
        let at_one = upstreams.iter().filter(|other| base(other) == base(owner));
        owner.state == State::Upstream && at_one.into_iter().any(|other| other.key != owner.key)
    };
    match upstreams.iter().find(of_two) {
        Some(owner) => Err(Failure::usage(format!(
            "[[upstreams]]: {} keeps the state, and is given with different keys; the ids of what \
             it keeps do not say whose they are: give it one key everywhere",
            owner.url
        ))),
        None => Ok(()),
    }
}
