//! PostgreSQL keeps the laws of a store.

#![allow(clippy::unwrap_used)] // Outside of `#[test]` functions too, everything here is a test.

mod conformance;
mod postgres_cases;
