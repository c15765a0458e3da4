//! Limits for callers.

use std::num::{NonZeroU32, NonZeroU64};
use std::time::Duration;

with_defaults! {
    /// The limits on requests, connections and stored data. A request beyond a limit is rejected in
    /// the provider's form and has no effect.
    ///
    /// Ordinary use does not reach the defaults. An item may fill the body, and the agents of a
    /// single user may have ten thousand open turns. The idle time of a connection is longer than
    /// the minute of common load balancers, so that they close it first.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct Limits {
        /// The bytes of a request's body: status 413.
        pub max_body_bytes: usize = 32 << 20,
        /// The bytes of a request's header fields, names and values: status 431.
        pub max_header_bytes: usize = 64 << 10,
        /// The number of items in one request's input: status 400.
        pub max_items: usize = 100_000,
        /// The bytes of one item: status 400.
        pub max_item_bytes: usize = 32 << 20,
        /// The number of open turns of one tenant in this process: status 429.
        pub max_open_turns: usize = 10_000,
        /// The request rate of one tenant in this process: status 429. `None` means unlimited.
        pub rate: Option<Rate> = None,
        /// The number of open connections. Requests of further connections wait, except health
        /// checks.
        pub max_connections: usize = 20_000,
        /// The time for which a caller may read nothing of its answer. After that its connection is
        /// closed, and the caller counts as disconnected.
        pub client_timeout: Duration = Duration::from_mins(1),
        /// The time limit for the head of a request, and for an idle connection.
        pub header_timeout: Duration = Duration::from_secs(75),
        /// The time limit for the next 4096 bytes of a request's body, and, ten times as long, for
        /// the whole body: status 408.
        pub body_timeout: Duration = Duration::from_secs(30),
        /// The maximum age of a WebSocket. After that it accepts no more turns, and closes when its
        /// open turns have ended.
        pub max_websocket_age: Duration = Duration::from_hours(1),
        /// The amount of stored data of one tenant: status 403.
        pub tenant_quota: Quota = Quota::default(),
        /// The amount of stored data of one conversation: status 403.
        pub conversation_quota: Quota = Quota::default(),
    }
}

/// Limits on the stored live items. `None` means unlimited.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Quota {
    /// The number of items.
    pub max_items: Option<NonZeroU64>,
    /// The bytes of their JSON, if the store has it.
    pub max_bytes: Option<NonZeroU64>,
}

impl Quota {
    /// Whether there is any limit.
    pub(crate) fn is_set(&self) -> bool {
        self.max_items.is_some() || self.max_bytes.is_some()
    }
}

/// A rate limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate {
    /// The average number per second.
    pub per_second: NonZeroU32,
    /// The maximum number at once, after an idle time.
    pub burst: NonZeroU32,
}
