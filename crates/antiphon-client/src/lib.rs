//! An async client of model servers that keeps the state of conversations correct.
//!
//! A [`Client`] sends requests to a server of the Responses API (OpenAI, the gateway and others),
//! of Chat Completions or of Anthropic's Messages. Requests, answers and items have the form of the
//! Responses API for all of them. For a server that stores conversations, the client leaves out the
//! items that the server has, and repairs items that it would refuse.
//!
//! ```
//! use antiphon_client::{Client, EventKind, Request};
//! use antiphon_mock::{Answer, StrictProvider};
//!
//! # tokio::runtime::Runtime::new()?.block_on(async {
//! let provider = StrictProvider::start().await;
//! provider.script(Answer::new("m").message("Hello."));
//! let client = Client::new(provider.base_url()).with_key("sk-1");
//! let conversation = client.conversations().create(&[]).await.unwrap();
//!
//! let request = Request::new("m").text("Hi").conversation(conversation.as_str());
//! let mut answer = client.respond(request).await.unwrap();
//! let mut text = String::new();
//! while let Some(event) = answer.next().await {
//!     if let EventKind::TextDelta(_, delta) = event.unwrap().into_kind() {
//!         text += &delta;
//!     }
//! }
//! assert_eq!(text, "Hello.");
//! # });
//! # Ok::<(), std::io::Error>(())
//! ```

mod answer;
mod client;
mod connection;
mod error;
mod ids;
mod origin;
mod reader;
mod rejection;
mod request;
mod secret;
mod stateless;
mod timeouts;
mod turn;

pub use antiphon::dialect::{Omission, UpstreamApi};
pub use antiphon::faults::StateError;
pub use antiphon::provider_api::StoredResponse;
pub use antiphon::stateful::Report;
pub use antiphon::stream::Usage;

pub use answer::{Answer, AnswerEvent, AnswerStatus, Answered, EventKind, TextPlace, text_of};
pub use client::{Client, Conversations, Responses};
#[doc(hidden)]
pub use connection::{HttpsClient, https_client};
pub use error::{Error, ErrorKind};
pub use rejection::Rejection;
pub use request::Request;
pub use secret::Secret;
pub use timeouts::Timeouts;
