//! Errors of invalid requests.

mod bounds;
mod bytes;
mod lookups;
mod order;
mod routes;
mod types;
mod unchanged_state;
