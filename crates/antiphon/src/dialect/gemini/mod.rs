//! Google's Gemini API, as its SDKs and Gemini CLI use it. Only clients speak it: no upstream has
//! this API.
//!
//! Source: Google's reference of `generateContent`, and its documentation of function calling, of
//! thinking and of thought signatures.

mod client_request;
mod signature;
mod writer;

pub use client_request::decode_count_request;
pub(super) use client_request::{decode_request, reword};
pub use writer::Rejection;
pub(super) use writer::{GeminiWriter, left_out};
