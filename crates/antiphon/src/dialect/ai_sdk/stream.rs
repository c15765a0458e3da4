//! The decoder of AI SDK streams.

use std::collections::HashSet;

use bytes::Bytes;

use super::calls::Calls;
use super::ending::{Ending, Reason, failure_from_abort, failure_from_part};
use super::input::Level;
use super::item_emitter::ItemEmitter;
use super::part::Part;
use super::reasoning::Reasonings;
use super::texts::Texts;
use crate::dialect::RequestContext;
use crate::dialect::stream_decoder::Decode;
use crate::dialect::usage::Usage;
use crate::json::{Object, elements};
use crate::stream::Assembler;

/// The maximum of unknown part types to report.
const MAX_UNKNOWN: usize = 16;

/// The kind of a `custom` part that repeats `response-metadata`.
const MESSAGE_START: &str = "anthropic.message_start";

/// Decodes the parts of one answer: a model's, or all steps of a run.
///
/// ```text
///   of a model:  stream-start ── response-metadata ── contents … ── finish
///   of a run:    start ── (start-step ── contents … ── finish-step) … ── finish
///   both:        error, or abort: the end
/// ```
///
/// A run whose stream ends after a `finish-step` has ended with that step.
pub(in crate::dialect) struct Stream {
    count: u64,
    texts: Texts,
    reasonings: Reasonings,
    calls: Calls,
    /// The total usage of the steps.
    usage: Option<Usage>,
    /// The end of the last step, until another step begins.
    step_end: Option<Ending>,
    unknown: HashSet<String>,
}

impl Stream {
    pub(in crate::dialect) fn new(context: RequestContext) -> Self {
        Self {
            count: 0,
            texts: Texts::default(),
            reasonings: Reasonings::new(context.origin.clone()),
            calls: Calls::new(context),
            usage: None,
            step_end: None,
            unknown: HashSet::new(),
        }
    }

    fn decode_part(&mut self, part: Part<'_>, assembler: &mut Assembler) {
        let Some(kind) = part.kind() else {
            if part.get("error").is_some() {
                assembler.fail(failure_from_part(part));
            }
            return;
        };
        if self.apply_reasoning(&kind, part, assembler) || is_ignored(&kind, part) {
            return;
        }
        self.reasonings.end_complete(&mut ItemEmitter::new(assembler, &mut self.count));
        match &*kind {
            "start" | "start-step" => self.begin_step(assembler),
            "response-metadata" => begin(part, assembler),
            "finish-step" => self.end_step(part, assembler),
            "finish" => self.finish(part, assembler),
            "error" => assembler.fail(failure_from_part(part)),
            "abort" => assembler.fail(failure_from_abort(part)),
            _ => self.apply_content(&kind, part, assembler),
        }
    }

    /// Decodes a part of reasoning. Returns whether the part was one.
    fn apply_reasoning(&mut self, kind: &str, part: Part<'_>, assembler: &mut Assembler) -> bool {
        let emitter = &mut ItemEmitter::new(assembler, &mut self.count);
        match kind {
            "reasoning-start" => self.reasonings.start(part, emitter),
            "reasoning-delta" => self.reasonings.delta(part, emitter),
            "reasoning-end" => self.reasonings.end(part, emitter),
            _ => return false,
        }
        true
    }

    fn apply_content(&mut self, kind: &str, part: Part<'_>, assembler: &mut Assembler) {
        let emitter = &mut ItemEmitter::new(assembler, &mut self.count);
        match kind {
            "text-start" => self.texts.start(part, emitter),
            "text-delta" => self.texts.delta(part, emitter),
            "text-end" => self.texts.end(part, emitter),
            "tool-input-start" => self.calls.start(part, emitter),
            "tool-input-delta" => self.calls.delta(part, emitter),
            "tool-call" => self.calls.call(part, emitter),
            "tool-result" => self.calls.result(part, emitter),
            "tool-error" => self.calls.error(part, emitter),
            "tool-output-denied" => self.calls.deny(part, emitter),
            "file"
            | "source"
            | "custom"
            | "reasoning-file"
            | "tool-approval-request"
            | "tool-approval-response" => emitter.extension(kind, &part.to_text()),
            _ => self.note_unknown(kind, assembler),
        }
    }

    fn begin_step(&mut self, assembler: &mut Assembler) {
        self.calls.level = Level::Full;
        self.step_end = None;
        self.end_items(assembler);
        assembler.begin(&Object::default());
    }

    /// Ends a step. If the model did not finish normally, the end of the response ends its items.
    fn end_step(&mut self, part: Part<'_>, assembler: &mut Assembler) {
        let ending = Ending::from_part(part, "usage");
        if ending.reason == Reason::Done {
            self.end_items(assembler);
        }
        let known = self.usage.zip(ending.usage).map(|(before, step)| before + step);
        self.usage = known.or(self.usage).or(ending.usage);
        self.step_end = Some(Ending { usage: self.usage, ..ending });
    }

    fn finish(&mut self, part: Part<'_>, assembler: &mut Assembler) {
        let ending = Ending::from_part(part, "totalUsage");
        let model = self.step_end.take().and_then(|step| step.model);
        let usage = ending.usage.or(self.usage);
        self.end(Ending { usage, model: ending.model.or(model), ..ending }, assembler);
    }

    fn end(&mut self, ending: Ending, assembler: &mut Assembler) {
        if ending.reason == Reason::Done {
            self.end_items(assembler);
        }
        let emitter = &mut ItemEmitter::new(assembler, &mut self.count);
        self.calls.leave_out(emitter);
        ending.end_response(emitter);
    }

    fn end_items(&mut self, assembler: &mut Assembler) {
        let emitter = &mut ItemEmitter::new(assembler, &mut self.count);
        self.reasonings.end_all(emitter);
        self.texts.end_all(emitter);
        self.calls.end_all(emitter);
    }

    fn note_unknown(&mut self, kind: &str, assembler: &mut Assembler) {
        if self.unknown.len() < MAX_UNKNOWN && self.unknown.insert(kind.to_owned()) {
            assembler.leave_out(format!("stream part '{kind}'"));
        }
    }

    /// Decodes one part of an answer that is not streamed, whose texts and reasoning are complete.
    fn apply_whole_part(&mut self, part: Part<'_>, assembler: &mut Assembler) {
        let emitter = &mut ItemEmitter::new(assembler, &mut self.count);
        match part.kind().as_deref() {
            Some("text") => {
                self.texts.delta(part, emitter);
                self.texts.end(part, emitter);
            }
            Some("reasoning") => {
                self.reasonings.delta(part, emitter);
                self.reasonings.end(part, emitter);
            }
            _ => self.decode_part(part, assembler),
        }
    }
}

impl Decode for Stream {
    fn decode(&mut self, data: &Bytes, assembler: &mut Assembler) -> Result<(), serde_json::Error> {
        let object = Object::parse(data)?;
        self.decode_part(Part::new(&object), assembler);
        Ok(())
    }

    /// Decodes the result of `doGenerate`. An object without content is a failure.
    fn decode_whole(
        &mut self,
        body: &Bytes,
        assembler: &mut Assembler,
    ) -> Result<(), serde_json::Error> {
        let object = Object::parse(body)?;
        let answer = Part::new(&object);
        let Some(contents) = answer.get("content").and_then(elements) else {
            assembler.fail(failure_from_part(answer));
            return Ok(());
        };
        for content in contents {
            let content = Object::parse_str(content)?;
            self.apply_whole_part(Part::new(&content), assembler);
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

/// Whether a part contains nothing of the answer.
fn is_ignored(kind: &str, part: Part<'_>) -> bool {
    matches!(kind, "raw" | "ping" | "stream-start" | "tool-input-end")
        || kind == "custom" && part.string("kind").as_deref() == Some(MESSAGE_START)
}

/// Begins the response with the model's name, if it is known.
fn begin(metadata: Part<'_>, assembler: &mut Assembler) {
    let model = metadata.get("modelId").map(|model| ("model", model));
    assembler.begin(&model.into_iter().collect());
}
