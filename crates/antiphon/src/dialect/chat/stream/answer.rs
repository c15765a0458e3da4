//! The items that an answer consists of.

use super::annotation;
use super::calls::Calls;
use super::fragment::{self, Fragment, Payload};
use super::left_out::{LeftOut, is_empty};
use super::message::Message;
use super::reasoning::Reasoning;
use super::teller::{Items, Teller};
use crate::dialect::Asked;
use crate::json::{Object, objects};
use crate::stream::{Assembler, Spoken, Status};

/// One message and the calls, which stay open until the answer's end, and reasoning, which ends when
/// anything else begins. Nothing begins by an empty text.
#[derive(Debug)]
pub(super) struct Answer {
    items: Items,
    reasoning: Reasoning,
    message: Message,
    calls: Calls,
}

impl Answer {
    /// One that has not begun, to a request of which this is known.
    pub(super) fn new(asked: Asked) -> Self {
        Self {
            items: Items::default(),
            reasoning: Reasoning::new(asked.origin.clone()),
            message: Message::default(),
            calls: Calls::new(asked),
        }
    }

    /// Whether anything was said.
    pub(super) fn has_spoken(&self) -> bool {
        !self.items.is_empty() || !self.calls.is_empty()
    }

    /// Takes a delta, or a whole message.
    pub(super) fn hear(
        &mut self,
        said: &Object<'_>,
        left_out: &mut LeftOut,
        assembler: &mut Assembler,
    ) {
        self.hear_reasoning(said, assembler);
        if let Some(content) = said.present("content") {
            self.hear_content(content, left_out, assembler);
        }
        if let Some(refusal) = said.get("refusal") {
            self.say(Spoken::Refusal, refusal, assembler);
        }
        self.hear_calls(said, left_out, assembler);
        if let Some(annotations) = said.present("annotations") {
            self.hear_annotations(annotations, left_out, assembler);
        }
        for (field, _) in said.iter().filter(|(field, raw)| !is_heard(field, raw)) {
            left_out.note("field of a message", field, assembler);
        }
    }

    /// Takes how likely the pieces of the text were that is said next.
    pub(super) fn hear_logprobs(&mut self, logprobs: &Object<'_>) {
        self.message.hear_logprobs(logprobs);
    }

    /// The answer ends. Of one that a limit cut short what spoke last is unfinished, and what came
    /// before is whole; what an upstream broke off stays as it is.
    pub(super) fn end(
        &mut self,
        status: Status,
        left_out: &mut LeftOut,
        assembler: &mut Assembler,
    ) {
        if status == Status::Failed {
            return;
        }
        let mut teller = self.items.told_to(assembler);
        self.calls.settle(&mut teller);
        self.reasoning.end(&mut teller);
        let unfinished = self.items.last().filter(|_| status == Status::Incomplete);
        self.calls.complete(unfinished, left_out, &mut self.items.told_to(assembler));
        for index in self.items.indexes().filter(|index| Some(*index) != unfinished) {
            assembler.close_item(index);
        }
    }

    fn hear_reasoning(&mut self, said: &Object<'_>, assembler: &mut Assembler) {
        if Reasoning::speaks_in(said) {
            let mut teller = self.items.told_to(assembler);
            self.calls.settle(&mut teller);
            self.reasoning.hear(said, &mut teller);
        }
    }

    /// Content is a text or, with some servers, a list of parts.
    fn hear_content(&mut self, content: &str, left_out: &mut LeftOut, assembler: &mut Assembler) {
        if !content.starts_with('[') {
            self.say(Spoken::Output, content, assembler);
            return;
        }
        for part in objects(content) {
            let kind = part.string("type").unwrap_or_default();
            match &*kind {
                "text" | "output_text" => {
                    self.say(Spoken::Output, part.get("text").unwrap_or_default(), assembler);
                }
                "refusal" => {
                    self.say(Spoken::Refusal, part.get("refusal").unwrap_or_default(), assembler);
                }
                other => left_out.note("content part", other, assembler),
            }
        }
    }

    /// The message speaks, unless `raw` is empty or no string.
    fn say(&mut self, spoken: Spoken, raw: &str, assembler: &mut Assembler) {
        if raw.starts_with('"') && raw.len() > 2 {
            let mut teller = self.items.told_to(assembler);
            yield_to_message(&mut self.reasoning, &mut self.calls, &mut teller);
            self.message.say(spoken, raw, &mut teller);
        }
    }

    fn hear_calls(&mut self, said: &Object<'_>, left_out: &mut LeftOut, assembler: &mut Assembler) {
        self.calls.begin_delta();
        for call in objects(said.get("tool_calls").unwrap_or_default()) {
            let payload = Payload::of(&call);
            self.hear_call(&Fragment::of_call(&call, &payload), assembler);
            for (field, _) in call.iter().filter(|(field, raw)| fragment::leaves_out(field, raw)) {
                left_out.note("field of a tool call", field, assembler);
            }
        }
        let call = said.object("function_call");
        if let Some(call) = call {
            self.hear_call(&Fragment::of_function_call(&call), assembler);
        }
    }

    fn hear_call(&mut self, fragment: &Fragment<'_>, assembler: &mut Assembler) {
        if !fragment.is_empty() {
            let mut teller = self.items.told_to(assembler);
            self.reasoning.end(&mut teller);
            self.calls.hear(fragment, &mut teller);
        }
    }

    fn hear_annotations(
        &mut self,
        annotations: &str,
        left_out: &mut LeftOut,
        assembler: &mut Assembler,
    ) {
        for given in objects(annotations) {
            match annotation::in_responses_form(&given) {
                Ok(annotation) => {
                    let mut teller = self.items.told_to(assembler);
                    yield_to_message(&mut self.reasoning, &mut self.calls, &mut teller);
                    self.message.annotate(&annotation, &mut teller);
                }
                Err(kind) => left_out.note("annotation", &kind, assembler),
            }
        }
    }
}

/// The message speaks: reasoning ends, and the name of a call is whole.
fn yield_to_message(reasoning: &mut Reasoning, calls: &mut Calls, teller: &mut Teller<'_>) {
    reasoning.end(teller);
    calls.settle(teller);
}

/// Whether a field of a message is heard, in the form that it has, or says nothing.
fn is_heard(field: &str, raw: &str) -> bool {
    match field {
        "content" => raw.starts_with(['"', '[']) || is_empty(raw),
        "refusal" | "reasoning_content" | "reasoning" => raw.starts_with('"') || is_empty(raw),
        "reasoning_details" | "tool_calls" | "annotations" => raw.starts_with('[') || is_empty(raw),
        "function_call" => raw.starts_with('{') || is_empty(raw),
        "role" => true,
        _ => is_empty(raw),
    }
}
