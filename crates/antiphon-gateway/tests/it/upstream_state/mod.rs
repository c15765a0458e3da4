//! Gateways whose upstream keeps the state: what reaches it, what it holds, and what callers are told.

mod abort;
mod ai_sdk;
mod chains;
mod conversations;
mod crash;
mod faults;
mod lanes;
mod langchain;
mod locked;
mod passing;
mod repairs;
mod replays;
mod world;
