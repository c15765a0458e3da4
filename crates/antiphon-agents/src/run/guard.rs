//! Guardrails of the input, before the first request and beside it.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use super::Run;
use super::effect::{Done, Effect};
use crate::guardrail::{InputGuardrail, Verdict};
use crate::machine::ModelAnswer;
use crate::model::{AnswerEvent, EventKind, ModelError};

/// The progress of the checks of the input.
///
/// ```text
/// Due -> Begun -> Running -> Passed
/// Resumed --'        '-----> Tripped, until the answer has ended
/// ```
pub(super) enum InputCheck {
    /// The guardrails before the first request come next.
    Due,
    /// Another process has sent the first request: all guardrails come before the next step.
    Resumed,
    /// The guardrails beside the first request come next.
    Begun,
    /// The guardrails run beside the first request. The events of its answer wait for them.
    Running { verdict: FutureVerdict, held: Vec<ReceivedEvent> },
    /// The guardrail with this name rejected the input. A server stores the answer, so the run
    /// waits for it.
    Tripped(String),
    /// Nothing is left to check.
    Passed,
}

/// Ends with the name of the guardrail that rejects the input, or with `None`.
type FutureVerdict = Pin<Box<dyn Future<Output = Option<String>> + Send>>;

/// An event of an answer; `None` at its end.
type ReceivedEvent = Option<Result<AnswerEvent, ModelError>>;

impl<C: Send + Sync + 'static> Run<C> {
    /// The check of the input before a run continues whose first request was sent already.
    pub(super) fn check_resumed_input(&mut self) -> Option<Effect> {
        if !matches!(self.input_check, InputCheck::Resumed) {
            return None;
        }
        self.input_check = InputCheck::Passed;
        let parts = self.team.parts(self.machine.view().agent())?;
        let both = [&parts.input_guardrails[..], &parts.concurrent_guardrails[..]];
        self.check_before(both.concat())
    }

    /// The check of the input before the first request. The next call starts the guardrails beside
    /// the request.
    pub(super) fn check_input(&mut self) -> Option<Effect> {
        let parts = Arc::clone(self.team.parts(self.machine.view().agent())?);
        if matches!(self.input_check, InputCheck::Due) {
            self.input_check = InputCheck::Begun;
            if let Some(check) = self.check_before(parts.input_guardrails.clone()) {
                return Some(check);
            }
        }
        if matches!(self.input_check, InputCheck::Begun) {
            let guardrails = parts.concurrent_guardrails.clone();
            self.input_check = match guardrails.is_empty() {
                true => InputCheck::Passed,
                false => {
                    InputCheck::Running { verdict: self.verdict(guardrails), held: Vec::new() }
                }
            };
        }
        None
    }

    fn check_before(&self, guardrails: Vec<Arc<dyn InputGuardrail<C>>>) -> Option<Effect> {
        if guardrails.is_empty() {
            return None;
        }
        let verdict = self.verdict(guardrails);
        Some(Effect::new(async move {
            let tripped = verdict.await;
            Done::record(move |machine| {
                if let Some(guardrail) = tripped {
                    machine.trip(&guardrail);
                }
            })
        }))
    }

    fn verdict(&self, guardrails: Vec<Arc<dyn InputGuardrail<C>>>) -> FutureVerdict {
        let (context, input) = (Arc::clone(&self.context), self.machine.view().input());
        Box::pin(async move {
            for guardrail in &guardrails {
                if guardrail.check(&context, &input).await == Verdict::Trip {
                    return Some(guardrail.name().to_owned());
                }
            }
            None
        })
    }

    /// Continues the guardrails beside the first request. Returns whether they have ended.
    pub(super) fn poll_input_check(&mut self, context: &mut Context<'_>) -> bool {
        let InputCheck::Running { verdict, held } = &mut self.input_check else { return false };
        let Poll::Ready(tripped) = verdict.as_mut().poll(context) else { return false };
        let held = std::mem::take(held);
        match tripped {
            None => {
                self.input_check = InputCheck::Passed;
                for event in held {
                    self.take_answer(event);
                }
            }
            Some(guardrail) => {
                self.input_check = InputCheck::Tripped(guardrail);
                match held.last() {
                    Some(last) if is_end(last) => self.trip_input(answer_of(last)),
                    // A server may store the answer of a cancelled request later.
                    _ if self.conversation().is_some() && self.is_asking() => {}
                    _ => self.trip_input(None),
                }
            }
        }
        true
    }

    /// Whether the answer has ended, and its events wait for a guardrail.
    pub(super) fn awaits_input_check(&self) -> bool {
        match &self.input_check {
            InputCheck::Running { held, .. } => held.last().is_some_and(is_end),
            _ => false,
        }
    }

    /// Takes an event of the answer, unless a guardrail beside the request holds it or rejected the
    /// input.
    pub(super) fn receive(&mut self, event: ReceivedEvent) {
        match &mut self.input_check {
            InputCheck::Running { held, .. } => {
                if is_end(&event) {
                    self.answer = None;
                }
                held.push(event);
            }
            InputCheck::Tripped(_) if is_end(&event) => self.trip_input(answer_of(&event)),
            InputCheck::Tripped(_) => {}
            _ => self.take_answer(event),
        }
    }

    /// Ends the run because a guardrail rejected the input. `answer` is the answer to it.
    fn trip_input(&mut self, answer: Option<ModelAnswer>) {
        let check = std::mem::replace(&mut self.input_check, InputCheck::Passed);
        let InputCheck::Tripped(guardrail) = check else { return };
        self.abort_request();
        match answer {
            Some(answer) => self.machine.trip_answered(&guardrail, &answer),
            None => self.machine.trip(&guardrail),
        }
    }
}

/// Whether nothing follows this event.
fn is_end(event: &ReceivedEvent) -> bool {
    match event {
        Some(Ok(event)) => matches!(event.kind(), EventKind::Completed(_)),
        Some(Err(_)) | None => true,
    }
}

/// The answer that ends with this event.
fn answer_of(event: &ReceivedEvent) -> Option<ModelAnswer> {
    match event.as_ref()?.as_ref().ok()?.kind() {
        EventKind::Completed(answered) => Some(answered.into()),
        _ => None,
    }
}
