//! The steps of a run: each effect is started, and its result is recorded.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use antiphon::Item;
use futures_util::{Stream, StreamExt};

use super::agent_tool::InnerExchange;
use super::effect::Done;
use super::tools::{EndedCall, ToolCall};
use super::{Run, RunEvent};
use crate::machine::{End, Step, call_key};
use crate::model::{AnswerEvent, EventKind, ModelError, failed_request};
use crate::rules::{FailedRequest, Outcome, RetryVerdict};

impl<C: Send + Sync + 'static> Run<C> {
    /// Starts the next effect. Returns whether anything happened at once.
    fn start_step(&mut self) -> Progress {
        if self.report_machine() {
            return Progress::Continues;
        }
        self.effect = self.check_resumed_input();
        if self.effect.is_some() {
            return Progress::Continues;
        }
        let step = self.machine.step();
        if matches!(step, Step::Ask(_) | Step::Done(_)) {
            self.effect = self.compact(matches!(step, Step::Done(_)));
            if self.effect.is_some() {
                return Progress::Continues;
            }
        }
        self.perform(step)
    }

    fn perform(&mut self, step: Step) -> Progress {
        match step {
            Step::Done(end) => self.end(end),
            Step::Wait(pauses) => {
                self.is_over = true;
                self.events.push_back(RunEvent::Waiting(pauses));
            }
            Step::Review(calls) => calls.iter().for_each(|call| self.review(call)),
            Step::Call(calls) => {
                let started = calls.iter().filter(|call| self.start_tool(call)).count();
                return if started == 0 { Progress::Waits } else { Progress::Continues };
            }
            Step::Cancel(calls) => return self.cancel_tools(&calls),
            Step::View { agent, handoff, items } => {
                self.machine.viewed(self.team.view(&agent, &handoff, items));
            }
            step => self.effect = Some(self.effect_of(step)),
        }
        Progress::Continues
    }

    fn end(&mut self, end: End) {
        self.effect = self.take_end_hooks(&end);
        if self.effect.is_none() {
            self.is_over = true;
            self.trace.ended(&end);
            self.events.push_back(RunEvent::Ended(end));
        }
    }

    fn cancel_tools(&mut self, calls: &[Item]) -> Progress {
        self.tools.cancel();
        if self.tools.calls().next().is_some() {
            return Progress::Waits;
        }
        for call in calls {
            self.machine.call_ended(&call_key(call), Outcome::Cancelled);
        }
        Progress::Continues
    }

    fn review(&mut self, call: &Item) {
        let (key, context) = (call_key(call), self.context_of(call));
        let needs_approval = self.team.needs_approval(self.machine.agent_of(&key), call, &context);
        self.machine.reviewed(&key, needs_approval);
    }

    /// Starts the tool of a call; returns false if it runs already.
    fn start_tool(&mut self, call: &Item) -> bool {
        if self.tools.is_running(call) {
            return false;
        }
        self.tools.start(ToolCall {
            call: call.clone(),
            context: self.context_of(call),
            inner: Arc::new(InnerExchange::new(
                self.machine.inner_run(&call_key(call)),
                self.machine.standing().clone(),
            )),
            tool: self.tool_of(call),
            hooks: self.options.hooks.clone(),
        });
        self.events.push_back(RunEvent::ToolStarted(call.clone()));
        true
    }

    fn record(&mut self, done: Done) {
        match done {
            Done::Machine(record) => record(&mut self.machine),
            Done::Event(event) => self.events.push_back(event),
            Done::Summarized(summary) => self.store_summary(summary),
            Done::Compacted { old, new, compacted } => {
                self.machine.compacted(compacted);
                let continuation = self.machine.view().continuation().cloned();
                self.events.push_back(RunEvent::Compacted { old, new, continuation });
            }
            Done::Answer(Ok(answer)) => {
                let sent = answer.answer();
                self.report_sent(&sent.report().repairs, sent.omissions());
                self.answer = Some(answer);
            }
            Done::Answer(Err(error)) => self.receive(Some(Err(error))),
            Done::Failed(error) => self.fail(error),
        }
    }

    pub(super) fn take_answer(&mut self, event: Option<Result<AnswerEvent, ModelError>>) {
        match event {
            None => self.answer = None,
            Some(Err(error)) => {
                self.answer = None;
                self.ask_failed(&error);
            }
            Some(Ok(event)) => {
                if let EventKind::Completed(answered) = event.kind() {
                    self.answer = None;
                    self.trace.answered(answered.usage);
                    let from = self.machine.view().agent().to_owned();
                    self.machine.answered(&answered.into());
                    self.effect = self.answer_hooks(&from, answered.clone());
                    self.events.push_back(RunEvent::Answer(event));
                    self.report_handoff(from);
                } else {
                    self.events.push_back(RunEvent::Answer(event));
                }
            }
        }
    }

    fn take_ended(&mut self, ended: EndedCall) {
        let EndedCall { call, outcome, usage, paused } = ended;
        let key = call_key(&call);
        self.machine.add_usage(&usage);
        if let Some(inner) = paused {
            return self.machine.inner_waits(&key, inner);
        }
        let output = match &outcome {
            Outcome::Output(output) => Some(output.clone()),
            _ => None,
        };
        let agent = self.machine.view().agent().to_owned();
        self.machine.call_ended(&key, outcome);
        self.events.push_back(RunEvent::ToolEnded { call, output });
        self.report_handoff(agent);
    }

    /// Reports a handoff if `from` is no longer the agent.
    fn report_handoff(&mut self, from: String) {
        let to = self.machine.view().agent().to_owned();
        if from != to {
            self.events.push_back(RunEvent::HandedOff { from, to });
        }
    }

    fn ask_failed(&mut self, error: &ModelError) {
        let policy = self.options.retry_policy.as_ref();
        let verdict = policy.map_or(RetryVerdict::ByRules, |policy| policy(error));
        let failed = FailedRequest { verdict, ..failed_request(error) };
        self.machine.ask_failed(&failed, &error.to_string());
        if let Some(delay) = self.machine.delay() {
            self.events.push_back(RunEvent::Retrying { error: error.clone(), delay });
        }
    }
}

/// Whether a step has happened at once, or something else has to happen first.
#[derive(PartialEq, Eq)]
enum Progress {
    Continues,
    Waits,
}

impl<C: Send + Sync + 'static> Stream for Run<C> {
    type Item = RunEvent;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<RunEvent>> {
        let run = self.get_mut();
        loop {
            if let Some(mode) = run.cancellations.poll(context) {
                run.cancel(mode);
            }
            if let Some(event) = run.events.pop_front() {
                return Poll::Ready(Some(event));
            }
            if run.is_over {
                return Poll::Ready(None);
            }
            let span = run.trace.agent(run.machine.view(), &run.team);
            let _entered = span.enter();
            let ended = match run.tools.poll_ended(context) {
                Poll::Ready(ended) => ended,
                Poll::Pending => None,
            };
            if let Some(ended) = ended {
                run.take_ended(ended);
                continue;
            }
            if run.poll_input_check(context) {
                continue;
            }
            if let Some(effect) = &mut run.effect {
                let Poll::Ready(done) = effect.future.as_mut().poll(context) else {
                    return Poll::Pending;
                };
                run.effect = None;
                run.record(done);
                continue;
            }
            if let Some(answer) = &mut run.answer {
                let Poll::Ready(event) = answer.poll_next_unpin(context) else {
                    return Poll::Pending;
                };
                run.receive(event);
                continue;
            }
            if run.awaits_input_check() {
                return Poll::Pending;
            }
            if run.start_step() == Progress::Waits {
                return Poll::Pending;
            }
        }
    }
}
