#![doc = include_str!("../README.md")]
//!
//! # Behavior
//!
//! [`StrictProvider`] is an HTTP server on a port of its own. It follows the provider's published
//! and recorded behavior alone and shares no code with the programs under test, so the two can
//! disagree.
//!
//! - Conversations, responses and items belong to an account, which is the bearer token. Ids are
//!   issued by the provider, and one account cannot see the objects of another.
//! - A turn's context is the items of its conversation or of its response chain, followed by its
//!   input. The provider validates the whole context and refuses it with OpenAI's error texts.
//! - A turn enters its conversation when it completes. If the caller disconnects earlier,
//!   [`OnAbort`] decides.
//! - Scripted answers come first. After them a model answers from its context alone
//!   ([`default_model`]), so a lost or duplicated turn shows in the answer.
//! - The log records every request with the model's input; [`Recorded::duplicates`] lists
//!   duplicates in that input.
//!
//! # Parts
//!
//! Other test servers can use the parts of the provider:
//!
//! - [`judge`]: decides whether a provider would accept a request, with the provider's error text
//!   if not. Each [`Api`] has its own judge.
//! - [`Answer`]: builds a complete answer, event by event, in the form of each [`Api`].
//! - [`Reply`], [`Exchange`], [`deliver`], [`serve`]: send a reply with control over every chunk
//!   boundary, and report its delivery.
//!
//! ```
//! use antiphon_mock::StrictProvider;
//!
//! # tokio::runtime::Runtime::new()?.block_on(async {
//! let provider = StrictProvider::start().await;
//! assert!(provider.base_url().starts_with("http://127.0.0.1:"));
//! # });
//! # Ok::<(), std::io::Error>(())
//! ```

mod account;
mod api;
mod background;
pub mod default_model;
mod delivery;
pub mod digest;
mod duplicate;
mod ids;
pub mod judge;
mod log;
mod options;
mod page;
mod profile;
mod provider;
mod refusal;
mod request;
mod route_reply;
mod routes;
mod script;
mod seal;
mod stream;
mod turn;
mod turn_delivery;
mod world;

pub use api::Api;
pub use delivery::{Exchange, Hold, Outcome, Reply, Witness, deliver, serve, serve_each};
pub use duplicate::Duplicate;
pub use log::Recorded;
pub use options::{InputItems, OnAbort, Options, Rules};
pub use profile::Profile;
pub use provider::{StrictProvider, Unbound};
pub use refusal::Refusal;
pub use script::Script;
pub use seal::{encrypted_content, redacted_thinking, thinking_signature};
pub use stream::{Answer, AnthropicAnswer, ChatAnswer, Frame, Split};
