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

use antiphon::dialect::Dialect;
use antiphon_gateway::settings::{Capabilities, Ledger, Preset, State, UpstreamSettings};

use super::layer::{Layers, Said};
use super::parse;
use super::setting::Setting;
use super::table::Table;
use crate::failure::Failure;

/// The keys of an upstream's table that declare its capabilities.
const CAPABILITIES: [&str; 5] =
    ["preset", "conversations", "chains", "item-deletion", "input-items"];

/// The settings of an upstream's table that concern its state.
#[derive(Default)]
pub(super) struct FromTable {
    state: Option<Said>,
    capabilities: Option<Capabilities>,
    /// The error for the first capability key, in case the upstream does not own state.
    idle: Option<Failure>,
}

impl FromTable {
    pub(super) fn of(table: &Table<'_>) -> Result<Self, Failure> {
        let said = CAPABILITIES.into_iter().find(|key| table.has(key));
        let idle = said.map(|key| {
            let sentence = "says what an upstream can do that keeps the state; this one keeps \
                            none without state = \"upstream\"";
            table.refused_at(key, &format!("{key} {sentence}"))
        });
        let capabilities = said.map(|key| capabilities(table, key)).transpose()?;
        Ok(Self { state: table.text("state")?, capabilities, idle })
    }

    /// Sets the owner of the upstream's state. `everywhere` is the default for upstreams without a
    /// `state` key.
    pub(super) fn settle(
        self,
        everywhere: Option<&Said>,
        upstream: &mut UpstreamSettings,
    ) -> Result<(), Failure> {
        let Self { state, capabilities, idle } = self;
        let said = state.as_ref().or(everywhere);
        upstream.state = said.map(parse::state).transpose()?.unwrap_or_default();
        upstream.capabilities = capabilities;
        match (upstream.state, idle, said) {
            (State::Here, Some(idle), _) => Err(idle),
            (State::Upstream, _, Some(said)) => speaks_responses(upstream, said),
            _ => Ok(()),
        }
    }
}

/// Rejects an upstream-owned state for other APIs: only the Responses API has conversations and
/// stored responses.
fn speaks_responses(upstream: &UpstreamSettings, said: &Said) -> Result<(), Failure> {
    let api = match upstream.api {
        Dialect::Responses => return Ok(()),
        Dialect::Chat => "chat",
        Dialect::Anthropic => "anthropic",
        Dialect::AiSdk => "ai-sdk",
    };
    Err(said.refused(format!(
        "{} speaks '{api}', in which no server keeps state; state = \"antiphon\" below \
         [[upstreams]] leaves one out",
        upstream.url
    )))
}

/// The capabilities of the preset, with the overrides of the table. `first` is the first capability
/// key in the table.
fn capabilities(table: &Table<'_>, first: &str) -> Result<Capabilities, Failure> {
    let preset = table.text("preset")?.map(|said| parse::preset(&said)).transpose()?;
    let preset = preset.map(Preset::capabilities);
    let one = |key: &'static str, of_preset: fn(Capabilities) -> bool| {
        let said = table.boolean(key)?.or(preset.map(of_preset));
        said.ok_or_else(|| {
            let sentence = format!(
                "{first} needs a preset beside it, which says the rest: \"openai\", \"azure\" or \
                 \"open-responses\""
            );
            table.refused_at(first, &sentence)
        })
    };
    Ok(Capabilities {
        conversations: one("conversations", |can| can.conversations)?,
        chains: one("chains", |can| can.chains)?,
        item_deletion: one("item-deletion", |can| can.item_deletion)?,
        input_items: one("input-items", |can| can.input_items)?,
    })
}

/// The `state` setting that applies to every upstream without its own.
pub(super) fn everywhere(layers: &Layers) -> Option<&Said> {
    layers.all(Setting::State).first()
}

/// The stored part of items that upstreams own.
pub(super) fn ledger(layers: &Layers, upstreams: &[UpstreamSettings]) -> Result<Ledger, Failure> {
    let is_kept = upstreams.iter().any(|upstream| upstream.state == State::Upstream);
    let ledger = layers.one(Setting::Ledger, |said| match parse::ledger(said)? {
        _ if !is_kept => Err(said.refused(
            "Antiphon keeps all state itself, and so no ledger of what others keep; give --state \
             upstream, or state = \"upstream\" below [[upstreams]]",
        )),
        ledger => Ok(ledger),
    })?;
    Ok(ledger.unwrap_or_default())
}

/// Rejects `state = "upstream"` without an upstream: the built-in model `sim` stores nothing.
pub(super) fn has_a_keeper(
    everywhere: Option<&Said>,
    upstreams: &[UpstreamSettings],
) -> Result<(), Failure> {
    let Some(said) = everywhere else { return Ok(()) };
    match parse::state(said)? {
        State::Upstream if upstreams.is_empty() => Err(said.refused(
            "there is no upstream to keep the state, and the built-in model 'sim' keeps none; \
             give --upstream URL",
        )),
        _ => Ok(()),
    }
}

/// Rejects different keys for one stateful upstream. Stored state refers to the upstream's URL and
/// to an id there. Neither identifies the account, so with two keys the gateway could ask the wrong
/// one.
pub(super) fn one_account(upstreams: &[UpstreamSettings]) -> Result<(), Failure> {
    let base =
        |upstream: &UpstreamSettings| upstream.url.to_string().trim_end_matches('/').to_owned();
    let of_two = |owner: &&UpstreamSettings| {
        let at_one = upstreams.iter().filter(|other| base(other) == base(owner));
        owner.state == State::Upstream && at_one.into_iter().any(|other| other.key != owner.key)
    };
    match upstreams.iter().find(of_two) {
        Some(owner) => Err(Failure::usage(format!(
            "[[upstreams]]: {} keeps the state, and is given with different keys; the ids of what it \
             keeps do not say whose they are: give it one key everywhere",
            owner.url
        ))),
        None => Ok(()),
    }
}
