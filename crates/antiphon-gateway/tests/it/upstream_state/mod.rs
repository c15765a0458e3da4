//! Gateways whose upstream keeps the state: what reaches it, what it holds, and what callers are
//! told.

mod abort;
mod ai_sdk;
mod capabilities;
mod chains;
mod client_retries;
mod conversations;
mod crash;
mod faults;
mod found_out;
mod lanes;
mod langchain;
mod late;
mod late_binding;
mod late_binding_callers;
mod locked;
mod lost;
mod made_again;
mod missing_routes;
mod passing;
mod quotas;
mod repairs;
mod replays;
mod replicas;
mod routes_background;
mod routes_ledgers;
mod routes_owner;
mod routes_unchanged;
mod state_errors;
mod stuck;
mod watched;
mod windows;
pub(crate) mod world;
