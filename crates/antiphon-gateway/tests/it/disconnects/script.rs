//! One answer that holds everything a caller can leave in the middle of, as each API streams it.

use antiphon::dialect::UpstreamApi;
use antiphon_gateway::settings::OnDisconnect;
use antiphon_mock::{Answer, Api, Frame};
use serde_json::Value;

use crate::support::{MODEL, World};

/// An upstream's API, as the gateway names it and as the upstream does.
#[derive(Clone, Copy, Debug)]
pub(super) struct Dialect {
    dialect: UpstreamApi,
    pub(super) api: Api,
}

/// Every API of upstreams.
pub(super) const APIS: [Dialect; 3] = [
    Dialect { dialect: UpstreamApi::Responses, api: Api::Responses },
    Dialect { dialect: UpstreamApi::Chat, api: Api::Chat },
    Dialect { dialect: UpstreamApi::Anthropic, api: Api::Anthropic },
];

impl Dialect {
    /// A gateway in front of an upstream of this API.
    pub(super) async fn world(self, on_disconnect: OnDisconnect) -> World {
        World::with(|settings| {
            settings.upstreams[0].api = self.dialect;
            settings.on_disconnect = on_disconnect;
        })
        .await
    }

    /// The answer's frames: reasoning, a text, two parallel calls whose arguments come by turns
    /// where the API can tell them apart, and another text. New ids with every number.
    pub(super) fn frames(self, number: usize) -> Vec<Frame> {
        let answer = Answer::new(MODEL)
            .reasoning("Echo it twice.")
            .message("I shall echo.")
            .call(format!("call_one_{number}"), "echo", r#"{"text": "one"}"#)
            .call(format!("call_two_{number}"), "echo", r#"{"text": "two"}"#)
            .message("Both are called.");
        interleave_calls(answer.frames_for(self.api))
    }
}

/// Behind how many frames the answer's end begins.
pub(super) fn terminal_position(frames: &[Frame]) -> usize {
    let is_end = |frame: &Frame| {
        let json = frame.json().unwrap_or_default();
        let kind = json["type"].as_str().unwrap_or_default();
        kind == "response.completed"
            || kind == "message_delta"
            || json["choices"][0]["finish_reason"].is_string()
    };
    frames.iter().position(is_end).expect("an answer has an end")
}

/// The frames with those of the two calls taking turns, if the API numbers them.
fn interleave_calls(frames: Vec<Frame>) -> Vec<Frame> {
    let is_of = |number: usize| move |frame: &Frame| call_of(frame) == Some(number);
    let Some(start) = frames.iter().position(is_of(0)) else { return frames };
    let of = |number| frames.iter().filter(move |frame| is_of(number)(frame)).cloned();
    let pairs: Vec<Frame> = of(0).zip(of(1)).flat_map(|(one, two)| [one, two]).collect();
    assert_eq!(pairs.len(), of(0).chain(of(1)).count(), "both calls have as many frames");
    let behind = frames[start + pairs.len()..].iter().cloned();
    let ordered = frames[..start].iter().cloned().chain(pairs).chain(behind);
    ordered.enumerate().map(|(at, frame)| renumber(frame, at)).collect()
}

/// Which of the two calls a frame speaks of, where frames of both may be mixed.
fn call_of(frame: &Frame) -> Option<usize> {
    const FIRST_CALL: u64 = 2;
    let json = frame.json()?;
    let of_response = json["output_index"].as_u64().and_then(|at| at.checked_sub(FIRST_CALL));
    let of_chat = json["choices"][0]["delta"]["tool_calls"][0]["index"].as_u64();
    let number = of_response.filter(|number| *number < 2).or(of_chat)?;
    usize::try_from(number).ok()
}

/// The frame with the number that it has at its new place.
fn renumber(frame: Frame, at: usize) -> Frame {
    match frame.json() {
        Some(mut json) if json["sequence_number"].is_u64() => {
            json["sequence_number"] = at.into();
            Frame::event(&json)
        }
        _ => frame,
    }
}

/// How much the frames say: the length of all texts and arguments in them.
pub(super) fn text_length(frames: &[Frame]) -> usize {
    let piece = |frame: &Frame| {
        let json = frame.json().unwrap_or_default();
        let delta = &json["choices"][0]["delta"];
        let call = &delta["tool_calls"][0]["function"];
        let pieces = [
            &json["delta"],
            &json["delta"]["text"],
            &json["delta"]["thinking"],
            &json["delta"]["partial_json"],
            &delta["reasoning_content"],
            &delta["content"],
            &call["arguments"],
        ];
        pieces.into_iter().filter_map(Value::as_str).map(str::len).sum::<usize>()
    };
    frames.iter().map(piece).sum()
}
