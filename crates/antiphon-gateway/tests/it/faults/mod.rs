//! Upstreams that misbehave.

mod catalogue;
mod matrix;
mod outcome;
mod rejected_reasoning;
mod retries;
mod store;
mod table;
mod timeouts;

use std::time::Duration;

use antiphon::dialect::UpstreamApi;
use antiphon_gateway::settings::Retries;
use antiphon_mock::Api;

/// An API, as the gateway names it and as the upstream does.
type Dialect = (UpstreamApi, Api);

const RESPONSES: Dialect = (UpstreamApi::Responses, Api::Responses);
const CHAT: Dialect = (UpstreamApi::Chat, Api::Chat);
const ANTHROPIC: Dialect = (UpstreamApi::Anthropic, Api::Anthropic);
const APIS: [Dialect; 3] = [RESPONSES, CHAT, ANTHROPIC];

/// Retries that follow at once.
fn immediate_retries(max: u32) -> Retries {
    Retries { max, first_delay: Duration::ZERO, ..Retries::default() }
}

/// Retries that never follow within a test, unless an upstream requests a delay. The delay is
/// shorter than the default time limit of a turn with any jitter.
fn distant_retries(max: u32) -> Retries {
    let delay = Duration::from_mins(30);
    Retries { max, first_delay: delay, max_delay: delay, ..Retries::default() }
}
