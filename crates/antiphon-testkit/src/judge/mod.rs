//! Would a provider accept this request? Each API has a judge of its own; the one of the Responses
//! API stands here and is a provider that keeps no state.

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

/// Judges the body of `POST /v1/responses`: the first refusal that it deserves, or none.
///
/// In the provider's order: the model, the input, what a full replay must and must not ask for,
/// the shape of every item, then what the items are to each other. Fields and item types that
/// nobody knows are accepted.
pub fn judge(body: &Value) -> Result<(), Refusal> {
    let model = contract::model(body)?;
    let items = contract::items(body)?;
    contract::full_replay(body)?;
    contract::encrypted_reasoning(body, model)?;

    items.iter().try_for_each(shape::check)?;
    state::nothing_left_with_the_provider(&items)?;
    state::issued_for(model, &items)?;
    state::no_item_twice(&items)?;
    pairs::check(&items)?;
    state::no_lone_reasoning(&items)
}
