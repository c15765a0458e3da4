//! Upstreams that misbehave.

mod breaks;
mod errors;
mod failures;
mod identity;
mod own_key;
