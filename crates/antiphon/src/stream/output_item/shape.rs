//! The form in which clients get an item.
//!
//! Source: the item tables of the Responses API. Fields that its types require have a value; which
//! kinds carry a `status` differs. What an upstream gives in this form keeps its bytes.

use std::borrow::Cow;

use super::super::vocabulary::{TextKind, speaks_in_parts};
use crate::item::{CallId, Item, ItemId, Kind};
use crate::json::{Object, quote};

/// The names that an item goes by for clients.
#[derive(Debug)]
pub(super) struct Names {
    pub(super) id: ItemId,
    /// The raw `call_id`; `None` where it carries none.
    pub(super) call_id: Option<String>,
}

impl Names {
    /// The names of an item that was assigned this id, and this `call_id` where its own could not
    /// be kept.
    pub(super) fn new(item: &Item, id: ItemId, call_id: Option<CallId>) -> Self {
        let own = || item.object().get("call_id").map(str::to_owned);
        let call_id = call_id.map(|id| quote(id.as_str())).or_else(own);
        Self { id, call_id }
    }
}

/// The item as it is announced: nothing is said yet.
pub(super) fn announced(item: &Item, names: &Names) -> Item {
    let mut form = Form::new(item);
    form.name(names);
    form.put("content", "[]", |kind, is_there| {
        *kind == Kind::Message || *kind == Kind::Reasoning && is_there
    });
    form.put("summary", "[]", |kind, _| *kind == Kind::Reasoning);
    if let Some(text) = TextKind::of_item(&item.head().kind) {
        form.put(text.field, r#""""#, |_, _| true);
    }
    let status = item.object().string("status").map(Cow::into_owned);
    form.put("status", r#""in_progress""#, |kind, _| match status.as_deref() {
        None => always_has_status(kind),
        Some(status) => speaks(kind) && matches!(status, "completed" | "incomplete"),
    });
    form.item()
}

/// The item as it ends, with what an upstream says it came to. `status`: its status where the
/// upstream gives none, or one of an item that has not ended.
pub(super) fn ended(item: &Item, names: &Names, status: &str) -> Item {
    let mut form = Form::new(item);
    form.name(names);
    form.list_content();
    form.put("content", "[]", |kind, is_there| *kind == Kind::Message && !is_there);
    form.put("summary", "[]", |kind, is_there| *kind == Kind::Reasoning && !is_there);
    let own = item.object().string("status").map(Cow::into_owned);
    let own = own.filter(|status| status != "in_progress");
    let status = quote(own.as_deref().unwrap_or(status));
    form.put("status", &status, |kind, is_there| always_has_status(kind) || is_there);
    form.item()
}

/// An item being brought into its form.
struct Form<'a> {
    item: &'a Item,
    fields: Object<'a>,
    is_changed: bool,
}

impl<'a> Form<'a> {
    fn new(item: &'a Item) -> Self {
        Self { item, fields: item.object(), is_changed: false }
    }

    /// The item in its form: the one that came, where nothing had to change.
    fn item(self) -> Item {
        if !self.is_changed {
            return self.item.clone();
        }
        Item::parse(self.fields.to_bytes()).expect("the changed fields are an item's")
    }

    /// Sets a field if it is to be set in items of this kind, where it is there or not. A `null` is
    /// not there.
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
            // Encrypted content is bound to the id that it came with: under another one a provider
            // refuses it.
            self.fields.remove("encrypted_content");
        }
        self.put("id", &quote(names.id.as_str()), |_, _| true);
        self.put("role", r#""assistant""#, |kind, is_there| *kind == Kind::Message && !is_there);
        match &names.call_id {
            Some(call_id) => self.put("call_id", call_id, |_, _| true),
            None => self.put("call_id", "null", |_, is_there| is_there),
        }
    }

    /// A message whose content is a string has it as a list of one part.
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

fn speaks(kind: &Kind) -> bool {
    speaks_in_parts(kind) || TextKind::of_item(kind).is_some()
}

/// Whether items of this kind always carry a `status`, wherever they go. All others are shown with
/// one and keep the bytes that came.
pub(in crate::stream) fn always_has_status(kind: &Kind) -> bool {
    use Kind as K;
    matches!(
        kind,
        K::Message
            | K::FunctionCall
            | K::CustomToolCall
            | K::ShellCall
            | K::LocalShellCall
            | K::ApplyPatchCall
            | K::ComputerCall
            | K::ToolSearchCall
            | K::WebSearchCall
            | K::FileSearchCall
            | K::CodeInterpreterCall
            | K::ImageGenerationCall
    )
}
