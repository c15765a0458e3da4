//! Histories and streams of agents for the benchmarks, equal in every run.

mod history;
mod ledger;
mod stream;
mod upstream;
mod words;

pub(crate) use history::{KEY, Turn, agent_run, broken, list_of, sealed_run};
pub(crate) use stream::{Numbers, TextStream, convert, correct, encoded, relay};
pub(crate) use upstream::{AiSdk, Anthropic, Chat, Responses, Said, Upstream};
