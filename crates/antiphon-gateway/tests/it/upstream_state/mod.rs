//! Gateways whose upstream keeps the state: what reaches it, what it holds, and what callers are told.

mod abort;
mod ai_sdk;
mod capabilities;
mod chains;
mod conversations;
mod crash;
mod langchain;
mod passing;
mod repairs;
mod replays;
mod world;
