//! Antiphon keeps the state of an agent's conversation correct.
//!
//! Agents that call tools over the Responses and Conversations APIs fail in the same few ways:
//! `Duplicate item found with id fc_…`, `No tool output found for function call`, `Item 'rs_…' of
//! type 'reasoning' was provided without its required following item`, one tool call announced
//! twice in a stream, duplicate or lost memory. The cause is the same: client and state owner
//! disagree about the stored items. This crate compares the two, and repairs faults that a
//! provider would refuse. It is a pure engine: values in, values out, without sockets, files,
//! clocks or randomness.
//!
//! ```
//! use antiphon::item::{FingerprintKey, Item, items_of};
//! use antiphon::{HeldItem, Transcript, reconcile::reconcile, repair::repair};
//!
//! let key = FingerprintKey::new([0; 16]); let call =
//! r#"{"type":"function_call","id":"fc_1","call_id":"call_1","name":"echo","arguments":"{}"}"#; let
//! held = Item::parse(call.into()).unwrap(); let held: Transcript = [HeldItem::new("fc_1".into(),
//! &held, key, None)].into_iter().collect();
//!
//! // A client sends the stored call again, followed by a new output.
//! let output = r#"{"type":"function_call_output","call_id":"call_1","output":"hi"}"#;
//! let incoming = items_of(&format!("[{call},{output}]").into()).unwrap();
//! let verdicts = reconcile(&held, &incoming, key);
//! assert!(!verdicts[0].is_fresh() && verdicts[1].is_fresh());
//!
//! // Without the output, a provider would refuse the call. The repair adds a placeholder.
//! let repaired = repair(&incoming[..1]);
//! assert_eq!(repaired.mends[0].fault.name(), "unanswered_call");
//! assert_eq!(repaired.items.len(), 2);
//! ```
//!
//! # Modules
//!
//! - [`item`]: items, as their original bytes with a small typed head. Unknown kinds are passed on.
//! - [`transcript`]: the stored items of a conversation.
//! - [`reconcile`]: finds the items of an input that the state owner does not have yet.
//! - [`faults`]: the errors for which a provider refuses an input, in its own words.
//! - [`repair`]: turns a list of items into one that a provider accepts.
//! - [`made_up`]: placeholders for missing outputs, and the real outputs that arrive later.
//! - [`strip`]: removes items that a server with stored state already has, by kind alone.
//! - [`dialect`]: conversions from and to Chat Completions, Anthropic Messages and AI SDK parts.
//! - [`import`]: histories of Chat Completions, Anthropic, the AI SDK and LangChain as items.
//! - [`stream`]: event streams. Each item has one well-formed lifecycle for any upstream.
//! - [`stateful`]: the engine for state that a provider keeps, for a client and for a gateway.
//! - [`provider_api`]: the API of a server that stores state: lists, responses, ids.
//! - [`tracker`]: records which items a server has, lacks, or is being sent.
//! - [`run`]: the rules of an agent's run.
//! - [`truncation`]: shortens a conversation that is too long.
//! - [`json`]: reads and changes JSON without rebuilding it.
//!
//! # Guarantees
//!
//! - A replay of stored items contains nothing fresh, except a last user message that may be sent
//!   on purpose again. A delta is never taken for a replay. The order of items stays.
//! - After a repair, [`repair::check`] finds nothing. A well-formed list keeps its bytes. A second
//!   repair changes nothing more.
//! - Every operation takes time linear in its input.

pub mod dialect;
pub mod faults;
pub mod import;
pub mod item;
pub mod json;
pub mod placeholder;
pub mod provider_api;
pub mod reconcile;
pub mod repair;
pub mod run;
pub mod stateful;
pub mod stream;
pub mod strip;
pub mod tracker;
pub mod transcript;
pub mod truncation;

pub use item::{CallId, Fingerprint, FingerprintKey, Head, IdSource, Item, ItemId, Kind, Role};
pub use transcript::{Body, HeldItem, Origin, Transcript};
