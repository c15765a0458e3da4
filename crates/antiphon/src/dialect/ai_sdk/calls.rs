//! The calls of an answer, and what their tools gave.

use std::collections::HashMap;

use super::call::{Call, Runner};
use super::failure;
use super::input::Level;
use super::part::Part;
use super::teller::Teller;
use super::tool::Form;
use crate::dialect::Asked;
use crate::json::quote;

/// All calls, by their `toolCallId`. Within a step one id is one call; some servers count their ids
/// anew with every answer, so that in a later step it is another one.
pub(super) struct Calls {
    asked: Asked,
    /// In the order in which they began.
    calls: Vec<Call>,
    /// The latest of each id.
    by_id: HashMap<String, usize>,
    /// How many calls had begun when the step did.
    before_step: usize,
    pub(super) level: Level,
}

impl Calls {
    pub(super) fn new(asked: Asked) -> Self {
        Self {
            asked,
            calls: Vec::new(),
            by_id: HashMap::new(),
            before_step: 0,
            level: Level::default(),
        }
    }

    /// `tool-input-start`
    pub(super) fn start(&mut self, part: Part<'_>, teller: &mut Teller<'_>) {
        let at = self.of_step(&part.id());
        self.calls[at].start(part, &self.asked, teller);
    }

    /// `tool-input-delta`
    pub(super) fn delta(&mut self, part: Part<'_>, teller: &mut Teller<'_>) {
        if let Some(piece) = part.delta() {
            let at = self.of_step(&part.id());
            self.calls[at].piece(piece, teller);
        }
    }

    /// `tool-call`
    pub(super) fn call(&mut self, part: Part<'_>, teller: &mut Teller<'_>) {
        let at = self.of_step(&part.id());
        self.calls[at].make(part, &self.asked, self.level, teller);
    }

    /// `tool-result`: what the tool gave. Of several preliminary results and a final one, the final
    /// one says all.
    pub(super) fn result(&mut self, part: Part<'_>, teller: &mut Teller<'_>) {
        if !part.is_true("preliminary") {
            let given = part.get("output").or_else(|| part.get("result")).unwrap_or("null");
            let output = if given.starts_with('"') { given.to_owned() } else { quote(given) };
            self.answer(part, &output, teller);
        }
    }

    /// `tool-error`: the tool failed, or its input was invalid.
    pub(super) fn error(&mut self, part: Part<'_>, teller: &mut Teller<'_>) {
        let message = failure::message(part.get("error"));
        let message = message.unwrap_or_else(|| "The tool failed without saying why.".into());
        self.answer(part, &quote(&message), teller);
    }

    /// `tool-output-denied`: somebody did not let the tool run.
    pub(super) fn denied(&mut self, part: Part<'_>, teller: &mut Teller<'_>) {
        self.answer(part, r#""The tool was not allowed to run.""#, teller);
    }

    /// The step is over: calls that are open end with what was said of them.
    pub(super) fn end_all(&mut self, teller: &mut Teller<'_>) {
        for call in &mut self.calls[self.before_step..] {
            call.close(teller);
        }
        self.before_step = self.calls.len();
    }

    /// The response ends before its calls do.
    pub(super) fn leave_out(&self, teller: &mut Teller<'_>) {
        for call in &self.calls[self.before_step..] {
            call.leave_out(teller);
        }
    }

    /// The output of a call, raw: of one that was told of, of one that the provider runs, or of one
    /// of an earlier answer, which its caller approved in between.
    fn answer(&mut self, part: Part<'_>, output: &str, teller: &mut Teller<'_>) {
        let kind = part.kind().unwrap_or_default();
        let at = self.by_id.get(&*part.id()).copied();
        let call = at.map(|at| &mut self.calls[at]);
        let runner = call.map(|call| {
            if part.get("toolName").is_some() && part.get("input").is_some() {
                call.make(part, &self.asked, self.level, teller);
            }
            call.settle(teller);
            call.runner()
        });
        match (runner, at) {
            (Some(Runner::Client), Some(at)) => self.calls[at].answer(output, teller),
            (Some(Runner::Provider), _) => teller.extension(&kind, &part.to_text()),
            _ if is_providers(part) => teller.extension(&kind, &part.to_text()),
            (None, _) => self.answer_earlier(part, output, teller),
            _ => teller.assembler.leave_out("the output of a call that names no tool"),
        }
    }

    fn answer_earlier(&self, part: Part<'_>, output: &str, teller: &mut Teller<'_>) {
        let is_custom = part.string("toolName").is_some_and(|name| self.asked.is_custom(&name));
        let form = if is_custom { Form::Custom } else { Form::Function };
        teller.whole(&form.output(&quote(&part.id()), output));
    }

    /// The call of this id, which begins if none has begun in this step.
    fn of_step(&mut self, id: &str) -> usize {
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

/// Whether the provider ran the tool: a model's own results (`result`) are always such.
fn is_providers(part: Part<'_>) -> bool {
    let is_models = part.get("result").is_some() && part.get("output").is_none();
    part.is_true("providerExecuted") || is_models
}
