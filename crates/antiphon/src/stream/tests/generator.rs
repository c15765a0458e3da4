//! Generates answers of a model and their well-formed streams.

use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::{Value, json};

/// One item of an answer. Its texts are lists of deltas.
#[derive(Clone, Debug)]
pub(crate) enum Spoken {
    Reasoning { summary: Vec<Pieces>, raw: Option<Pieces>, sealed: bool },
    Message { parts: Vec<(bool, Pieces)> },
    Call { input: Pieces },
    CustomCall { input: Pieces },
    Search,
}

pub(crate) type Pieces = Vec<String>;

/// The role of an event in its item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    Added,
    PartAdded,
    Delta,
    TextDone,
    PartDone,
    Progress,
    Done,
}

/// One event of an upstream: of the item at this index in the answer, or of the response.
#[derive(Clone, Debug)]
pub(crate) struct Sent {
    pub(crate) of: Option<(usize, Role)>,
    pub(crate) json: Value,
}

/// A stream: events, then the terminal event with the items.
#[derive(Clone, Debug)]
pub(crate) struct Stream {
    pub(crate) events: Vec<Sent>,
    pub(crate) output: Vec<Value>,
    /// Number of items.
    pub(crate) count: usize,
}

/// The deltas of a text.
fn pieces() -> impl Strategy<Value = Pieces> {
    vec("[a-z \\\\\"/\n\u{e9}\u{1f600}]{0,5}", 1..4)
}

fn spoken() -> impl Strategy<Value = Spoken> {
    let parts = vec((prop::bool::weighted(0.2), pieces()), 1..3);
    let reasoning = (vec(pieces(), 0..3), prop::option::of(pieces()), any::<bool>());
    prop_oneof![
        4 => parts.prop_map(|parts| Spoken::Message { parts }),
        4 => pieces().prop_map(|input| Spoken::Call { input }),
        1 => pieces().prop_map(|input| Spoken::CustomCall { input }),
        2 => reasoning
            .prop_map(|(summary, raw, sealed)| Spoken::Reasoning { summary, raw, sealed }),
        1 => Just(Spoken::Search),
    ]
}

/// An answer of up to four items.
pub(crate) fn answer() -> impl Strategy<Value = Vec<Spoken>> {
    vec(spoken(), 0..5).prop_map(|mut answer| {
        answer.iter_mut().enumerate().for_each(|(at, item)| item.mark(at));
        answer
    })
}

impl Spoken {
    /// Makes every text unique in the answer.
    fn mark(&mut self, at: usize) {
        let (first, texts): (usize, Vec<&mut Pieces>) = match self {
            Self::Reasoning { summary, raw, .. } => (0, summary.iter_mut().chain(raw).collect()),
            Self::Message { parts } => (0, parts.iter_mut().map(|(_, text)| text).collect()),
            Self::Call { input } => {
                *input = as_json(at, input);
                return;
            }
            Self::CustomCall { input } => (0, vec![input]),
            Self::Search => return,
        };
        for (number, text) in (first..).zip(texts) {
            text.insert(0, format!("<{at}.{number}>"));
        }
    }

    fn prefix(&self) -> &'static str {
        match self {
            Self::Reasoning { .. } => "rs",
            Self::Message { .. } => "msg",
            Self::Call { .. } => "fc",
            Self::CustomCall { .. } => "ctc",
            Self::Search => "ws",
        }
    }

    /// The announced item and the finished item.
    fn items(&self, at: usize) -> (Value, Value) {
        let id = format!("{}_{at}", self.prefix());
        let item = |status: &str, fields: Value| {
            let mut item = fields;
            item["id"] = id.as_str().into();
            item["status"] = status.into();
            item
        };
        match self {
            Self::Reasoning { summary, raw, sealed } => {
                let begun = json!({"type": "reasoning", "summary": []});
                let mut ended = json!({"type": "reasoning", "summary": summary
                    .iter().map(|text| json!({"type": "summary_text", "text": text.concat()}))
                    .collect::<Vec<_>>()});
                if let Some(raw) = raw {
                    ended["content"] = json!([{"type": "reasoning_text", "text": raw.concat()}]);
                }
                if *sealed {
                    ended["encrypted_content"] = format!("gAAA{at}").into();
                }
                (item("in_progress", begun), item("completed", ended))
            }
            Self::Message { parts } => {
                let message = json!({"type": "message", "role": "assistant", "content": []});
                let mut ended = message.clone();
                ended["content"] =
                    parts.iter().map(|(refuses, text)| part(*refuses, &text.concat())).collect();
                (item("in_progress", message), item("completed", ended))
            }
            Self::Call { input } => {
                let call = |text: &str| {
                    json!({"type": "function_call", "call_id": format!("call_{at}"),
                        "name": "look", "arguments": text})
                };
                (item("in_progress", call("")), item("completed", call(&input.concat())))
            }
            Self::CustomCall { input } => {
                let call = |text: &str| {
                    json!({"type": "custom_tool_call", "call_id": format!("call_{at}"),
                        "name": "shout", "input": text})
                };
                (item("in_progress", call("")), item("completed", call(&input.concat())))
            }
            Self::Search => {
                let search = json!({"type": "web_search_call", "action": {"query": at}});
                (item("in_progress", search.clone()), item("completed", search))
            }
        }
    }

    /// The events between the announcement and the end.
    fn within(&self) -> Vec<(Role, Value)> {
        let mut events = Vec::new();
        match self {
            Self::Reasoning { summary, raw, .. } => {
                for (number, text) in summary.iter().enumerate() {
                    let part = |text: &str| json!({"type": "summary_text", "text": text});
                    let at = ("summary_index", number);
                    let names = ("reasoning_summary_part", "reasoning_summary_text", "text");
                    in_part(&mut events, names, at, text, part);
                }
                if let Some(text) = raw {
                    let part = |text: &str| json!({"type": "reasoning_text", "text": text});
                    let names = ("content_part", "reasoning_text", "text");
                    in_part(&mut events, names, ("content_index", 0), text, part);
                }
            }
            Self::Message { parts } => {
                for (number, (refuses, text)) in parts.iter().enumerate() {
                    let names = match refuses {
                        true => ("content_part", "refusal", "refusal"),
                        false => ("content_part", "output_text", "text"),
                    };
                    let at = ("content_index", number);
                    in_part(&mut events, names, at, text, |text| part(*refuses, text));
                }
            }
            Self::Call { input } => {
                streamed(&mut events, "function_call_arguments", "arguments", None, input);
            }
            Self::CustomCall { input } => {
                streamed(&mut events, "custom_tool_call_input", "input", None, input);
            }
            Self::Search => {
                events
                    .push((Role::Progress, json!({"type": "response.web_search_call.searching"})));
            }
        }
        events
    }
}

/// JSON arguments that contain the text, split into two deltas.
fn as_json(at: usize, pieces: &Pieces) -> Pieces {
    let text = json!({"at": at, "text": pieces.concat()}).to_string();
    let middle = (0..=text.len() / 2).rev().find(|at| text.is_char_boundary(*at)).unwrap();
    vec![text[..middle].to_owned(), text[middle..].to_owned()]
}

fn part(refuses: bool, text: &str) -> Value {
    if refuses {
        return json!({"type": "refusal", "refusal": text});
    }
    json!({"type": "output_text", "text": text, "annotations": [], "logprobs": []})
}

fn in_part(
    events: &mut Vec<(Role, Value)>,
    (part_events, text_events, field): (&str, &str, &str),
    at: (&str, usize),
    text: &Pieces,
    part: impl Fn(&str) -> Value,
) {
    let event = |edge: &str, text: &str| {
        json!({"type": format!("response.{part_events}.{edge}"),
            at.0: at.1, "part": part(text)})
    };
    events.push((Role::PartAdded, event("added", "")));
    streamed(events, text_events, field, Some(at), text);
    events.push((Role::PartDone, event("done", &text.concat())));
}

fn streamed(
    events: &mut Vec<(Role, Value)>,
    name: &str,
    field: &str,
    at: Option<(&str, usize)>,
    pieces: &Pieces,
) {
    let event = |edge: &str, field: &str, text: &str| {
        let mut event = json!({"type": format!("response.{name}.{edge}"), field: text});
        if let Some((key, number)) = at {
            event[key] = number.into();
        }
        if name == "output_text" {
            event["logprobs"] = json!([]);
        }
        event
    };
    events.extend(pieces.iter().map(|piece| (Role::Delta, event("delta", "delta", piece))));
    events.push((Role::TextDone, event("done", field, &pieces.concat())));
}

/// The stream of an answer, item by item or interleaved.
pub(crate) fn stream(answer: &[Spoken], side_by_side: bool) -> Stream {
    let received = answer.iter().enumerate().map(|(at, item)| events_of(at, item));
    let mut received: Vec<_> = received.map(Vec::into_iter).collect();
    let mut events = Vec::new();
    if side_by_side {
        while received.iter().any(|item| item.len() > 0) {
            events.extend(received.iter_mut().filter_map(Iterator::next));
        }
    } else {
        events.extend(received.into_iter().flatten());
    }
    let output = answer.iter().enumerate().map(|(at, item)| item.items(at).1).collect();
    Stream { events, output, count: answer.len() }
}

fn events_of(at: usize, item: &Spoken) -> Vec<Sent> {
    let (begun, ended) = item.items(at);
    let id = begun["id"].clone();
    let item_event = |edge: &str, item: Value| {
        json!({"type": format!("response.output_item.{edge}"), "output_index": at,
            "item": item})
    };
    let mut events = vec![(Role::Added, item_event("added", begun))];
    for (role, mut event) in item.within() {
        event["item_id"] = id.clone();
        event["output_index"] = at.into();
        events.push((role, event));
    }
    events.push((Role::Done, item_event("done", ended)));
    events.into_iter().map(|(role, json)| Sent { of: Some((at, role)), json }).collect()
}
