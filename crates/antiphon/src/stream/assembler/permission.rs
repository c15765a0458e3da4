//! Which tools a model may call.
//!
//! Source: the Open Responses specification on `tool_choice`: `none` must not call, and
//! `allowed_tools` is a hard constraint; a call to a tool that is not listed is suppressed.

use std::collections::HashSet;

use serde_json::value::RawValue;

use super::{Assembler, Note};
use crate::item::{Item, Kind};
use crate::json::{Object, unquote};
use crate::stream::heard::Heard;

/// The tools that a request lets a model call. By default all.
#[derive(Clone, Debug, Default)]
pub struct Permission {
    /// `None`: any.
    tools: Option<HashSet<String>>,
}

impl Permission {
    /// What a request's `tool_choice` permits.
    pub fn of(request: &Object<'_>) -> Self {
        let choice = request.present("tool_choice");
        Self { tools: choice.and_then(permitted) }
    }

    /// Whether a model may call the tool of this name.
    pub fn permits(&self, tool: &str) -> bool {
        self.tools.as_ref().is_none_or(|tools| tools.contains(tool))
    }

    /// The tool that an item calls and may not.
    fn ruled_out(&self, item: &Item) -> Option<String> {
        let calls = matches!(item.head().kind, Kind::FunctionCall | Kind::CustomToolCall);
        if self.tools.is_none() || !calls {
            return None;
        }
        let tool = item.object().string("name").unwrap_or_default().into_owned();
        (!self.permits(&tool)).then_some(tool)
    }
}

/// The names that a `tool_choice` permits; `None` where it permits all.
fn permitted(choice: &str) -> Option<HashSet<String>> {
    if unquote(choice).as_deref() == Some("none") {
        return Some(HashSet::new());
    }
    let choice = Object::parse(choice.as_bytes()).ok()?;
    if choice.string("type").as_deref() != Some("allowed_tools") {
        return None;
    }
    if choice.string("mode").as_deref() == Some("none") {
        return Some(HashSet::new());
    }
    let tools: Vec<&RawValue> = serde_json::from_str(choice.get("tools")?).ok()?;
    let named = tools.iter().filter_map(|tool| {
        let tool = Object::parse(tool.get().as_bytes()).ok()?;
        tool.string("name").map(std::borrow::Cow::into_owned)
    });
    Some(named.collect())
}

/// What the upstream calls the calls that were suppressed.
#[derive(Default)]
pub(super) struct Suppressed {
    indexes: HashSet<u64>,
    ids: HashSet<String>,
}

impl Suppressed {
    /// Whether an event belongs to a call that was suppressed.
    pub(super) fn has(&self, heard: &Heard<'_>) -> bool {
        heard.index().is_some_and(|index| self.indexes.contains(&index))
            || heard.item_id().is_some_and(|id| self.ids.contains(&*id))
    }

    /// Whether the item was suppressed before.
    fn add(&mut self, item: &Item, heard: Option<&Heard<'_>>) -> bool {
        let id = item.head().id.as_ref().map(|id| id.as_str().to_owned());
        let index = heard.and_then(Heard::index);
        let known_index = index.is_some_and(|index| !self.indexes.insert(index));
        let known_id = id.is_some_and(|id| !self.ids.insert(id));
        known_index || known_id
    }
}

impl Assembler {
    /// Whether the item is a call that the request rules out. Each is noted once.
    pub(super) fn suppresses(&mut self, item: &Item, heard: Option<&Heard<'_>>) -> bool {
        let Some(tool) = self.permission.ruled_out(item) else {
            return false;
        };
        if !self.suppressed.add(item, heard) {
            self.identity.notes.push(Note::CallSuppressed { tool });
        }
        true
    }
}
