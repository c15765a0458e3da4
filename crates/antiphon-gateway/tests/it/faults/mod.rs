//! Upstreams that misbehave.

mod catalogue;
mod matrix;
mod outcome;
mod patience;
mod refused_reasoning;
mod retried;
mod store;
mod table;

use std::time::Duration;

use antiphon::dialect::UpstreamApi;
use antiphon_gateway::settings::Retries;
use antiphon_mock::Api;

/// An API, as the gateway names it and as the upstream does.
type Spoken = (UpstreamApi, Api);

const RESPONSES: Spoken = (UpstreamApi::Responses, Api::Responses);
const CHAT: Spoken = (UpstreamApi::Chat, Api::Chat);
const ANTHROPIC: Spoken = (UpstreamApi::Anthropic, Api::Anthropic);
const APIS: [Spoken; 3] = [RESPONSES, CHAT, ANTHROPIC];

/// Retries that follow at once.
fn at_once(max: u32) -> Retries {
    Retries { max, first_delay: Duration::ZERO, ..Retries::default() }
}

/// Retries that never follow within a test, unless an upstream requests a delay. The delay is
/// shorter than the default time limit of a turn with any jitter.
fn much_later(max: u32) -> Retries {
    let delay = Duration::from_mins(30);
    Retries { max, first_delay: delay, max_delay: delay, ..Retries::default() }
}
