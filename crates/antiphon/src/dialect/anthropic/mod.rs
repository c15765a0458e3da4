mod client_request;
pub mod history;
mod request;
mod stream;
mod writer;

pub use client_request::decode_count_request;
pub(super) use client_request::decode_request;
pub(super) use client_request::faults::find_faults;
pub(super) use client_request::refusal::reword;
pub use request::DEFAULT_MAX_TOKENS;
pub(super) use request::encode;
pub(super) use stream::Stream;
pub(super) use writer::{AnthropicWriter, ToolIds, input_json, left_out};
