//! How much callers may take of a gateway.

use std::num::{NonZeroU32, NonZeroU64};
use std::time::Duration;

/// The bounds on what callers send, hold open and ask for. A caller that goes beyond one is refused
/// in the provider's form; nothing of its request is then done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The bytes of a request's body: status 413.
    pub max_body_bytes: usize,
    /// The bytes of a request's header fields, names and values: status 431.
    pub max_header_bytes: usize,
    /// How many items one request's input may have: status 400.
    pub max_items: usize,
    /// The bytes of one item: status 400.
    pub max_item_bytes: usize,
    /// How many turns of one tenant may be open at once, in this process: status 429.
    pub max_open_turns: usize,
    /// How often one tenant may ask this process: status 429. `None`: as often as it likes.
    pub rate: Option<Rate>,
    /// How many connections may be open. Requests of further ones wait, but for health checks.
    pub max_connections: usize,
    /// How long a caller may take nothing of its answer. Then its connection is closed, and it counts
    /// as a caller that has left.
    pub client_timeout: Duration,
    /// How long the head of a request may take, and how long a connection may be kept without one.
    pub header_timeout: Duration,
    /// How long the next 4096 bytes of a request's body may take, the whole body ten times as long:
    /// status 408.
    pub body_timeout: Duration,
    /// How long a WebSocket may stay open. Then it takes no more turns, and closes once those that
    /// are open have ended.
    pub max_websocket_age: Duration,
    /// How much one tenant may have stored: status 403.
    pub tenant_quota: Quota,
    /// How much one conversation may have stored: status 403.
    pub conversation_quota: Quota,
}

/// How many live items may be stored, and how many bytes of them. `None`: any number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Quota {
    /// The items.
    pub max_items: Option<NonZeroU64>,
    /// The bytes of their JSON, if the store has it.
    pub max_bytes: Option<NonZeroU64>,
}

impl Quota {
    /// Whether it bounds anything.
    pub(crate) fn is_set(&self) -> bool {
        self.max_items.is_some() || self.max_bytes.is_some()
    }
}

/// How often something may be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate {
    /// How often in a second, in the long run.
    pub per_second: NonZeroU32,
    /// How often at once, after a time of rest.
    pub burst: NonZeroU32,
}

impl Default for Limits {
    /// Bounds that ordinary use does not meet: an item may fill the body; a single user's agents may
    /// hold ten thousand turns open. A connection is kept for longer than the minute for which load
    /// balancers keep theirs, so that it is they who close it.
    fn default() -> Self {
        Self {
            max_body_bytes: 32 << 20,
            max_header_bytes: 64 << 10,
            max_items: 100_000,
            max_item_bytes: 32 << 20,
            max_open_turns: 10_000,
            rate: None,
            max_connections: 20_000,
            client_timeout: Duration::from_mins(1),
            header_timeout: Duration::from_secs(75),
            body_timeout: Duration::from_secs(30),
            max_websocket_age: Duration::from_hours(1),
            tenant_quota: Quota::default(),
            conversation_quota: Quota::default(),
        }
    }
}
