//! What stands beside a client, against a strict provider that keeps the state.

mod aborts;
mod background;
mod chains;
mod concurrent;
mod contact;
mod deliveries;
mod loops;
mod patience;
mod processes;
mod repairs;
mod replays;
mod retries;
mod state_errors;
mod stories;
mod world;
