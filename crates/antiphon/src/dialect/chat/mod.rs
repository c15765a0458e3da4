//! Chat Completions, as OpenAI, vLLM, SGLang, Ollama, llama.cpp, Azure, DeepSeek and others serve
//! it.
//!
//! Sources: OpenAI's reference of the Chat Completions API, and the documentation of servers that
//! differ from it.

mod fields;
pub mod history;
mod request;
mod stream;

pub(super) use request::encode;
pub use request::with_placeholder_reasoning;
pub(super) use stream::Stream;
