//! The calls of an answer by their ids.

use std::collections::HashSet;

use crate::json::{Object, quote};

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
pub(super) fn fresh_id(id: &str, taken: &HashSet<String>) -> String {
    let numbered = (2..).map(|number| format!("{id}_{number}"));
    let mut free = numbered.filter(|id| !taken.contains(id));
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
                let id = fresh_id(&call.id, &ids);
                element.set("id", quote(&id));
                ids.insert(id);
            }
        }
        kept.push(element.to_text());
    }
    Some((kept, repairs))
}
