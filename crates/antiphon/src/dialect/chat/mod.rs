//! Chat Completions, as OpenAI, vLLM, SGLang, Ollama, llama.cpp, Azure, DeepSeek and others serve
//! it.
//!
//! Sources: OpenAI's reference of the Chat Completions API, and the documentation of servers that
//! differ from it.

mod client_request;
mod fields;
pub mod history;
mod request;
mod sealed_details;
mod stream;
mod writer;

pub(super) use client_request::decode_request;
pub(super) use client_request::faults::find_faults;
pub(super) use client_request::refusal::reword;
pub(super) use request::encode;
pub use request::with_placeholder_reasoning;
pub(super) use stream::Stream;
pub(super) use writer::{ChatWriter, left_out};
