//! Chats in both forms: as messages and as items.

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

use super::*;

/// An event in a chat.
#[derive(Clone, Debug)]
pub(in crate::dialect::chat) enum Event {
    User { text: &'static str, shows: Option<Shown> },
    Answer(Answer),
    Step { thought: Option<Thought>, says: Option<&'static str>, calls: Vec<Call> },
    Instruction(&'static str),
}

/// The end of a turn of the model.
#[derive(Clone, Debug)]
pub(in crate::dialect::chat) struct Answer {
    thought: Option<Thought>,
    text: Option<&'static str>,
    /// With the text, or instead of it.
    refusal: Option<&'static str>,
}

#[derive(Clone, Copy, Debug)]
pub(in crate::dialect::chat) enum Shown {
    Image,
    File,
    Sound,
}

#[derive(Clone, Copy, Debug)]
pub(in crate::dialect::chat) enum Thought {
    Content(&'static str),
    Details(&'static str),
}

#[derive(Clone, Copy, Debug)]
pub(in crate::dialect::chat) struct Call {
    is_custom: bool,
    result: &'static str,
}

fn text() -> impl Strategy<Value = &'static str> {
    proptest::sample::select(&["yes", "What is \"it\"?", "Ünï\n\u{1F600}\\", "  "][..])
}

fn thought() -> impl Strategy<Value = Option<Thought>> {
    let thought = prop_oneof![text().prop_map(Thought::Content), text().prop_map(Thought::Details)];
    option::of(thought)
}

fn user() -> impl Strategy<Value = Event> {
    let shown = proptest::sample::select(&[Shown::Image, Shown::File, Shown::Sound][..]);
    (text(), option::weighted(0.3, shown)).prop_map(|(text, shows)| Event::User { text, shows })
}

fn step() -> impl Strategy<Value = Event> {
    let call = (any::<bool>(), text()).prop_map(|(is_custom, result)| Call { is_custom, result });
    (thought(), option::of(text()), vec(call, 1..4))
        .prop_map(|(thought, says, calls)| Event::Step { thought, says, calls })
}

fn answer() -> impl Strategy<Value = Event> {
    let reply = prop_oneof![
        text().prop_map(|text| (Some(text), None)),
        text().prop_map(|refusal| (None, Some(refusal))),
        (text(), text()).prop_map(|(text, refusal)| (Some(text), Some(refusal))),
    ];
    (thought(), reply)
        .prop_map(|(thought, (text, refusal))| Event::Answer(Answer { thought, text, refusal }))
}

/// A chat without adjacent assistant messages or adjacent instructions.
pub(in crate::dialect::chat) fn chats() -> impl Strategy<Value = Vec<Event>> {
    let turn = (user(), vec(step(), 0..3), option::of(answer()), option::weighted(0.2, text()));
    let turns = vec(turn, 0..4);
    (option::of(text()), turns).prop_map(|(instructions, turns)| {
        let mut chat: Vec<Event> = instructions.map(Event::Instruction).into_iter().collect();
        for (user, steps, answer, instruction) in turns {
            chat.push(user);
            chat.extend(steps);
            chat.extend(answer);
            chat.extend(instruction.map(Event::Instruction));
        }
        chat
    })
}

/// The chat as messages.
pub(in crate::dialect::chat) fn messages(chat: &[Event]) -> Value {
    let mut messages = Vec::new();
    for (position, event) in chat.iter().enumerate() {
        match event {
            Event::Instruction(text) => messages.push(json!({"role": "system", "content": text})),
            Event::User { text, shows } => {
                let shown = shows.map(|shown| shown.in_a_message(text));
                let content = shown.unwrap_or_else(|| json!(text));
                messages.push(json!({"role": "user", "content": content}));
            }
            Event::Answer(Answer { thought, text, refusal }) => {
                let mut message = json!({"role": "assistant", "content": text});
                if let Some(refusal) = refusal {
                    message["refusal"] = json!(refusal);
                }
                messages.push(with(message, *thought));
            }
            Event::Step { thought, says, calls } => {
                let numbered = || calls.iter().enumerate();
                let called = numbered().map(|(nth, call)| call.in_a_message(position, nth));
                let message = json!({"role": "assistant", "content": says,
                    "tool_calls": called.collect::<Vec<_>>()});
                messages.push(with(message, *thought));
                messages.extend(numbered().map(|(nth, call)| {
                    json!({"role": "tool", "tool_call_id": call_id(position, nth),
                        "content": call.result})
                }));
            }
        }
    }
    Value::Array(messages)
}

/// The chat as items without ids.
pub(in crate::dialect::chat) fn items_of_chat(chat: &[Event]) -> Vec<Value> {
    let mut items = Vec::new();
    for (position, event) in chat.iter().enumerate() {
        match event {
            Event::Instruction(text) => {
                items.push(json!({"type": "message", "role": "system", "content": text}));
            }
            Event::User { text, shows } => {
                let content = shows.map_or(json!(text), |shown| shown.in_an_item(text));
                items.push(json!({"type": "message", "role": "user", "content": content}));
            }
            Event::Answer(Answer { thought, text, refusal }) => {
                items.extend(thought.map(Thought::item));
                let text = text.map(|text| spoken(text)["content"][0].clone());
                let refusal = refusal.map(|text| json!({"type": "refusal", "refusal": text}));
                let content: Vec<Value> = text.into_iter().chain(refusal).collect();
                items.push(json!({"type": "message", "role": "assistant", "content": content}));
            }
            Event::Step { thought, says, calls } => {
                items.extend(thought.map(Thought::item));
                items.extend(says.map(spoken));
                let numbered = || calls.iter().enumerate();
                items.extend(numbered().map(|(nth, call)| call.item(position, nth)));
                items.extend(numbered().map(|(nth, call)| call.output_item(position, nth)));
            }
        }
    }
    items
}

/// Call ids restart in every second step.
fn call_id(position: usize, nth: usize) -> String {
    if position.is_multiple_of(2) {
        format!("call_{nth}")
    } else {
        format!("call_{position}_{nth}")
    }
}

fn with(mut message: Value, thought: Option<Thought>) -> Value {
    if let Some(thought) = thought {
        let fields = thought.fields();
        message.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    }
    message
}

impl Thought {
    fn fields(self) -> Value {
        match self {
            Self::Content(text) => json!({"reasoning_content": text}),
            Self::Details(text) => json!({"reasoning": text,
                "reasoning_details": [{"type": "reasoning.text", "text": text}]}),
        }
    }

    fn item(self) -> Value {
        let (Self::Content(text) | Self::Details(text)) = self;
        json!({"type": "reasoning", "summary": [],
            "content": [{"type": "reasoning_text", "text": text}],
            "encrypted_content": sealed(&self.fields())})
    }
}

impl Shown {
    fn in_a_message(self, text: &str) -> Value {
        let shown = match self {
            Self::Image => json!({"type": "image_url", "image_url": {"url": "data:x"}}),
            Self::File => json!({"type": "file", "file": {"file_data": "data:y"}}),
            Self::Sound => json!({"type": "input_audio", "input_audio": {"data": "AA"}}),
        };
        json!([{"type": "text", "text": text}, shown])
    }

    fn in_an_item(self, text: &str) -> Value {
        let shown = match self {
            Self::Image => json!({"type": "input_image", "image_url": "data:x"}),
            Self::File => json!({"type": "input_file", "file_data": "data:y"}),
            Self::Sound => json!({"type": "input_audio", "input_audio": {"data": "AA"}}),
        };
        json!([{"type": "input_text", "text": text}, shown])
    }
}

impl Call {
    fn in_a_message(self, position: usize, nth: usize) -> Value {
        let id = call_id(position, nth);
        if self.is_custom {
            return json!({"id": id, "type": "custom", "custom": {"name": "run", "input": "ls"}});
        }
        json!({"id": id, "type": "function", "function": {"name": "f", "arguments": "{}"}})
    }

    fn item(self, position: usize, nth: usize) -> Value {
        let id = call_id(position, nth);
        if self.is_custom {
            return json!({"type": "custom_tool_call", "call_id": id, "name": "run", "input": "ls"});
        }
        function_call(&id)
    }

    fn output_item(self, position: usize, nth: usize) -> Value {
        let kind = if self.is_custom { "custom_tool_call_output" } else { "function_call_output" };
        json!({"type": kind, "call_id": call_id(position, nth), "output": self.result})
    }
}
