//! Chat Completions, as OpenAI, vLLM, SGLang, Ollama, llama.cpp, Azure, DeepSeek and others serve it.
//!
//! Facts are taken from OpenAI's reference of the Chat Completions API and, where servers differ,
//! from what those name as accepted in their own documentation.

mod fields;
pub mod history;
mod request;
mod stream;

pub(super) use request::encode;
pub use request::with_reasoning_stood_in;
pub(super) use stream::Stream;
