//! Every owner of the state, against the strict provider: it refuses what OpenAI refuses, and finds
//! duplicates in the input of the model.

#![allow(clippy::unwrap_used, reason = "a world that cannot be set up fails the test")]

mod agents;
mod compactions;
mod extent;
mod interrupted_compactions;
mod interruptions;
mod journals;
mod kills;
mod matrix;
mod memory_server;
mod points;
mod reports;
mod scenario;
mod states;
mod stopped_states;
mod trees;
mod verdict;
mod versions;
mod worker;
mod world;
