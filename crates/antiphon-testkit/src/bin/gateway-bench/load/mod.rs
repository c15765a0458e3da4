//! Loads: turns of many dialogues at once.

mod closed;
mod latencies;
mod open;
mod work;

pub(crate) use self::closed::{closed, closed_requests};
pub(crate) use self::latencies::Latencies;
pub(crate) use self::open::open;
pub(crate) use self::work::Work;
