//! What a list that lacks a response's input implies.

use crate::item::Item;
use crate::json::quote;

/// Outputs for the calls that a model made, in outline. Where a server went on from them and lists no
/// input, they were answered, with what it does not say.
pub fn answers_to(made: &[Item]) -> Vec<Item> {
    let answer = |item: &Item| {
        let (kind, call_id) = (item.head().kind.output()?, item.head().call_id.as_ref()?);
        let (kind, call_id) = (quote(kind.as_str()), quote(call_id.as_str()));
        Item::parse(format!(r#"{{"type":{kind},"call_id":{call_id}}}"#).into()).ok()
    };
    made.iter().filter_map(answer).collect()
}
