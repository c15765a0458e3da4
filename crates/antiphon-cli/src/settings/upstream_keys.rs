//! The upstreams of the file.
//!
//! ```toml
//! [[upstreams]]
//! name = "claude"
//! models = ["claude-*"]
//! api = "anthropic"
//! url = "https://api.anthropic.com/v1"
//! key-env = "ANTHROPIC_API_KEY"
//! connect-timeout = 10
//! first-byte-timeout = 600
//! idle-timeout = 600
//! total-timeout = 3600
//! max-retries = 2
//! max-open-requests = 100
//! context-window = 200000
//! ```
//!
//! An upstream with the Responses API may own the state: see [`super::state`].
//!
//! Times are in seconds. They limit the time to open a connection, to receive the first byte,
//! between two bytes, and for the whole answer including retries. The gateway sends a failed
//! request up to `max-retries` more times, and only if the upstream has not begun its answer.
//!
//! `context-window` is the number of tokens that the models accept, input and output together. With
//! it, the gateway checks the input first: a too long input is rejected, or truncated if the
//! request allows it.
//!
//! The first upstream in the file whose `models` match the requested model serves it. `models` and
//! `url` are required. Without `key` or `key-env`, callers' own tokens are forwarded.
//!
//! The upstream of `--upstream` has the values above, but no bound for `max-open-requests` and
//! `context-window`. To change these values, declare it in the file with `models = ["*"]`.

use std::time::Duration;

use antiphon::dialect::UpstreamApi;
use antiphon_gateway::settings::{ModelPattern, Preset, Secret, State};

use super::declaration::{
    BOOLEAN, COUNT, COUNT_OR_ZERO, Declaration, Form, NON_EMPTY_LIST, Setting, TEXT, settings,
};
use super::parse;
use super::table::TableForm;
use super::values::Value;
use crate::failure::Failure;

settings! { KEYS:
    NAME: String = Setting::new("name", TEXT, name);
    MODELS: ModelPattern = Setting::new("models", MODEL_NAMES, model);
    API: UpstreamApi = Setting::new("api", TEXT, parse::upstream_api);
    URL: String = Setting::new("url", TEXT, parse::text);
    KEY: Secret = Setting::new("key", TEXT, parse::upstream_key);
    KEY_ENV: String = Setting::new("key-env", TEXT, parse::text);
    CONNECT_TIMEOUT: Duration = Setting::new("connect-timeout", COUNT, parse::seconds);
    FIRST_BYTE_TIMEOUT: Duration = Setting::new("first-byte-timeout", COUNT, parse::seconds);
    IDLE_TIMEOUT: Duration = Setting::new("idle-timeout", COUNT, parse::seconds);
    TOTAL_TIMEOUT: Duration = Setting::new("total-timeout", COUNT, parse::seconds);
    MAX_RETRIES: u32 = Setting::new("max-retries", COUNT_OR_ZERO, parse::count);
    MAX_OPEN_REQUESTS: usize = Setting::new("max-open-requests", COUNT, parse::size);
    CONTEXT_WINDOW: u32 = Setting::new("context-window", COUNT, parse::count);
    STATE: State = Setting::new("state", TEXT, parse::state);
    PRESET: Preset = Setting::new("preset", TEXT, parse::preset);
    CONVERSATIONS: bool = Setting::new("conversations", BOOLEAN, parse::boolean);
    CHAINS: bool = Setting::new("chains", BOOLEAN, parse::boolean);
    ITEM_DELETION: bool = Setting::new("item-deletion", BOOLEAN, parse::boolean);
    INPUT_ITEMS: bool = Setting::new("input-items", BOOLEAN, parse::boolean);
}

pub(super) static UPSTREAM: TableForm =
    TableForm { plural: "upstreams", one: "an upstream", keys: KEYS };

const MODEL_NAMES: (Form, &str) =
    (NON_EMPTY_LIST, "a list of names, in which * stands for any characters");

/// Parses the name. It appears in answers to callers, so it must not be a URL.
fn name(value: &Value) -> Result<String, Failure> {
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    let name = value.text();
    match (1..=64).contains(&name.len()) && name.bytes().all(is_allowed) {
        true => Ok(name.to_owned()),
        false => Err(value.refused_as("must have 1 to 64 letters, digits, '.', '_' and '-'")),
    }
}

fn model(value: &Value) -> Result<ModelPattern, Failure> {
    let name = value.untrimmed();
    match name.is_empty() || name.trim() != name {
        true => Err(value.refused_here(format!(
            "no model's name is '{name}': it is empty or has blanks around"
        ))),
        false => Ok(ModelPattern::new(name)),
    }
}
