//! The ids of calls whose client leaves them out.

use std::collections::{BTreeSet, HashMap, HashSet};

use serde_json::Value;

use crate::item::{CallId, FingerprintKey, Item, Side};
use crate::json;
use crate::transcript::Transcript;

/// Replaces the call ids in `derived`, which a decoder made for calls without an id, with those of
/// the stored calls that the input repeats. An output follows its call.
///
/// A call repeats a stored one that has the same name and arguments, unless both have outputs and
/// these differ. Equal calls are matched from the last one on, because a client resends the end of
/// a history, if not all of it. Stored calls whose bodies are not here are not found.
///
/// `key` is the one of the transcript's fingerprints.
pub fn adopt_call_ids(
    transcript: &Transcript,
    input: Vec<Item>,
    derived: &BTreeSet<String>,
    key: FingerprintKey,
) -> Vec<Item> {
    if derived.is_empty() {
        return input;
    }
    let ids = find_stored_ids(transcript, &input, derived, key);
    let adopt = |item: Item| match call_id(&item).and_then(|id| ids.get(id)) {
        Some(stored) => item.with(|object| object.set_string("call_id", stored)),
        None => item,
    };
    input.into_iter().map(adopt).collect()
}

/// The name and the arguments of a call, as JSON in one form.
type Content = (String, String);

/// A stored call, and the digest of its output.
struct StoredCall {
    id: String,
    output: Option<u128>,
}

/// For each derived id, the one of the stored call.
fn find_stored_ids(
    transcript: &Transcript,
    input: &[Item],
    derived: &BTreeSet<String>,
    key: FingerprintKey,
) -> HashMap<String, String> {
    let is_derived = |id: &&str| derived.contains(*id);
    let own_ids = input.iter().filter_map(call_id).filter(|id| !is_derived(id)).collect();
    let mut stored = stored_calls(transcript, &own_ids, key);
    let outputs = outputs(input, key);
    let mut ids = HashMap::new();
    for call in input.iter().rev().filter(|item| is_side(item, Side::Call)) {
        let Some(id) = call_id(call).filter(is_derived) else { continue };
        let equal = content(call).and_then(|content| stored.get_mut(&content));
        let Some(equal) = equal else { continue };
        let output = outputs.get(id);
        let agrees = |call: &StoredCall| {
            call.output.as_ref().zip(output).is_none_or(|(stored, given)| stored == given)
        };
        if let Some(position) = equal.iter().rposition(agrees) {
            equal.truncate(position + 1);
            ids.extend(equal.pop().map(|stored| (id.to_owned(), stored.id)));
        }
    }
    ids
}

/// The stored calls by their content, in order, without those that the input names by their ids.
fn stored_calls(
    transcript: &Transcript,
    own_ids: &HashSet<&str>,
    key: FingerprintKey,
) -> HashMap<Content, Vec<StoredCall>> {
    let held = transcript.items();
    let mut calls: HashMap<Content, Vec<StoredCall>> = HashMap::new();
    for (position, item) in held.iter().enumerate() {
        let Some(item) = item.item() else { continue };
        let Some((Side::Call, call_key)) = item.head().pairing() else { continue };
        let (id, content) = (call_key.call_id.as_str(), content(&item));
        let Some(content) = content.filter(|_| !own_ids.contains(id)) else { continue };
        let equal = calls.entry(content).or_default();
        let exchange = transcript.exchange(&call_key);
        let nth = exchange.and_then(|exchange| exchange.calls.binary_search(&position).ok());
        let output = exchange.zip(nth).and_then(|(exchange, nth)| exchange.answer_of(nth));
        let output = output.map(|at| &held[at]).filter(|output| !output.is_placeholder());
        let output = output.and_then(|output| output_digest(&output.item()?, key));
        equal.push(StoredCall { id: id.to_owned(), output });
    }
    calls
}

/// The digest of the first output under each call id.
fn outputs(input: &[Item], key: FingerprintKey) -> HashMap<&str, u128> {
    let mut outputs = HashMap::new();
    for item in input.iter().filter(|item| is_side(item, Side::Output)) {
        if let (Some(id), Some(digest)) = (call_id(item), output_digest(item, key)) {
            outputs.entry(id).or_insert(digest);
        }
    }
    outputs
}

fn is_side(item: &Item, side: Side) -> bool {
    item.head().pairing().is_some_and(|(mine, _)| mine == side)
}

fn call_id(item: &Item) -> Option<&str> {
    item.head().call_id.as_ref().map(CallId::as_str)
}

/// The content of a function call; `None` for other items.
fn content(item: &Item) -> Option<Content> {
    let object = item.object();
    let (name, arguments) = (object.string("name")?, object.string("arguments")?);
    let arguments = match serde_json::from_str::<Value>(&arguments) {
        Ok(value) => value.to_string(),
        Err(_) => arguments.into_owned(),
    };
    Some((name.into_owned(), arguments))
}

fn output_digest(item: &Item, key: FingerprintKey) -> Option<u128> {
    let object = item.object();
    let raw = object.present("output")?;
    let text = json::unquote(raw);
    Some(key.digest(text.as_deref().unwrap_or(raw).as_bytes()))
}
