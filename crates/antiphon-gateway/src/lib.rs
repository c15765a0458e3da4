//! A gateway for all clients of the OpenAI Responses API.
//!
//! It stores conversations and responses in a [`Store`](antiphon_store::Store), sends the full
//! context to an upstream with every request, and returns one well-formed stream of events to its
//! caller. The [`antiphon`] crate finds the new items of a request, and the items that a provider
//! would reject.

mod alias;
mod auth;
mod background;
mod bound;
mod browser;
mod caller;
mod chunks;
mod compacted_prefix;
mod compaction;
mod connections;
mod data_url;
pub mod entropy;
mod error;
pub mod export;
mod foreign_path;
mod gateway;
mod jobs;
mod lane;
mod lease;
mod limits;
mod media_type;
mod open_turns;
mod owner;
mod present;
mod readiness;
mod request;
mod request_body;
mod request_id;
mod retention;
mod retry_headers;
mod retry_in_background;
mod retry_policy;
mod routes;
mod secret;
mod server;
pub mod settings;
mod store_attempts;
mod tokens;
mod trace;
mod turn;
mod upstream;
mod watcher;
mod watches;
mod webhooks;
mod websocket;
mod write_check;

pub use auth::{check_secrets, is_reserved, tenant_flaw, tenant_of_token};
pub use server::{Server, serve};
