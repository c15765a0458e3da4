//! A strict fake upstream. It serves `POST /v1/responses` as a stateless provider does,
//! `POST /v1/chat/completions` as OpenAI and `DeepSeek` do, and Anthropic's `POST /v1/messages`.
//!
//! - [`judge`]: decides whether a provider would accept a request, with the provider's error text
//!   if not. It follows the provider's published and recorded behaviour alone and shares no code
//!   with the gateway, so the two can disagree.
//! - [`stream`]: builds complete answers, event by event, in the form of each [`Api`].
//! - [`FakeUpstream`]: an HTTP server that records every request with its verdict and plays
//!   scripted replies. The test controls every chunk boundary.
//! - [`serve`], [`deliver`], [`Reply`], [`Exchange`]: parts of that server, for other providers.
//! - [`recall`]: the model that answers if nothing is scripted. It knows only its input, so a lost
//!   turn shows in its answer.
//! - [`process`]: a gateway as a separate process, whose memory can be measured.
//! - [`postgres`]: a real PostgreSQL server that creates empty databases for tests.

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
