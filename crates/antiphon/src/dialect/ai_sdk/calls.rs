//! The tool calls of an answer, and their outputs.

use std::collections::HashMap;

use super::call::{Call, Runner};
use super::ending::failure_message;
use super::input::Level;
use super::item_emitter::ItemEmitter;
use super::part::Part;
use super::tool::Form;
use crate::dialect::RequestContext;
use crate::json::quote;

/// All calls by their `toolCallId`. An id identifies one call within a step. In a later step it is
/// another call, because some servers restart their ids with every answer.
pub(super) struct Calls {
    context: RequestContext,
    /// In the order in which the calls began.
    calls: Vec<Call>,
    /// The latest call of each id.
    by_id: HashMap<String, usize>,
    /// The number of calls before the current step.
    before_step: usize,
    pub(super) level: Level,
}

impl Calls {
    pub(super) fn new(context: RequestContext) -> Self {
        Self {
            context,
            calls: Vec::new(),
            by_id: HashMap::new(),
            before_step: 0,
            level: Level::default(),
        }
    }

    /// `tool-input-start`
    pub(super) fn start(&mut self, part: Part<'_>, emitter: &mut ItemEmitter<'_>) {
        let at = self.in_step(&part.id());
        self.calls[at].start(part, &self.context, emitter);
    }

    /// `tool-input-delta`
    pub(super) fn delta(&mut self, part: Part<'_>, emitter: &mut ItemEmitter<'_>) {
        if let Some(piece) = part.delta() {
            let at = self.in_step(&part.id());
            self.calls[at].delta(piece, emitter);
        }
    }

    /// `tool-call`
    pub(super) fn call(&mut self, part: Part<'_>, emitter: &mut ItemEmitter<'_>) {
        let at = self.in_step(&part.id());
        self.calls[at].complete(part, &self.context, self.level, emitter);
    }

    /// `tool-result`: the output of a tool. Preliminary results are ignored, because the final
    /// result contains everything.
    pub(super) fn result(&mut self, part: Part<'_>, emitter: &mut ItemEmitter<'_>) {
        if !part.is_true("preliminary") {
            let given = part.get("output").or_else(|| part.get("result")).unwrap_or("null");
            let output = if given.starts_with('"') { given.to_owned() } else { quote(given) };
            self.emit_output(part, &output, emitter);
        }
    }

    /// `tool-error`: the tool failed, or its input was invalid.
    pub(super) fn error(&mut self, part: Part<'_>, emitter: &mut ItemEmitter<'_>) {
        let message = failure_message(part.get("error"));
        let message = message.unwrap_or_else(|| "The tool failed without an error message.".into());
        self.emit_output(part, &quote(&message), emitter);
    }

    /// `tool-output-denied`: the tool was not allowed to run.
    pub(super) fn deny(&mut self, part: Part<'_>, emitter: &mut ItemEmitter<'_>) {
        self.emit_output(part, r#""The tool was not allowed to run.""#, emitter);
    }

    /// Ends the open calls with their current input, because the step is over.
    pub(super) fn end_all(&mut self, emitter: &mut ItemEmitter<'_>) {
        for call in &mut self.calls[self.before_step..] {
            call.close(emitter);
        }
        self.before_step = self.calls.len();
    }

    /// Reports the unfinished calls at the end of the response.
    pub(super) fn leave_out(&self, emitter: &mut ItemEmitter<'_>) {
        for call in &self.calls[self.before_step..] {
            call.leave_out(emitter);
        }
    }

    /// Emits the raw output of a call. The call can be one of this answer, one that the provider
    /// runs, or one of an earlier answer that has been approved since.
    fn emit_output(&mut self, part: Part<'_>, output: &str, emitter: &mut ItemEmitter<'_>) {
        let kind = part.kind().unwrap_or_default();
        let at = self.by_id.get(&*part.id()).copied();
        let call = at.map(|at| &mut self.calls[at]);
        let runner = call.map(|call| {
            if part.get("toolName").is_some() && part.get("input").is_some() {
                call.complete(part, &self.context, self.level, emitter);
            }
            call.complete_before_output(emitter);
            call.runner()
        });
        match (runner, at) {
            (Some(Runner::Client), Some(at)) => self.calls[at].emit_output(output, emitter),
            (Some(Runner::Provider), _) => emitter.extension(&kind, &part.to_text()),
            _ if is_provider_result(part) => emitter.extension(&kind, &part.to_text()),
            (None, _) => self.emit_earlier_output(part, output, emitter),
            _ => emitter.assembler.leave_out("the output of a call that names no tool"),
        }
    }

    fn emit_earlier_output(&self, part: Part<'_>, output: &str, emitter: &mut ItemEmitter<'_>) {
        let is_custom = part.string("toolName").is_some_and(|name| self.context.is_custom(&name));
        let form = if is_custom { Form::Custom } else { Form::Function };
        emitter.complete_item(&form.output(&quote(&part.id()), output));
    }

    /// The call of this id in the current step. Begins one if there is none.
    fn in_step(&mut self, id: &str) -> usize {
        let known = self.by_id.get(id).copied().filter(|at| *at >= self.before_step);
        if let Some(at) = known {
            return at;
        }
        self.calls.push(Call::new(id));
        let at = self.calls.len() - 1;
        self.by_id.insert(id.to_owned(), at);
        at
    }
}

/// Whether the provider ran the tool. A model's own results have a `result` instead of an `output`.
fn is_provider_result(part: Part<'_>) -> bool {
    let is_models = part.get("result").is_some() && part.get("output").is_none();
    part.is_true("providerExecuted") || is_models
}
