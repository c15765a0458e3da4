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
//! # Uses
//!
//! **Check and repair a request** before a provider sees it: [`repair::check`] finds the faults,
//! [`repair::repair`] removes them, and [`faults`] has the provider's error for each of them.
//!
//! ```
//! use antiphon::item::parse_items;
//! use antiphon::repair::{check, repair};
//!
//! let call = r#"[{"type":"function_call","call_id":"call_1","name":"echo","arguments":"{}"}]"#;
//! let items = parse_items(&call.into()).unwrap();
//! let (position, fault) = &check(&items)[0];
//! let message = fault.refusal(*position).message;
//! assert_eq!(message, "No tool output found for function call call_1.");
//!
//! // The repair adds a placeholder for the missing output.
//! assert_eq!(repair(&items).items.len(), 2);
//! ```
//!
//! **Store conversations in a server**: [`reconcile`] finds the items of a request that the
//! [`Transcript`] lacks, and the [`stream::Assembler`] turns an upstream's events into one
//! well-formed response.
//!
//! ```
//! use antiphon::item::{FingerprintKey, IdSource, parse_items};
//! use antiphon::json::Object;
//! use antiphon::stream::{Assembler, Envelope, UsedIds};
//! use antiphon::{HeldItem, Transcript, reconcile::reconcile};
//!
//! // A client sends a stored call again, followed by a new output.
//! let key = FingerprintKey::new([0; 16]);
//! let turn = r#"[{"type":"function_call","call_id":"call_1","name":"echo","arguments":"{}"},
//!     {"type":"function_call_output","call_id":"call_1","output":"hi"}]"#;
//! let incoming = parse_items(&turn.into()).unwrap();
//! let stored = HeldItem::new("fc_1".into(), &incoming[0], key, None);
//! let transcript: Transcript = [stored].into_iter().collect();
//! let verdicts = reconcile(&transcript, &incoming, key);
//! assert!(!verdicts[0].is_fresh() && verdicts[1].is_fresh());
//!
//! # struct Counter(u8);
//! # impl IdSource for Counter {
//! #     fn fill(&mut self, bytes: &mut [u8]) {
//! #         self.0 += 1;
//! #         bytes.fill(self.0);
//! #     }
//! # }
//! // `Counter` creates ids. The ids of the transcript are taken.
//! let request = Object::parse_str(r#"{"model":"m"}"#).unwrap();
//! let envelope = Envelope::new("resp_1", 0, &request, None);
//! let taken = UsedIds::from_transcript(&transcript);
//! let mut assembler = Assembler::new(envelope, taken, Box::new(Counter(0)), false);
//! let added = r#"{"type":"response.output_item.added","output_index":0,
//!     "item":{"type":"message","id":"msg_1","role":"assistant","content":[]}}"#;
//! let completed = r#"{"type":"response.completed","response":{"status":"completed"}}"#;
//! assembler.apply_event(&added.into()).unwrap();
//! assembler.apply_event(&completed.into()).unwrap();
//! while let Some(event) = assembler.next_event() {
//!     print!("{}", String::from_utf8_lossy(&event.to_sse()));
//! }
//! assert_eq!(assembler.finish(0).output.len(), 1);
//! ```
//!
//! **Convert and import histories**: [`import::import`] reads the messages of other APIs and
//! frameworks as items, and [`dialect`] writes requests and answers of other APIs.
//!
//! ```
//! use antiphon::import::{HistoryForm, import};
//!
//! let messages = r#"[{"role":"user","content":[{"type":"tool_result",
//!     "tool_use_id":"toolu_1","content":"Sunny"}]}]"#;
//! let imported = import(&messages.into(), HistoryForm::Responses, None).unwrap();
//! assert_eq!(imported.form, HistoryForm::Anthropic);
//! assert_eq!(imported.items[0].head().kind.as_str(), "function_call_output");
//! ```
//!
//! # Modules
//!
//! - [`item`]: items, as their original bytes with a small typed head. Unknown kinds are passed on.
//! - [`transcript`]: the stored items of a conversation.
//! - [`reconcile`]: finds the items of an input that the state owner does not have yet.
//! - [`faults`]: the errors for which a provider refuses an input, in its own words.
//! - [`repair`]: turns a list of items into one that a provider accepts.
//! - [`placeholder`]: placeholders for missing outputs, and the real outputs that arrive later.
//! - [`strip`]: removes items that a server with stored state already has, by kind alone.
//! - [`dialect`]: conversions from and to Chat Completions, Anthropic Messages and AI SDK parts.
//! - [`import`]: histories of Chat Completions, Anthropic, the AI SDK and LangChain as items.
//! - [`stream`]: event streams. Each item has one well-formed lifecycle for any upstream.
//! - [`stateful`]: the engine for state that a provider keeps, for a client and for a gateway.
//! - [`provider_api`]: the API of a server that stores state: lists, responses, ids.
//! - [`tracker`]: records which items a server has, lacks, or is being sent.
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
pub mod stateful;
pub mod stream;
pub mod strip;
pub mod tracker;
pub mod transcript;
pub mod truncation;

pub use item::{CallId, Fingerprint, FingerprintKey, Head, IdSource, Item, ItemId, Kind, Role};
pub use transcript::{Body, HeldItem, Origin, Transcript};
