//! A gateway for all clients of the OpenAI Responses API.
//!
//! It stores conversations and responses in a [`Store`](antiphon_store::Store), sends the full
//! context to an upstream with every request, and returns one well-formed stream of events to its
//! caller. The [`antiphon`] crate finds the new items of a request, and the items that a provider
//! would reject.

mod auth;
mod background;
mod browser;
mod caller;
mod changes;
mod chunks;
mod compaction;
mod connections;
mod context;
pub mod date_time;
pub mod entropy;
mod error;
pub mod export;
pub mod fault_pages;
mod foreign_path;
mod gateway;
mod id_mapping;
pub mod import;
pub mod inspect;
mod item_json;
mod jobs;
mod lane;
mod lease;
mod limits;
mod media_type;
mod metrics;
mod open_turns;
mod otlp;
mod owner;
mod refused_turns;
mod request;
mod request_body;
mod request_id;
mod retry;
mod routes;
mod seal;
mod secret;
mod server;
pub mod settings;
mod span;
mod store_health;
mod tokens;
mod trace;
mod turn;
mod upstream;
mod watcher;
mod watches;
mod webhooks;
mod websocket;

pub use auth::{check_secrets, is_reserved, tenant_flaw, tenant_of_token};
pub use server::{Server, serve};
pub use upstream::{ModelList, StreamedAnswer, UpstreamClient};

/// The name of the gateway in its own requests.
pub(crate) const USER_AGENT: &str = concat!("antiphon/", env!("CARGO_PKG_VERSION"));
