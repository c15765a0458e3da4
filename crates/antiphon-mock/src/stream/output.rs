//! One output item and its events.

use serde_json::{Value, json};

use super::Split;
use super::deltas::{Text, refusal_part, summary_part, text_part};

/// The type and the content of an output item.
#[derive(Clone, Debug)]
pub(super) enum Kind {
    Reasoning { summary: String },
    Call { form: &'static CallForm, call_id: String, name: String, input: String },
    Message { text: String },
    Refusal { text: String },
    Verbatim(Value),
}

/// The wire form of a type of call.
#[derive(Debug)]
pub(super) struct CallForm {
    item_type: &'static str,
    id_prefix: &'static str,
    /// The field with the call's input.
    field: &'static str,
    /// The prefix of the events that stream that field.
    event: &'static str,
}

impl CallForm {
    /// Whether the tool takes free text.
    pub(super) fn is_custom(&self) -> bool {
        self.item_type == CUSTOM.item_type
    }
}

pub(super) const FUNCTION: CallForm = CallForm {
    item_type: "function_call",
    id_prefix: "fc",
    field: "arguments",
    event: "response.function_call_arguments",
};

pub(super) const CUSTOM: CallForm = CallForm {
    item_type: "custom_tool_call",
    id_prefix: "ctc",
    field: "input",
    event: "response.custom_tool_call_input",
};

impl Kind {
    pub(super) fn id_prefix(&self) -> &'static str {
        match self {
            Self::Reasoning { .. } => "rs",
            Self::Call { form, .. } => form.id_prefix,
            Self::Message { .. } | Self::Refusal { .. } => "msg",
            Self::Verbatim(_) => "item",
        }
    }

    /// All text of the item.
    pub(super) fn text(&self) -> &str {
        match self {
            Self::Reasoning { summary: text }
            | Self::Call { input: text, .. }
            | Self::Message { text }
            | Self::Refusal { text } => text,
            Self::Verbatim(_) => "",
        }
    }
}

/// An output item and its position in an answer.
pub(super) struct Output<'a> {
    pub(super) index: usize,
    pub(super) id: String,
    pub(super) kind: &'a Kind,
    pub(super) status: &'static str,
    pub(super) encrypted_content: Option<String>,
}

impl Output<'_> {
    /// The item in `response.output_item.added`: everything known before the first delta.
    pub(super) fn opened(&self) -> Value {
        let status = "in_progress";
        match self.kind {
            Kind::Reasoning { .. } => json!({"type": "reasoning", "id": self.id, "summary": []}),
            Kind::Call { form, call_id, name, .. } => self.call(form, call_id, name, "", status),
            Kind::Message { .. } | Kind::Refusal { .. } => self.message(&[], status),
            Kind::Verbatim(item) => item.clone(),
        }
    }

    /// The item in `response.output_item.done` and in the finished response.
    pub(super) fn closed(&self) -> Value {
        match self.kind {
            Kind::Reasoning { summary } => self.closed_reasoning(summary),
            Kind::Call { form, call_id, name, input } => {
                self.call(form, call_id, name, input, self.status)
            }
            Kind::Message { text } => self.message(&[text_part(text)], self.status),
            Kind::Refusal { text } => self.message(&[refusal_part(text)], self.status),
            Kind::Verbatim(item) => item.clone(),
        }
    }

    /// The events between these two, without the fields that identify the item.
    pub(super) fn events(&self, split: Split) -> Vec<Value> {
        let text = Text { text: self.kind.text(), split };
        match self.kind {
            Kind::Reasoning { summary } if summary.is_empty() => Vec::new(),
            Kind::Reasoning { .. } => text.as_summary(),
            Kind::Call { form, .. } => text.streamed(form.event, form.field, &json!({})),
            Kind::Message { .. } => text.as_text_part(),
            Kind::Refusal { .. } => text.as_refusal_part(),
            Kind::Verbatim(_) => Vec::new(),
        }
    }

    /// An estimate: one token for every four bytes.
    pub(super) fn tokens(&self) -> usize {
        self.kind.text().len().div_ceil(4)
    }

    pub(super) fn is_reasoning(&self) -> bool {
        matches!(self.kind, Kind::Reasoning { .. })
    }

    fn closed_reasoning(&self, summary: &str) -> Value {
        let parts = Vec::from_iter((!summary.is_empty()).then(|| summary_part(summary)));
        let mut item = json!({"type": "reasoning", "id": self.id, "summary": parts});
        if let Some(sealed) = &self.encrypted_content {
            item["encrypted_content"] = sealed.as_str().into();
        }
        // The provider sends finished reasoning without a status.
        if self.status == "incomplete" {
            item["status"] = self.status.into();
        }
        item
    }

    fn call(&self, form: &CallForm, call_id: &str, name: &str, input: &str, status: &str) -> Value {
        json!({
            "type": form.item_type,
            "id": self.id,
            "status": status,
            "call_id": call_id,
            "name": name,
            form.field: input,
        })
    }

    fn message(&self, content: &[Value], status: &str) -> Value {
        json!({
            "type": "message",
            "id": self.id,
            "status": status,
            "role": "assistant",
            "content": content,
        })
    }
}
