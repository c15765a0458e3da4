//! Antiphon keeps an agent's conversation whole.
//!
//! Agents that call tools over the Responses and Conversations APIs break in the same few ways:
//! `Duplicate item found with id fc_…`, `No tool output found for function call`, `Item 'rs_…' of type
//! 'reasoning' was provided without its required following item`, one tool call announced twice in a
//! stream, memory doubled or lost. Nobody was sure what the owner of the state already had. This
//! crate is: it is the engine, pure values in and out, without sockets, files, clocks or randomness.
//!
//! ```
//! use antiphon::item::{FingerprintKey, Item, items_of};
//! use antiphon::{HeldItem, Transcript, reconcile::reconcile, repair::repair};
//!
//! let key = FingerprintKey::new([0; 16]);
//! let call = r#"{"type":"function_call","id":"fc_1","call_id":"call_1","name":"echo","arguments":"{}"}"#;
//! let held = Item::parse(call.into()).unwrap();
//! let held: Transcript = [HeldItem::new("fc_1".into(), &held, key, None)].into_iter().collect();
//!
//! // A client sends the call again, and behind it what is new.
//! let output = r#"{"type":"function_call_output","call_id":"call_1","output":"hi"}"#;
//! let incoming = items_of(&format!("[{call},{output}]").into()).unwrap();
//! let verdicts = reconcile(&held, &incoming, key);
//! assert!(!verdicts[0].is_fresh() && verdicts[1].is_fresh());
//!
//! // Had it forgotten the output, a provider would refuse the call. Not any more.
//! let mended = repair(&incoming[..1]);
//! assert_eq!(mended.mends[0].fault.name(), "unanswered_call");
//! assert_eq!(mended.items.len(), 2);
//! ```
//!
//! - [`item`]: the bytes as they came beside a small typed head; kinds that nobody knows are carried.
//! - [`reconcile`]: what of an input its receiver does not have yet.
//! - [`faults`], [`repair`]: what a provider refuses, in its own words, and the list it accepts.
//! - [`made_up`]: what stands in for a missing output, and what becomes of the real one.
//! - [`strip`]: what must not be sent beside state that a server holds.
//! - [`dialect`]: Chat Completions, Anthropic Messages and AI SDK parts, in and out.
//! - [`import`]: histories of Chat Completions, Anthropic, the AI SDK and LangChain as items.
//! - [`stream`]: event streams; one lifecycle an item, whatever an upstream sends.
//! - [`companion`]: the same beside a client, for those who cannot put a gateway in between.
//! - [`kept`]: what a server that keeps state says of it.
//! - [`tracker`]: what a server that owns the state has, lacks, and is being sent.
//! - [`run`]: the rules of an agent's run beside it.
//! - [`truncation`]: what can be left out of a conversation that is too long.
//!
//! # Laws
//!
//! Replaying what is held makes nothing fresh but the last word of a user, which may be said again; a
//! delta is never taken for a replay; order is kept.
//! After a repair [`repair::check`] finds nothing; what was well formed keeps its bytes; repairing
//! twice changes nothing more. Everything is linear in its input.

pub mod companion;
pub mod dialect;
pub mod faults;
pub mod import;
pub mod item;
pub mod json;
pub mod kept;
pub mod made_up;
pub mod reconcile;
pub mod repair;
pub mod run;
pub mod stream;
pub mod strip;
pub mod tracker;
pub mod transcript;
pub mod truncation;

pub use item::{CallId, Fingerprint, FingerprintKey, Head, IdSource, Item, ItemId, Kind, Role};
pub use transcript::{Body, HeldItem, Origin, Transcript};
