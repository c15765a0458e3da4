//! What the model made of a turn.

use antiphon_testkit::judge::includes_encrypted_reasoning;
use antiphon_testkit::{Answer, Frame};
use serde_json::{Value, json};

use super::Turn;
use crate::ids::DIGITS;
use crate::request::Create;

/// A whole answer as the provider gives it: its events, its response, its items.
#[derive(Debug)]
pub(crate) struct Made {
    pub(crate) frames: Vec<Frame>,
    /// The response as it ends.
    pub(crate) response: Value,
    /// The response as it begins.
    pub(crate) opened: Value,
    pub(crate) output: Vec<Value>,
}

impl Made {
    /// Makes an answer that of this turn.
    pub(crate) fn of(answer: Answer, create: &Create<'_>, turn: &Turn, seed: &str) -> Self {
        let mut request = create.body.clone();
        request["input"] = turn.given().into();
        let answer = answer.of_model(create.model).request(&request).seed(seed).id_digits(DIGITS);
        let answer = match includes_encrypted_reasoning(create.body) {
            true => answer,
            false => answer.without_encrypted_content(),
        };
        let frames: Vec<Frame> =
            answer.frames().into_iter().map(|frame| of_turn(frame, turn)).collect();
        let first = frames.first().and_then(Frame::json).unwrap_or_default();
        let mut response = answer.json();
        dress(&mut response, turn);
        Self { opened: first["response"].clone(), output: answer.output(), frames, response }
    }

    /// Whether it ends with an error.
    pub(crate) fn has_failed(&self) -> bool {
        self.response["status"] == "failed"
    }
}

fn of_turn(frame: Frame, turn: &Turn) -> Frame {
    match frame.json() {
        Some(mut event) if event["response"].is_object() => {
            dress(&mut event["response"], turn);
            Frame::event(&event)
        }
        _ => frame,
    }
}

/// Says in a response where it stands.
fn dress(response: &mut Value, turn: &Turn) {
    response["store"] = turn.stores.into();
    response["background"] = turn.in_background.into();
    response["previous_response_id"] = json!(turn.previous);
    response["conversation"] = match &turn.conversation {
        Some(id) => json!({"id": id}),
        None => Value::Null,
    };
}
