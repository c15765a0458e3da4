//! The entries of `tool_calls`.

use std::collections::{HashMap, HashSet};

use crate::dialect::chat::fields::Fields;
use crate::json::{Object, quote};

/// The place of a call in the message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CallEntry {
    /// The function call with this index in `tool_calls`.
    Function(usize),
    /// The custom tool call with this index in `tool_calls`.
    Custom(usize),
    /// The deprecated `function_call`.
    Legacy,
}

/// The entries of `tool_calls`.
#[derive(Debug, Default)]
pub(super) struct CallEntries {
    /// The ids of the entries.
    ids: Vec<String>,
    taken: HashSet<String>,
    /// The index of each call, by its `call_id`.
    indexes: HashMap<String, usize>,
    /// The `extra_content` of calls that have not begun, by their `call_id`.
    extras: HashMap<String, String>,
}

impl CallEntries {
    /// Adds a call, and returns its index. Its id is its `call_id`, or the item's id if another
    /// call has the `call_id`.
    pub(super) fn add(&mut self, call: &Object<'_>) -> usize {
        let index = self.ids.len();
        let call_id = call.string("call_id").unwrap_or_default().into_owned();
        self.indexes.entry(call_id.clone()).or_insert(index);
        let is_free = !call_id.is_empty() && !self.taken.contains(&call_id);
        let id = if is_free { call_id } else { call.string("id").unwrap_or_default().into_owned() };
        self.taken.insert(id.clone());
        self.ids.push(id);
        index
    }

    /// Records the `extra_content` of a call. Returns the delta with it if the call has begun.
    pub(super) fn add_extra(&mut self, call_id: String, extra: String) -> Option<String> {
        if let Some(index) = self.indexes.get(&call_id) {
            return Some(format!(
                r#"{{"tool_calls":[{{"index":{index},"extra_content":{extra}}}]}}"#
            ));
        }
        self.extras.insert(call_id, extra);
        None
    }

    /// The delta that begins a call.
    pub(super) fn beginning(&self, entry: CallEntry, call: &Object<'_>) -> String {
        let index = match entry {
            CallEntry::Legacy => {
                let called = called(call, "arguments", EMPTY);
                return format!(r#"{{"function_call":{called}}}"#);
            }
            CallEntry::Function(index) | CallEntry::Custom(index) => index,
        };
        let entry = self.fields(entry, call, Some(EMPTY));
        format!(r#"{{"tool_calls":[{{"index":{index},{entry}}}]}}"#)
    }

    /// The raw entry of a complete call.
    pub(super) fn entry(&self, entry: CallEntry, call: &Object<'_>) -> String {
        format!("{{{}}}", self.fields(entry, call, None))
    }

    /// The raw `function_call` of a complete call.
    pub(super) fn function_call(call: &Object<'_>) -> String {
        called(call, "arguments", call.present("arguments").unwrap_or(EMPTY))
    }

    /// The raw fields of an entry, with this input or that of the call.
    fn fields(&self, entry: CallEntry, call: &Object<'_>, input: Option<&str>) -> String {
        let (index, kind, field) = match entry {
            CallEntry::Custom(index) => (index, "custom", "input"),
            CallEntry::Function(index) => (index, "function", "arguments"),
            CallEntry::Legacy => (0, "function", "arguments"),
        };
        let input = input.or_else(|| call.present(field)).unwrap_or(EMPTY);
        let (id, called) = (quote(&self.ids[index]), called(call, field, input));
        let extra = self.extra(index, call);
        let extra = extra.map(|extra| format!(r#","extra_content":{extra}"#)).unwrap_or_default();
        format!(r#""id":{id},"type":"{kind}","{kind}":{called}{extra}"#)
    }

    /// The `extra_content` of the call at this index.
    fn extra(&self, index: usize, call: &Object<'_>) -> Option<&str> {
        let call_id = call.string("call_id")?;
        let is_first = self.indexes.get(&*call_id) == Some(&index);
        self.extras.get(&*call_id).filter(|_| is_first).map(String::as_str)
    }
}

/// An empty text, as raw JSON.
const EMPTY: &str = r#""""#;

/// The raw name and input of a call.
fn called(call: &Object<'_>, field: &str, input: &str) -> String {
    let name = call.get("name").unwrap_or(EMPTY);
    Fields::new().raw("name", name).raw(field, input).json()
}
