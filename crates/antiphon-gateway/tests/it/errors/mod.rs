//! What the gateway refuses, and how.

mod bounds;
mod bytes;
mod lookups;
mod order;
mod routes;
mod traces;
mod types;
