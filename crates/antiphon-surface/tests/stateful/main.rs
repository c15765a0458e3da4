//! A stateful client against a strict, stateful provider.

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
