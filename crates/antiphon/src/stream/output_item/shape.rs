//! The form of an item for clients.
//!
//! Source: the item tables of the Responses API. Required fields always have a value; some kinds
//! carry a `status`, others do not. An item that is already in this form keeps the upstream's
//! bytes.

use std::borrow::Cow;

use super::super::vocabulary::{TextKind, holds_parts};
use crate::item::{CallId, Item, ItemId, Kind, StatusField};
use crate::json::{Object, quote};

/// The names of an item for clients.
#[derive(Debug)]
pub(super) struct Names {
    pub(super) id: ItemId,
    /// The raw `call_id`; `None` if the item has none.
    pub(super) call_id: Option<String>,
}

impl Names {
    /// Combines an item's new id with its new `call_id`, or else with its own.
    pub(super) fn new(item: &Object<'_>, id: ItemId, call_id: Option<CallId>) -> Self {
        let own = || item.get("call_id").map(str::to_owned);
        let call_id = call_id.map(|id| quote(id.as_str())).or_else(own);
        Self { id, call_id }
    }
}

/// The item of `output_item.added`, without content. `fields` are those of `item`.
pub(super) fn announced_item(item: &Item, fields: Object<'_>, names: &Names) -> Item {
    let status = fields.string("status").map(Cow::into_owned);
    let mut shaper = ItemShaper { item, fields, is_changed: false };
    shaper.name(names);
    shaper.put("content", "[]", |kind, is_there| {
        *kind == Kind::Message || *kind == Kind::Reasoning && is_there
    });
    shaper.put("summary", "[]", |kind, _| *kind == Kind::Reasoning);
    if let Some(text) = TextKind::for_item(&item.head().kind) {
        shaper.put(text.field, r#""""#, |_, _| true);
    }
    shaper.put("status", r#""in_progress""#, |kind, _| match status.as_deref() {
        None => always_has_status(kind),
        Some(status) => has_streamed_text(kind) && matches!(status, "completed" | "incomplete"),
    });
    shaper.item()
}

/// The item of `output_item.done`, from the upstream's final version. `fields` are those of `item`,
/// `status` is for an item without a final status of its own.
pub(super) fn ended_item(item: &Item, fields: Object<'_>, names: &Names, status: &str) -> Item {
    let own = fields.string("status").map(Cow::into_owned);
    let own = own.filter(|status| status != "in_progress");
    let status = quote(own.as_deref().unwrap_or(status));
    let mut shaper = ItemShaper { item, fields, is_changed: false };
    shaper.name(names);
    shaper.list_content();
    shaper.put("content", "[]", |kind, is_there| *kind == Kind::Message && !is_there);
    shaper.put("summary", "[]", |kind, is_there| *kind == Kind::Reasoning && !is_there);
    shaper.put("status", &status, |kind, is_there| always_has_status(kind) || is_there);
    shaper.item()
}

/// An item whose fields are being corrected.
struct ItemShaper<'a> {
    item: &'a Item,
    fields: Object<'a>,
    is_changed: bool,
}

impl ItemShaper<'_> {
    /// The corrected item; the original one if nothing changed.
    fn item(self) -> Item {
        if !self.is_changed {
            return self.item.clone();
        }
        Item::parse(self.fields.to_bytes()).expect("the changed fields are an item's")
    }

    /// Sets a field if `is_due` returns true for the item's kind and for whether the field is
    /// present. A `null` counts as absent.
    fn put(&mut self, key: &'static str, raw: &str, is_due: impl Fn(&Kind, bool) -> bool) {
        let is_there = self.fields.present(key).is_some();
        if is_due(&self.item.head().kind, is_there) && self.fields.get(key) != Some(raw) {
            self.fields.set(key, raw.to_owned());
            self.is_changed = true;
        }
    }

    fn name(&mut self, names: &Names) {
        let head = self.item.head();
        if self.fields.get("type").is_none() {
            self.fields.set_first("type", quote(head.kind.as_str()));
            self.is_changed = true;
        }
        let is_bound = head.kind == Kind::Reasoning && head.encrypted;
        if is_bound && head.id.as_ref().is_some_and(|id| *id != names.id) {
            // Encrypted content is bound to its original id: providers reject it under another one.
            self.fields.remove("encrypted_content");
        }
        self.put("id", &quote(names.id.as_str()), |_, _| true);
        self.put("role", r#""assistant""#, |kind, is_there| *kind == Kind::Message && !is_there);
        match &names.call_id {
            Some(call_id) => self.put("call_id", call_id, |_, _| true),
            None => self.put("call_id", "null", |_, is_there| is_there),
        }
    }

    /// Turns a message's string content into a list of one part.
    fn list_content(&mut self) {
        let content = self.fields.get("content").filter(|raw| raw.starts_with('"'));
        if let Some(text) = content {
            let listed = format!(
                r#"[{{"type":"output_text","text":{text},"annotations":[],"logprobs":[]}}]"#
            );
            self.put("content", &listed, |kind, _| *kind == Kind::Message);
        }
    }
}

fn has_streamed_text(kind: &Kind) -> bool {
    holds_parts(kind) || TextKind::for_item(kind).is_some()
}

/// Whether items of this kind always carry a `status`. For other kinds only the client's copy gets
/// one, and the stored item keeps its bytes.
pub(in crate::stream) fn always_has_status(kind: &Kind) -> bool {
    kind.status() == StatusField::Required
}
