//! The items of an answer.

use super::calls::Calls;
use super::fragment::{self, Fragment, Payload};
use super::item_emitter::{ItemEmitter, Items};
use super::message::{Message, convert_annotation};
use super::reasoning::Reasoning;
use crate::dialect::RequestContext;
use crate::json::{Object, objects};
use crate::stream::{Assembler, DeltaKind, Status};

/// The items of an answer: one message and the calls, which stay open until the end of the answer,
/// and reasoning, which ends when another item begins. An empty text begins no item.
#[derive(Debug)]
pub(super) struct Answer {
    items: Items,
    reasoning: Reasoning,
    message: Message,
    calls: Calls,
}

impl Answer {
    /// An empty answer to this request.
    pub(super) fn new(context: RequestContext) -> Self {
        Self {
            items: Items::default(),
            reasoning: Reasoning::new(context.origin.clone()),
            message: Message::default(),
            calls: Calls::new(context),
        }
    }

    /// Whether the answer has an item.
    pub(super) fn has_output(&self) -> bool {
        !self.items.is_empty() || !self.calls.is_empty()
    }

    /// Applies a delta or a whole message.
    pub(super) fn apply(
        &mut self,
        delta: &Object<'_>,
        left_out: &mut LeftOut,
        assembler: &mut Assembler,
    ) {
        self.apply_reasoning(delta, assembler);
        if let Some(content) = delta.present("content") {
            self.apply_content(content, left_out, assembler);
        }
        if let Some(refusal) = delta.get("refusal") {
            self.append(DeltaKind::Refusal, refusal, assembler);
        }
        self.apply_calls(delta, left_out, assembler);
        if let Some(annotations) = delta.present("annotations") {
            self.apply_annotations(annotations, left_out, assembler);
        }
        for (field, _) in delta.iter().filter(|(field, raw)| !is_decoded(field, raw)) {
            left_out.note("field of a message", field, assembler);
        }
    }

    /// Adds log probabilities of the text that follows.
    pub(super) fn apply_logprobs(&mut self, logprobs: &Object<'_>) {
        self.message.apply_logprobs(logprobs);
    }

    /// Ends the answer. If a limit ended it, the item with the last output stays open as
    /// incomplete, and earlier items are complete. After a failure, all items stay as they are.
    pub(super) fn end(
        &mut self,
        status: Status,
        left_out: &mut LeftOut,
        assembler: &mut Assembler,
    ) {
        if status == Status::Failed {
            return;
        }
        let mut emitter = self.items.emitter(assembler);
        self.calls.announce_last(&mut emitter);
        self.reasoning.end(&mut emitter);
        let unfinished = self.items.last().filter(|_| status == Status::Incomplete);
        self.calls.complete(unfinished, left_out, &mut self.items.emitter(assembler));
        for index in self.items.indexes().filter(|index| Some(*index) != unfinished) {
            assembler.close_item(index);
        }
    }

    fn apply_reasoning(&mut self, delta: &Object<'_>, assembler: &mut Assembler) {
        if Reasoning::is_in(delta) {
            let mut emitter = self.items.emitter(assembler);
            self.calls.announce_last(&mut emitter);
            self.reasoning.apply(delta, &mut emitter);
        }
    }

    /// Applies a content: a text or, from some servers, a list of parts.
    fn apply_content(&mut self, content: &str, left_out: &mut LeftOut, assembler: &mut Assembler) {
        if !content.starts_with('[') {
            self.append(DeltaKind::Output, content, assembler);
            return;
        }
        for part in objects(content) {
            let kind = part.string("type").unwrap_or_default();
            match &*kind {
                "text" | "output_text" => {
                    self.append(DeltaKind::Output, part.get("text").unwrap_or_default(), assembler);
                }
                "refusal" => {
                    self.append(
                        DeltaKind::Refusal,
                        part.get("refusal").unwrap_or_default(),
                        assembler,
                    );
                }
                other => left_out.note("content part", other, assembler),
            }
        }
    }

    /// Appends to the message, unless `raw` is empty or not a string.
    fn append(&mut self, spoken: DeltaKind, raw: &str, assembler: &mut Assembler) {
        if raw.starts_with('"') && raw.len() > 2 {
            let mut emitter = self.items.emitter(assembler);
            prepare_for_message(&mut self.reasoning, &mut self.calls, &mut emitter);
            self.message.append(spoken, raw, &mut emitter);
        }
    }

    fn apply_calls(
        &mut self,
        delta: &Object<'_>,
        left_out: &mut LeftOut,
        assembler: &mut Assembler,
    ) {
        self.calls.begin_delta();
        for call in objects(delta.get("tool_calls").unwrap_or_default()) {
            let payload = Payload::from_call(&call);
            self.apply_call(&Fragment::from_tool_call(&call, &payload), assembler);
            for (field, _) in call.iter().filter(|(field, raw)| fragment::is_left_out(field, raw)) {
                left_out.note("field of a tool call", field, assembler);
            }
        }
        let call = delta.object("function_call");
        if let Some(call) = call {
            self.apply_call(&Fragment::from_function_call(&call), assembler);
        }
    }

    fn apply_call(&mut self, fragment: &Fragment<'_>, assembler: &mut Assembler) {
        if !fragment.is_empty() {
            let mut emitter = self.items.emitter(assembler);
            self.reasoning.end(&mut emitter);
            self.calls.apply(fragment, &mut emitter);
        }
    }

    fn apply_annotations(
        &mut self,
        annotations: &str,
        left_out: &mut LeftOut,
        assembler: &mut Assembler,
    ) {
        for given in objects(annotations) {
            match convert_annotation(&given) {
                Ok(annotation) => {
                    let mut emitter = self.items.emitter(assembler);
                    prepare_for_message(&mut self.reasoning, &mut self.calls, &mut emitter);
                    self.message.annotate(&annotation, &mut emitter);
                }
                Err(kind) => left_out.note("annotation", &kind, assembler),
            }
        }
    }
}

/// Prepares for output of the message: reasoning ends, and the name of a call is complete.
fn prepare_for_message(
    reasoning: &mut Reasoning,
    calls: &mut Calls,
    emitter: &mut ItemEmitter<'_>,
) {
    reasoning.end(emitter);
    calls.announce_last(emitter);
}

/// Whether a field of a message is decoded, or is empty.
fn is_decoded(field: &str, raw: &str) -> bool {
    match field {
        "content" => raw.starts_with(['"', '[']) || is_empty(raw),
        "refusal" | "reasoning_content" | "reasoning" => raw.starts_with('"') || is_empty(raw),
        "reasoning_details" | "tool_calls" | "annotations" => raw.starts_with('[') || is_empty(raw),
        "function_call" => raw.starts_with('{') || is_empty(raw),
        "role" => true,
        _ => is_empty(raw),
    }
}

/// The maximum of kinds to note. It exceeds the known kinds, and bounds the notes about a server
/// that invents field names.
const MAX_KINDS: usize = 32;

/// The parts that a response cannot carry. Each kind is noted once.
#[derive(Default)]
pub(super) struct LeftOut {
    kinds: Vec<(&'static str, String)>,
}

impl LeftOut {
    /// Notes that a part of this kind with this `name` is left out.
    pub(super) fn note(&mut self, kind: &'static str, name: &str, assembler: &mut Assembler) {
        let is_noted = self.kinds.iter().any(|(noted, of)| *noted == kind && of == name);
        if is_noted || self.kinds.len() == MAX_KINDS {
            return;
        }
        self.kinds.push((kind, name.to_owned()));
        match name {
            "" => assembler.leave_out(kind),
            name => assembler.leave_out(format!("{kind} '{name}'")),
        }
    }
}

/// Whether a raw value is empty, so that leaving it out loses nothing.
pub(super) fn is_empty(raw: &str) -> bool {
    matches!(raw, "null" | "false" | r#""""# | "[]" | "{}")
}
