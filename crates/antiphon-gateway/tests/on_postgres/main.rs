//! Repeats the tests of a gateway with a file store for a gateway with a PostgreSQL database:
//! the tests are the same.

#![allow(dead_code, unused_imports)] // Some of the world is for the tests that are not repeated.

#[path = "../it/background/mod.rs"]
mod background;
#[path = "../it/compact/mod.rs"]
mod compact;
#[path = "../it/concurrency.rs"]
mod concurrency;
#[path = "../it/context/mod.rs"]
mod context;
#[path = "../it/disconnects/mod.rs"]
mod disconnects;
#[path = "../it/quotas/mod.rs"]
mod quotas;
#[path = "../it/serving/restart.rs"]
mod restart;
#[path = "../it/retries/mod.rs"]
mod retries;
#[path = "../it/state/mod.rs"]
mod state;
#[path = "../it/serving/stop.rs"]
mod stop;
#[path = "../it/streams/mod.rs"]
mod streams;
#[path = "../it/support/mod.rs"]
mod support;
#[path = "../it/upstream_state/mod.rs"]
mod upstream_state;

/// The kind of store that the gateways use.
const STORE_KIND: support::StoreKind = support::StoreKind::Database;
