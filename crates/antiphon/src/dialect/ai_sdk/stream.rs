//! The decoder of AI SDK streams.

use std::collections::HashSet;

use bytes::Bytes;
use serde_json::value::RawValue;

use super::calls::Calls;
use super::ending::{Ending, Reason};
use super::failure;
use super::input::Level;
use super::part::Part;
use super::reasoning::Reasonings;
use super::teller::Teller;
use super::texts::Texts;
use crate::dialect::Asked;
use crate::dialect::listener::Decode;
use crate::dialect::usage::Usage;
use crate::json::Object;
use crate::stream::Assembler;

/// How many types of parts that nobody knows are named.
const MAX_UNKNOWN: usize = 16;

/// The kind of a `custom` part that says no more than `response-metadata`.
const MESSAGE_START: &str = "anthropic.message_start";

/// Hears the parts of one answer: a model's, or all steps of a run.
///
/// ```text
///   of a model:  stream-start ── response-metadata ── contents … ── finish
///   of a run:    start ── (start-step ── contents … ── finish-step) … ── finish
///   in either:   error, or abort: the end
/// ```
///
/// A run whose stream stops after a `finish-step` has ended with that step.
pub(in crate::dialect) struct Stream {
    count: u64,
    texts: Texts,
    reasonings: Reasonings,
    calls: Calls,
    /// What the steps have taken together.
    usage: Option<Usage>,
    /// The end of the last step, while no other has begun.
    step_end: Option<Ending>,
    unknown: HashSet<String>,
}

impl Stream {
    pub(in crate::dialect) fn new(asked: Asked) -> Self {
        Self {
            count: 0,
            texts: Texts::default(),
            reasonings: Reasonings::new(asked.origin.clone()),
            calls: Calls::new(asked),
            usage: None,
            step_end: None,
            unknown: HashSet::new(),
        }
    }

    fn take(&mut self, part: Part<'_>, assembler: &mut Assembler) {
        let Some(kind) = part.kind() else {
            if part.get("error").is_some() {
                assembler.fail(failure::of(part));
            }
            return;
        };
        if self.hear_reasoning(&kind, part, assembler) || says_nothing(&kind, part) {
            return;
        }
        self.reasonings.end_concluded(&mut Teller::new(assembler, &mut self.count));
        match &*kind {
            "start" | "start-step" => self.begin_step(assembler),
            "response-metadata" => begin(part, assembler),
            "finish-step" => self.end_step(part, assembler),
            "finish" => self.finish(part, assembler),
            "error" => assembler.fail(failure::of(part)),
            "abort" => assembler.fail(failure::aborted(part)),
            _ => self.hear_content(&kind, part, assembler),
        }
    }

    /// Whether the part is one of reasoning, which is heard.
    fn hear_reasoning(&mut self, kind: &str, part: Part<'_>, assembler: &mut Assembler) -> bool {
        let teller = &mut Teller::new(assembler, &mut self.count);
        match kind {
            "reasoning-start" => self.reasonings.start(part, teller),
            "reasoning-delta" => self.reasonings.delta(part, teller),
            "reasoning-end" => self.reasonings.end(part, teller),
            _ => return false,
        }
        true
    }

    fn hear_content(&mut self, kind: &str, part: Part<'_>, assembler: &mut Assembler) {
        let teller = &mut Teller::new(assembler, &mut self.count);
        match kind {
            "text-start" => self.texts.start(part, teller),
            "text-delta" => self.texts.delta(part, teller),
            "text-end" => self.texts.end(part, teller),
            "tool-input-start" => self.calls.start(part, teller),
            "tool-input-delta" => self.calls.delta(part, teller),
            "tool-call" => self.calls.call(part, teller),
            "tool-result" => self.calls.result(part, teller),
            "tool-error" => self.calls.error(part, teller),
            "tool-output-denied" => self.calls.denied(part, teller),
            "file"
            | "source"
            | "custom"
            | "reasoning-file"
            | "tool-approval-request"
            | "tool-approval-response" => teller.extension(kind, &part.to_text()),
            _ => self.note_unknown(kind, assembler),
        }
    }

    fn begin_step(&mut self, assembler: &mut Assembler) {
        self.calls.level = Level::Full;
        self.step_end = None;
        self.end_items(assembler);
        assembler.begin(&Object::default());
    }

    /// A step has ended. Where the model did not end well, its items are left to the response's
    /// end.
    fn end_step(&mut self, part: Part<'_>, assembler: &mut Assembler) {
        let ending = Ending::of(part, "usage");
        if ending.reason == Reason::Done {
            self.end_items(assembler);
        }
        let known = self.usage.zip(ending.usage).map(|(before, step)| before + step);
        self.usage = known.or(self.usage).or(ending.usage);
        self.step_end = Some(Ending { usage: self.usage, ..ending });
    }

    fn finish(&mut self, part: Part<'_>, assembler: &mut Assembler) {
        let ending = Ending::of(part, "totalUsage");
        let model = self.step_end.take().and_then(|step| step.model);
        let usage = ending.usage.or(self.usage);
        self.end(Ending { usage, model: ending.model.or(model), ..ending }, assembler);
    }

    fn end(&mut self, ending: Ending, assembler: &mut Assembler) {
        if ending.reason == Reason::Done {
            self.end_items(assembler);
        }
        let teller = &mut Teller::new(assembler, &mut self.count);
        self.calls.leave_out(teller);
        ending.tell(teller);
    }

    fn end_items(&mut self, assembler: &mut Assembler) {
        let teller = &mut Teller::new(assembler, &mut self.count);
        self.reasonings.end_all(teller);
        self.texts.end_all(teller);
        self.calls.end_all(teller);
    }

    fn note_unknown(&mut self, kind: &str, assembler: &mut Assembler) {
        if self.unknown.len() < MAX_UNKNOWN && self.unknown.insert(kind.to_owned()) {
            assembler.leave_out(format!("stream part '{kind}'"));
        }
    }

    /// One part of a whole answer's content: a text and a reasoning come whole.
    fn hear_whole_part(&mut self, part: Part<'_>, assembler: &mut Assembler) {
        let teller = &mut Teller::new(assembler, &mut self.count);
        match part.kind().as_deref() {
            Some("text") => {
                self.texts.delta(part, teller);
                self.texts.end(part, teller);
            }
            Some("reasoning") => {
                self.reasonings.delta(part, teller);
                self.reasonings.end(part, teller);
            }
            _ => self.take(part, assembler),
        }
    }
}

impl Decode for Stream {
    fn decode(&mut self, data: &Bytes, assembler: &mut Assembler) -> Result<(), serde_json::Error> {
        let object = Object::parse(data)?;
        self.take(Part::new(&object), assembler);
        Ok(())
    }

    /// The result of `doGenerate`. An object without content is a failure.
    fn decode_whole(
        &mut self,
        body: &Bytes,
        assembler: &mut Assembler,
    ) -> Result<(), serde_json::Error> {
        let object = Object::parse(body)?;
        let answer = Part::new(&object);
        let contents = answer.get("content").and_then(|raw| serde_json::from_str(raw).ok());
        let Some(contents): Option<Vec<&RawValue>> = contents else {
            assembler.fail(failure::of(answer));
            return Ok(());
        };
        for content in contents {
            let content = Object::parse(content.get().as_bytes())?;
            self.hear_whole_part(Part::new(&content), assembler);
        }
        self.finish(answer, assembler);
        Ok(())
    }

    fn finish(&mut self, assembler: &mut Assembler) {
        if let Some(ending) = self.step_end.take() {
            self.end(ending, assembler);
        }
    }
}

/// Whether a part tells nothing of the answer.
fn says_nothing(kind: &str, part: Part<'_>) -> bool {
    matches!(kind, "raw" | "ping" | "stream-start" | "tool-input-end")
        || kind == "custom" && part.string("kind").as_deref() == Some(MESSAGE_START)
}

/// The response begins, as far as a model says what it is.
fn begin(metadata: Part<'_>, assembler: &mut Assembler) {
    let model = metadata.get("modelId").map(|model| ("model", model));
    assembler.begin(&model.into_iter().collect());
}
