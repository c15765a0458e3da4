//! The gateway from outside: real requests over real connections, a store in a file, and a strict
//! upstream that judges what it is sent.

mod background;
mod browser;
mod chat;
mod client_apis;
mod clients;
mod compact;
mod compliance;
mod concurrency;
mod context;
mod dialects;
mod disconnects;
mod encrypted;
mod errors;
mod faults;
mod gemini;
mod id_scopes;
mod inspection;
mod limits;
mod messages;
mod metrics;
mod otlp_metrics;
mod passthrough;
mod quotas;
mod references;
mod repairs;
mod replicas;
mod request_ids;
mod retries;
mod semantics;
mod serving;
mod state;
mod streams;
mod support;
mod tenants;
mod tokens;
mod traces;
mod turns;
mod upstream;
mod upstream_state;
mod webhooks;
mod websocket;

/// The kind of store that the gateways use. unless a test says otherwise.
const STORE_KIND: support::StoreKind = support::StoreKind::File;
