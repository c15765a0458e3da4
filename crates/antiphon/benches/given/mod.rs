//! What the benchmarks run on: histories and streams as agents make them, the same every time.

mod history;
mod stream;
mod words;

pub(crate) use history::{KEY, Turn, agent_run, broken, list_of};
pub(crate) use stream::{Numbers, TextStream, relay};
