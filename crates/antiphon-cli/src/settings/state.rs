//! Who keeps the state of what is begun with an upstream's models.
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
//! What stands below `[[upstreams]]` is that upstream's alone, and wins. Its `preset` names a kind of
//! server, which `conversations`, `chains`, `item-deletion` and `input-items` change one by one; all
//! four together need no preset. Where none of them is given, what the server can do is known by its
//! host or found out.

use antiphon::dialect::Dialect;
use antiphon_gateway::settings::{Capabilities, Ledger, Preset, State, UpstreamSettings};

use super::layer::{Layers, Said};
use super::parse;
use super::setting::Setting;
use super::table::Table;
use crate::failure::Failure;

/// The keys of an upstream's table that say what it can do.
const CAPABILITIES: [&str; 5] =
    ["preset", "conversations", "chains", "item-deletion", "input-items"];

/// What the table of an upstream says of its state.
#[derive(Default)]
pub(super) struct FromTable {
    state: Option<Said>,
    capabilities: Option<Capabilities>,
    /// The refusal of the first capability, where the upstream turns out to keep no state.
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

    /// Has the upstream keep its state, or not. `everywhere`: what is said of every upstream that
    /// says nothing itself.
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

/// Conversations and responses are the Responses API's: servers of the other APIs keep nothing.
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

/// What the preset says, but for what the table says itself. `first`: the first key that it has.
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

/// What is said of every upstream that says nothing itself.
pub(super) fn everywhere(layers: &Layers) -> Option<&Said> {
    layers.all(Setting::State).first()
}

/// What is kept of what upstreams keep.
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

/// `sim` stores nothing.
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

/// What is kept is known by the upstream's URL and its id there, which says nothing of the account: under
/// two keys it would be asked of the wrong one.
pub(super) fn one_account(upstreams: &[UpstreamSettings]) -> Result<(), Failure> {
    let base =
        |upstream: &UpstreamSettings| upstream.url.to_string().trim_end_matches('/').to_owned();
    let of_two = |keeper: &&UpstreamSettings| {
        let at_one = upstreams.iter().filter(|other| base(other) == base(keeper));
        keeper.state == State::Upstream && at_one.into_iter().any(|other| other.key != keeper.key)
    };
    match upstreams.iter().find(of_two) {
        Some(keeper) => Err(Failure::usage(format!(
            "[[upstreams]]: {} keeps the state, and is given with different keys; the ids of what it \
             keeps do not say whose they are: give it one key everywhere",
            keeper.url
        ))),
        None => Ok(()),
    }
}
