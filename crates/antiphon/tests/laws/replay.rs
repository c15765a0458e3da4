//! Replays of a conversation by clients: in full, by reference, without ids, with omissions.

use antiphon::reconcile::ReplayStyle;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::history::{Part, Piece};

/// A client's treatment of items of one role.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Full,
    WithoutId,
    Reference,
    Omitted,
    /// Without an id, and with changed content.
    Edited,
}

/// A client's habits.
#[derive(Clone, Debug)]
pub(crate) struct Client {
    assistants: Form,
    reasoning: Form,
    calls: Form,
    /// Whether message content is a list of parts rather than a string.
    parts: bool,
    /// Whether it adds a status and nulls.
    fabricates: bool,
}

pub(crate) fn client() -> impl Strategy<Value = Client> {
    use Form::{Edited, Full, Omitted, Reference, WithoutId};
    let any_form = || proptest::sample::select(&[Full, WithoutId, Reference, Omitted][..]);
    let assistants = proptest::sample::select(&[Full, WithoutId, Reference, Omitted, Edited][..]);
    // Only its id distinguishes replayed reasoning from new reasoning.
    let reasoning = proptest::sample::select(&[Full, Reference, Omitted][..]);
    let habits = (assistants, reasoning, any_form(), any::<bool>(), any::<bool>());
    habits.prop_map(|(assistants, reasoning, calls, parts, fabricates)| Client {
        assistants,
        reasoning,
        calls,
        parts,
        fabricates,
    })
}

impl Client {
    /// The items that it sends, each with the position of its original.
    pub(crate) fn replay(&self, pieces: &[Piece]) -> Vec<(Option<usize>, Value)> {
        let pieces = pieces.iter().enumerate();
        pieces.filter_map(|(position, piece)| Some((Some(position), self.send(piece)?))).collect()
    }

    /// How it resends a history of which the model made no other items.
    pub(crate) fn style(&self) -> ReplayStyle {
        match self.assistants {
            Form::Omitted => ReplayStyle::UsersOnly,
            _ => ReplayStyle::Unknown,
        }
    }

    /// The same without the positions.
    pub(crate) fn sends(&self, pieces: &[Piece]) -> Vec<Value> {
        pieces.iter().filter_map(|piece| self.send(piece)).collect()
    }

    /// Whether the item alone determines its position in the history.
    pub(crate) fn anchors(&self, piece: &Piece) -> bool {
        match piece.part {
            Part::User => false,
            Part::Output => true,
            Part::Assistant => matches!(self.assistants, Form::Full | Form::Reference),
            Part::Reasoning | Part::Search => self.reasoning != Form::Omitted,
            Part::Call => self.calls != Form::Omitted,
        }
    }

    fn send(&self, piece: &Piece) -> Option<Value> {
        let form = match piece.part {
            Part::User | Part::Output => Form::Full,
            Part::Assistant => self.assistants,
            Part::Reasoning | Part::Search => self.reasoning,
            Part::Call => self.calls,
        };
        let mut json = piece.json.clone();
        match form {
            Form::Full => {}
            Form::Omitted => return None,
            Form::Reference => return Some(json!({"type": "item_reference", "id": json["id"]})),
            Form::WithoutId | Form::Edited => {
                json.as_object_mut()?.remove("id");
            }
        }
        if matches!(piece.part, Part::User | Part::Assistant) {
            json["content"] = self.content(&json, form);
        }
        if self.fabricates {
            fabricate(&mut json);
        }
        Some(json)
    }

    fn content(&self, message: &Value, form: Form) -> Value {
        let content = &message["content"];
        let text = content.as_str().or(content[0]["text"].as_str()).unwrap_or_default();
        let text = if form == Form::Edited { format!("{text}, edited") } else { text.to_owned() };
        let kind = if message["role"] == "user" { "input_text" } else { "output_text" };
        if self.parts {
            json!([{"type": kind, "text": text, "logprobs": null}])
        } else {
            json!(text)
        }
    }
}

fn fabricate(json: &mut Value) {
    json["status"] = json!("completed");
    json["namespace"] = Value::Null;
    if json.get("id").is_none() {
        json["id"] = Value::Null;
    }
    if let Some(arguments) = json["arguments"].as_str() {
        json["arguments"] = json!(arguments.replace(':', " : "));
    }
}
