//! A provider that keeps state, and is strict about it: OpenAI's Responses and Conversations as a
//! server of its own, for the tests of whatever talks to one.
//!
//! It is written from the provider's published and recorded behaviour alone, and shares no code
//! with what is tested against it, so that the two can disagree.
//!
//! - Conversations, responses and items are kept per account, which is the bearer token, under the
//!   provider's own ids. What another account has does not exist.
//! - A turn's context is what its conversation or its chain of responses holds, and then its input.
//!   It is judged as a whole, and refused in the provider's words.
//! - A turn enters the conversation when it is completed, or, if its caller leaves, as
//!   [`OnAbort`] says.
//! - Scripted answers come first; then a model answers that knows only its context
//!   ([`antiphon_testkit::recall`]), so a lost or a doubled turn shows.
//! - All requests are kept with what the model was given: [`Recorded::twice`] tells what it was
//!   given more than once.

mod account;
mod answered;
mod background;
mod ids;
mod log;
mod options;
mod page;
mod profile;
mod provider;
mod refusals;
mod request;
mod routes;
mod script;
mod turn;
mod twice;
mod world;

pub use log::Recorded;
pub use options::{InputItems, OnAbort, Options, Rules};
pub use profile::Profile;
pub use provider::StrictProvider;
pub use script::Script;
pub use twice::Twice;
