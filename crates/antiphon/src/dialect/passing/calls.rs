//! The calls of an answer by their ids.

use std::collections::HashSet;

use crate::json::{Object, objects, quote, range_of_slice, replace_array};

/// The arguments of a call, as far as they have arrived.
#[derive(Debug, Default)]
pub(super) struct Call {
    pub(super) id: String,
    pub(super) name: String,
    /// The text of a JSON value.
    pub(super) arguments: String,
}

impl Call {
    /// Whether this call, which has the id of `first`, is `first` announced again. Its arguments
    /// are the same or absent; the space in them does not matter.
    pub(super) fn repeats(&self, first: &Self) -> bool {
        let is_same = || match (value(&self.arguments), value(&first.arguments)) {
            (Some(this), Some(first)) => this == first,
            _ => self.arguments == first.arguments,
        };
        self.name == first.name && (is_empty(&self.arguments) || is_same())
    }
}

/// Whether a call has no arguments yet.
fn is_empty(arguments: &str) -> bool {
    matches!(arguments.trim(), "" | "{}")
}

fn value(arguments: &str) -> Option<serde_json::Value> {
    serde_json::from_str(arguments).ok()
}

/// An id that no other call of the answer has.
pub(super) fn fresh_id(id: &str, is_taken: impl Fn(&str) -> bool) -> String {
    let numbered = (2..).map(|number| format!("{id}_{number}"));
    let mut free = numbered.filter(|id| !is_taken(id));
    free.next().expect("there are more numbers than ids")
}

/// The elements of an array without repeated calls, and the number of repairs. A call with a taken
/// id and other arguments gets an id of its own. `None` if no id occurs twice.
pub(super) fn without_repeats(
    elements: Vec<Object<'_>>,
    call_of: impl Fn(&Object<'_>) -> Option<Call>,
) -> Option<(Vec<String>, u64)> {
    let calls: Vec<Option<Call>> = elements.iter().map(call_of).collect();
    let mut ids: HashSet<String> = calls.iter().flatten().map(|call| call.id.clone()).collect();
    if ids.len() == calls.iter().flatten().count() {
        return None;
    }
    let (mut kept, mut repairs) = (Vec::new(), 0);
    for (at, mut element) in elements.into_iter().enumerate() {
        if let Some(call) = &calls[at] {
            let mut before = calls[..at].iter().flatten();
            if let Some(first) = before.find(|first| first.id == call.id) {
                repairs += 1;
                if call.repeats(first) {
                    continue;
                }
                let id = fresh_id(&call.id, |id| ids.contains(id));
                element.set("id", quote(&id));
                ids.insert(id);
            }
        }
        kept.push(element.to_text());
    }
    Some((kept, repairs))
}

/// An object whose array `key` has other elements, and the number of repairs. The object stays the
/// same if it has no such array, or if `change` returns `None`.
pub(super) fn with_array(
    json: Vec<u8>,
    key: &str,
    change: impl FnOnce(Vec<Object<'_>>) -> Option<(Vec<String>, u64)>,
) -> (Vec<u8>, u64) {
    let changed = str::from_utf8(&json).ok().and_then(|text| {
        let fields = Object::parse_str(text).ok()?;
        let array = fields.get(key)?;
        let (elements, repairs) = change(objects(array))?;
        let range = range_of_slice(text, array);
        Some((replace_array(text, range, elements.iter().map(String::as_str)), repairs))
    });
    match changed {
        Some((text, repairs)) => (text.into(), repairs),
        None => (json, 0),
    }
}
