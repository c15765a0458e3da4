//! What the gateway refuses, and how.

mod bounds;
mod bytes;
mod lookups;
mod order;
mod routes;
mod types;
mod unchanged_state;
