//! A model's answer in the provider's wire form.

use serde_json::{Value, json};

use super::Turn;
use crate::ids::DIGITS;
use crate::judge::includes_encrypted_reasoning;
use crate::request::Create;
use crate::{Answer, Frame};

/// A complete answer: its events, its response object and its items.
#[derive(Debug)]
pub(crate) struct RenderedAnswer {
    pub(crate) frames: Vec<Frame>,
    /// The response at its end.
    pub(crate) response: Value,
    /// The response at its start.
    pub(crate) opened: Value,
    pub(crate) output: Vec<Value>,
}

impl RenderedAnswer {
    /// Renders the answer to this turn.
    pub(crate) fn new(answer: Answer, create: &Create<'_>, turn: &Turn, seed: &str) -> Self {
        let mut request = create.body.clone();
        request["input"] = turn.model_input().into();
        let answer = answer.with_model(create.model).request(&request).seed(seed).id_digits(DIGITS);
        let answer = match includes_encrypted_reasoning(create.body) {
            true => answer,
            false => answer.without_encrypted_content(),
        };
        let frames: Vec<Frame> =
            answer.frames().into_iter().map(|frame| with_turn_fields(frame, turn)).collect();
        let first = frames.first().and_then(Frame::json).unwrap_or_default();
        let mut response = answer.json();
        set_turn_fields(&mut response, turn);
        Self { opened: first["response"].clone(), output: answer.output(), frames, response }
    }

    /// Whether the response failed.
    pub(crate) fn has_failed(&self) -> bool {
        self.response["status"] == "failed"
    }
}

fn with_turn_fields(frame: Frame, turn: &Turn) -> Frame {
    match frame.json() {
        Some(mut event) if event["response"].is_object() => {
            set_turn_fields(&mut event["response"], turn);
            Frame::event(&event)
        }
        _ => frame,
    }
}

/// Sets the response fields that the turn determines.
fn set_turn_fields(response: &mut Value, turn: &Turn) {
    response["store"] = turn.stores.into();
    response["background"] = turn.in_background.into();
    response["previous_response_id"] = json!(turn.previous);
    response["conversation"] = match &turn.conversation {
        Some(id) => json!({"id": id}),
        None => Value::Null,
    };
}
