//! Every call has exactly one output, after it and of the matching type.

use std::collections::HashMap;

use super::item::Item;
use crate::Refusal;

/// Call types and the matching output types.
const PAIRS: [(&str, &str); 9] = [
    ("function_call", "function_call_output"),
    ("custom_tool_call", "custom_tool_call_output"),
    ("shell_call", "shell_call_output"),
    ("local_shell_call", "local_shell_call_output"),
    ("apply_patch_call", "apply_patch_call_output"),
    ("computer_call", "computer_call_output"),
    ("tool_search_call", "tool_search_output"),
    ("program", "program_output"),
    ("multi_agent_call", "multi_agent_call_output"),
];

pub(super) fn is_paired(kind: &str) -> bool {
    Role::from_kind(kind).is_some()
}

/// Whether the item may lack a `call_id`. A search that the provider runs has none, a function's
/// output may name its tool, and a local shell's output its call by `id`.
pub(super) fn may_be_anonymous(item: &Item<'_>) -> bool {
    match item.kind() {
        "function_call_output" => !item.field("name").is_null(),
        "tool_search_call" | "tool_search_output" => true,
        "local_shell_call_output" => item.id().is_some(),
        _ => false,
    }
}

/// Checks that every call has one output after it, and every output a call before it.
pub fn check(items: &[Item<'_>]) -> Result<(), Refusal> {
    let mut calls = Calls::default();
    items.iter().try_for_each(|item| calls.follow(item))?;
    calls.all_answered()
}

#[derive(Clone, Copy)]
enum Role {
    Call { pair: usize },
    Output { pair: usize },
}

impl Role {
    fn from_kind(kind: &str) -> Option<Self> {
        PAIRS.iter().enumerate().find_map(|(pair, (call, output))| match kind {
            kind if kind == *call => Some(Self::Call { pair }),
            kind if kind == *output => Some(Self::Output { pair }),
            _ => None,
        })
    }
}

type Key<'a> = (usize, &'a str);

/// The calls so far, in order, and whether each has an output.
#[derive(Default)]
struct Calls<'a> {
    order: Vec<(Key<'a>, String)>,
    answered: HashMap<Key<'a>, bool>,
}

impl<'a> Calls<'a> {
    fn follow(&mut self, item: &Item<'a>) -> Result<(), Refusal> {
        match (Role::from_kind(item.kind()), pairing_id(item)) {
            (Some(Role::Call { pair }), Some(id)) => self.call((pair, id), item),
            (Some(Role::Output { pair }), Some(id)) => self.output((pair, id), item),
            _ => Ok(()),
        }
    }

    fn call(&mut self, key: Key<'a>, item: &Item<'a>) -> Result<(), Refusal> {
        if self.answered.insert(key, false).is_some() {
            return Err(Refusal::duplicate_call(&item.kind_in_words(), key.1));
        }
        self.order.push((key, item.kind_in_words()));
        Ok(())
    }

    fn output(&mut self, key: Key<'a>, item: &Item<'a>) -> Result<(), Refusal> {
        match self.answered.insert(key, true) {
            None => Err(Refusal::no_call_for(&item.kind_in_words(), key.1)),
            Some(true) => Err(Refusal::duplicate_output(&item.kind_in_words(), key.1)),
            Some(false) => Ok(()),
        }
    }

    fn all_answered(&self) -> Result<(), Refusal> {
        match self.order.iter().find(|(key, _)| !self.answered[key]) {
            Some(((_, call_id), what)) => Err(Refusal::no_output_for(what, call_id)),
            None => Ok(()),
        }
    }
}

fn pairing_id<'a>(item: &Item<'a>) -> Option<&'a str> {
    match item.kind() {
        "local_shell_call_output" => item.call_id().or(item.id()),
        _ => item.call_id(),
    }
}
