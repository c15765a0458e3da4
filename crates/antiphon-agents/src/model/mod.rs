//! Models: the servers that answer an agent's requests, and models for tests.
//!
//! A [`Backend`] answers requests; a [`Model`] is its handle with the name of a model. Items are
//! those of the Responses API, whatever the API of the server is.
//!
//! ```
//! use antiphon::item::parse_items;
//! use antiphon_agents::model::{EventKind, Model, ModelRequest};
//! use antiphon_mock::{Answer, StrictProvider};
//!
//! # tokio::runtime::Runtime::new()?.block_on(async {
//! let provider = StrictProvider::start().await;
//! provider.script(Answer::new("m").message("Hello."));
//!
//! let model = Model::responses("m").at(provider.base_url()).key("sk-1");
//! let input = parse_items(&r#"[{"role":"user","content":"Hi"}]"#.into()).unwrap();
//! let request = ModelRequest::new(model.name()).with_items(input);
//! let mut answer = model.backend().respond(request).await.unwrap();
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

mod backend;
mod definition;
mod failure;
mod handle;
mod request;
mod scripted;
mod server;
#[cfg(feature = "sim")]
mod sim;

pub use antiphon_client::{Answer, AnswerEvent, AnswerStatus, Answered, EventKind, Usage};
pub use antiphon_client::{Error as ModelError, ErrorKind as ModelErrorKind};

pub use backend::Backend;
pub use definition::ToolDefinition;
pub use failure::failed_request;
pub use handle::Model;
pub use request::{ModelRequest, ModelSettings, OutputFormat, ReasoningSettings, ToolChoice};
pub use scripted::{ScriptedAnswer, ScriptedBackend};
pub use server::Server;
#[cfg(feature = "sim")]
pub use sim::Sim;
