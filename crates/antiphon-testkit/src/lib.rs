//! A strict fake upstream: `POST /v1/responses` as a stateless provider would serve it,
//! `POST /v1/chat/completions` as OpenAI and `DeepSeek` do, and Anthropic's `POST /v1/messages`.
//!
//! - [`judge`]: whether a provider would accept a request, and its own error text if not. It is
//!   written from the provider's published and recorded behaviour alone and shares no code with
//!   the gateway, so that the two can disagree.
//! - [`stream`]: a builder of whole answers, event by event, in the form of each [`Api`].
//! - [`FakeUpstream`]: an HTTP server that records every request with its verdict and plays
//!   scripted replies, with every chunk boundary under the test's control.
//! - [`serve`], [`deliver`], [`Reply`], [`Exchange`]: the machinery below, for other providers.
//! - [`recall`]: the model that answers when nothing is scripted. It knows only what the input
//!   holds, so a lost turn shows in its answer.
//! - [`process`]: a gateway as a process of its own, whose memory can be measured.
//! - [`postgres`]: a real PostgreSQL server, with as many empty databases as tests want.

mod api;
pub mod digest;
pub mod judge;
pub mod postgres;
pub mod process;
pub mod recall;
mod refusal;
mod seal;
pub mod stream;
mod upstream;

pub use api::Api;
pub use refusal::Refusal;
pub use seal::{encrypted_content, redacted_thinking, thinking_signature};
pub use stream::{Answer, AnthropicAnswer, ChatAnswer, Frame, Split};
pub use upstream::{
    Exchange, FakeUpstream, Hold, Outcome, Recorded, Reply, Witness, deliver, serve,
};
