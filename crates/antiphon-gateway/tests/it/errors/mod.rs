//! Errors of invalid requests.

mod bounds;
mod bytes;
mod links;
mod lookups;
mod order;
mod routes;
mod types;
mod unchanged_state;
