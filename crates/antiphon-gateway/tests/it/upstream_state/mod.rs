//! Gateways whose upstream keeps the state: what reaches it, what it holds, and what callers are
//! told.

mod abort;
mod ai_sdk;
mod blocking_items;
mod capabilities;
mod chains;
mod client_retries;
mod conversations;
mod crash;
mod detection;
mod faults;
mod forwarding;
mod lanes;
mod langchain;
mod late;
mod late_binding;
mod late_binding_callers;
mod locked;
mod lost_responses;
mod missing_routes;
mod quotas;
mod repairs;
mod repeated_requests;
mod replays;
mod replicas;
mod routes_background;
mod routes_ledgers;
mod routes_owner;
mod routes_unchanged;
mod state_errors;
mod watches;
mod windows;
pub(crate) mod world;
