//! Upstreams that misbehave.

mod breaks;
mod deviations;
mod errors;
mod failures;
mod identity;
mod own_key;
