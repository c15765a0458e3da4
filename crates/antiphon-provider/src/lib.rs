//! A strict, stateful provider for tests: a server with OpenAI's Responses and Conversations APIs.
//!
//! It follows the provider's published and recorded behaviour alone and shares no code with the
//! programs under test, so the two can disagree.
//!
//! - Conversations, responses and items belong to an account, which is the bearer token. Ids are
//!   issued by the provider, and one account cannot see the objects of another.
//! - A turn's context is the items of its conversation or of its response chain, followed by its
//!   input. The provider validates the whole context and refuses it with OpenAI's error texts.
//! - A turn enters its conversation when it completes. If the caller disconnects earlier,
//!   [`OnAbort`] decides.
//! - Scripted answers come first. After them a model answers from its context alone
//!   ([`antiphon_testkit::recall`]), so a lost or duplicated turn shows in the answer.
//! - The log records every request with the model's input; [`Recorded::twice`] lists duplicates in
//!   that input.

mod account;
mod accounts;
mod background;
mod delivery;
mod duplicate;
mod ids;
mod log;
mod options;
mod page;
mod profile;
mod provider;
mod refusals;
mod request;
mod route_reply;
mod routes;
mod script;
mod turn;
mod world;

pub use duplicate::Twice;
pub use log::Recorded;
pub use options::{InputItems, OnAbort, Options, Rules};
pub use profile::Profile;
pub use provider::StrictProvider;
pub use script::Script;
