//! Upstreams that misbehave.

mod broken_streams;
mod deviations;
mod errors;
mod failures;
mod identity;
mod own_key;
mod tls;
