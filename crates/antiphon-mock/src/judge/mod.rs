//! Validates requests as a provider would. Each API has its own judge; this module has the one of
//! the Responses API, which acts as a stateless provider.
//!
//! ```
//! use antiphon_mock::judge::validate;
//! use serde_json::json;
//!
//! let call = json!({
//!     "type": "function_call", "call_id": "call_1", "name": "f", "arguments": "{}",
//! });
//! let request = json!({"model": "plain-1", "store": false, "input": [call]});
//! let refusal = validate(&request).unwrap_err();
//! assert_eq!(refusal.message, "No tool output found for function call call_1.");
//! ```

pub mod anthropic;
pub mod chat;
mod contract;
mod item;
pub mod pairs;
pub mod shape;
pub mod state;

use serde_json::Value;

use crate::Refusal;

pub use contract::{includes_encrypted_reasoning, reasons};
pub use item::Item;

/// Validates the body of `POST /v1/responses` and returns the first refusal.
///
/// The order is the provider's: the model, the input, the fields of a full replay, the form of each
/// item, then the relations between the items. Unknown fields and item types are accepted.
pub fn validate(body: &Value) -> Result<(), Refusal> {
    let model = contract::model(body)?;
    let items = contract::items(body)?;
    contract::full_replay(body)?;
    contract::encrypted_reasoning(body, model)?;

    items.iter().try_for_each(shape::check)?;
    state::no_references(&items)?;
    state::check_encrypted_content(model, &items)?;
    state::no_duplicate_items(&items)?;
    pairs::check(&items)?;
    state::no_lone_reasoning(&items)
}
