//! Spans and events in OpenTelemetry's semantic convention for generative AI.
//!
//! ```text
//! invoke_agent triage
//! ├─ chat gpt-5
//! └─ execute_tool search
//!    └─ invoke_agent researcher     an agent that is a tool
//! invoke_agent billing              after a handoff
//! └─ chat gpt-5
//! ```
//!
//! The attributes are names, ids and counts. The text of items, instructions and arguments is in
//! none of them.
//!
//! Source: <https://opentelemetry.io/docs/specs/semconv/gen-ai/>

use std::pin::Pin;
use std::task::{Context, Poll};

use antiphon::Item;
use antiphon::dialect::Omission;
use antiphon::json::Object;
use antiphon::repair::ReportedRepair;
use antiphon::tracker::Continuation;
use futures_util::{Stream, StreamExt};
use tracing::field::Empty;
use tracing::{Instrument, Span, info, info_span};

use super::RunError;
use crate::machine::{End, RunState, call_key, tool_name};
use crate::model::{
    Answer, AnswerEvent, Answered, EventKind, Model, ModelError, ModelErrorKind, ModelRequest,
    Usage,
};
use crate::rules::Outcome;
use crate::team::Team;
use crate::tool::ToolErrorKind;

/// The span of the agent that acts in a run.
pub(super) struct RunTrace {
    /// The span in which the run was created: the parent of the agents' spans.
    caller: Span,
    agent: Option<AgentSpan>,
    has_ended: bool,
}

/// The span of an agent, from its first step to the next handoff or the end of the run.
struct AgentSpan {
    agent: String,
    span: Span,
    usage: Usage,
}

impl RunTrace {
    /// A run of the code that is running now.
    pub(super) fn new() -> Self {
        Self { caller: Span::current(), agent: None, has_ended: false }
    }

    /// The span of the agent that acts now. Every step of the run is performed in it.
    pub(super) fn agent<C: 'static>(&mut self, state: &RunState, team: &Team<C>) -> Span {
        if self.has_ended {
            return Span::none();
        }
        if self.agent.as_ref().is_none_or(|span| span.agent != state.agent()) {
            let model = team.model(state.agent()).expect("the agent is in the team");
            // A handoff ends the span of the agent before.
            self.agent = Some(AgentSpan::new(&self.caller, state, model));
        }
        self.agent.as_ref().map_or_else(Span::none, |agent| agent.span.clone())
    }

    /// Counts the tokens of an answer.
    pub(super) fn answered(&mut self, usage: Usage) {
        if let Some(agent) = &mut self.agent {
            agent.usage += usage;
        }
    }

    /// Ends the span of the last agent.
    pub(super) fn ended(&mut self, end: &End) {
        self.close(match end {
            End::Answered { .. } | End::StoppedAtTool { .. } | End::Cancelled => None,
            End::TurnLimit { .. } => Some("turn_limit"),
            End::Tripped { .. } => Some("guardrail"),
            End::Failed { .. } => Some("failed"),
        });
    }

    /// Ends the span of the last agent: the run cannot continue.
    pub(super) fn failed(&mut self, error: &RunError) {
        self.close(Some(match error {
            RunError::Session(_)
            | RunError::NoSessionStore(_)
            | RunError::EmptySession(_)
            | RunError::NoSession => "session",
            RunError::Team(_) | RunError::Waiting(_) | RunError::NoAnswer(_) => "failed",
        }));
    }

    fn close(&mut self, error: Option<&str>) {
        self.has_ended = true;
        if let (Some(agent), Some(error)) = (self.agent.take(), error) {
            record_error(&agent.span, error);
        }
    }
}

impl AgentSpan {
    fn new(caller: &Span, state: &RunState, model: &Model) -> Self {
        let agent = state.agent().to_owned();
        let span = info_span!(
            parent: caller,
            "invoke_agent",
            otel.name = format!("invoke_agent {agent}"),
            otel.status_code = Empty,
            gen_ai.operation.name = "invoke_agent",
            gen_ai.provider.name = model.provider(),
            gen_ai.agent.name = agent,
            gen_ai.conversation.id = conversation_id(state),
            gen_ai.request.model = model.name(),
            gen_ai.usage.input_tokens = Empty,
            gen_ai.usage.output_tokens = Empty,
            "error.type" = Empty,
        );
        Self { agent, span, usage: Usage::default() }
    }
}

impl Drop for AgentSpan {
    fn drop(&mut self) {
        record_usage(&self.span, self.usage);
    }
}

/// The id by which a run finds its conversation again: that of the server, or the session's key.
pub(super) fn conversation_id(state: &RunState) -> Option<String> {
    let server = state.continuation().and_then(Continuation::conversation_id);
    server.map(|id| id.as_str().to_owned()).or_else(|| state.session().map(str::to_owned))
}

/// An answer and the span of its request, which ends with the answer.
pub(super) struct TracedAnswer {
    answer: Answer,
    span: Span,
}

/// Asks a model, in a span.
pub(super) async fn respond(
    model: &Model,
    request: ModelRequest,
    conversation: Option<String>,
) -> Result<TracedAnswer, ModelError> {
    let span = info_span!(
        "chat",
        otel.name = format!("chat {}", request.model),
        otel.kind = "client",
        otel.status_code = Empty,
        gen_ai.operation.name = "chat",
        gen_ai.provider.name = model.provider(),
        gen_ai.conversation.id = conversation,
        gen_ai.request.model = request.model,
        gen_ai.response.model = Empty,
        gen_ai.response.id = Empty,
        gen_ai.usage.input_tokens = Empty,
        gen_ai.usage.output_tokens = Empty,
        "error.type" = Empty,
    );
    let asked = model.backend().respond(request).instrument(span.clone()).await;
    let answer = asked.inspect_err(|error| record_error(&span, &model_error_type(error)))?;
    span.in_scope(|| {
        answer.report().repairs.iter().for_each(repaired);
        answer.omissions().iter().for_each(omitted);
    });
    Ok(TracedAnswer { answer, span })
}

impl TracedAnswer {
    /// The answer itself.
    pub(super) fn answer(&self) -> &Answer {
        &self.answer
    }

    /// Waits for the end of the answer.
    pub(super) async fn finish(self) -> Result<Answered, ModelError> {
        let Self { answer, span } = self;
        let answered = answer.finish().instrument(span.clone()).await;
        record_answer(&span, &answered);
        answered
    }
}

impl Stream for TracedAnswer {
    type Item = Result<AnswerEvent, ModelError>;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let Self { answer, span } = self.get_mut();
        let event = span.in_scope(|| answer.poll_next_unpin(context));
        match &event {
            Poll::Ready(Some(Ok(event))) => {
                if let EventKind::Completed(answered) = event.kind() {
                    record_completed(span, answered);
                }
            }
            Poll::Ready(Some(Err(error))) => record_error(span, &model_error_type(error)),
            Poll::Ready(None) | Poll::Pending => {}
        }
        event
    }
}

fn record_answer(span: &Span, answered: &Result<Answered, ModelError>) {
    match answered {
        Ok(answered) => record_completed(span, answered),
        Err(error) => record_error(span, &model_error_type(error)),
    }
}

fn record_completed(span: &Span, answered: &Answered) {
    record_usage(span, answered.usage);
    let response = Object::parse(&answered.response).unwrap_or_default();
    if let Some(model) = response.string("model") {
        span.record("gen_ai.response.model", &*model);
    }
    if let Some(id) = &answered.response_id {
        span.record("gen_ai.response.id", id.as_str());
    }
}

fn record_usage(span: &Span, usage: Usage) {
    span.record("gen_ai.usage.input_tokens", usage.input_tokens);
    span.record("gen_ai.usage.output_tokens", usage.output_tokens);
}

fn record_error(span: &Span, kind: &str) {
    span.record("error.type", kind);
    span.record("otel.status_code", "ERROR");
}

fn model_error_type(error: &ModelError) -> String {
    match error.kind() {
        ModelErrorKind::Rejected(rejection) => rejection.status.to_string(),
        ModelErrorKind::Failed { code, .. } => code.clone(),
        ModelErrorKind::BrokeOff(_) => "broke_off".to_owned(),
        ModelErrorKind::Unreachable(_) => "unreachable".to_owned(),
        _ => "invalid".to_owned(),
    }
}

/// Reports a change that was made so that a provider accepts the items.
pub(super) fn repaired(repair: &ReportedRepair) {
    info!(
        fault = repair.fault,
        action = repair.action,
        item.kind = repair.kind.as_str(),
        item.position = repair.position,
        item.id = repair.id.as_ref().map(antiphon::ItemId::as_str),
        item.call_id = repair.call_id.as_ref().map(antiphon::CallId::as_str),
        "repaired an item of the input"
    );
}

/// Reports a part of a request that the API of its server cannot carry.
fn omitted(omission: &Omission) {
    info!(place = %omission.place, reason = omission.message, "left out a part of the request");
}

/// The span of a call.
pub(super) struct ToolSpan(Span);

impl ToolSpan {
    /// A call of the agent whose span is entered.
    pub(super) fn new(call: &Item) -> Self {
        let tool = tool_name(call);
        Self(info_span!(
            "execute_tool",
            otel.name = format!("execute_tool {tool}"),
            otel.status_code = Empty,
            gen_ai.operation.name = "execute_tool",
            gen_ai.tool.name = tool,
            gen_ai.tool.call.id = call_key(call).call_id.as_str(),
            "gen_ai.tool.type" = "function",
            "error.type" = Empty,
        ))
    }

    /// Runs the tool of the call.
    pub(super) async fn run(self, tool: impl Future<Output = Outcome>) -> Outcome {
        let unfinished = Unfinished(self.0.clone());
        let outcome = tool.instrument(self.0).await;
        unfinished.finish();
        outcome
    }
}

/// A call whose tool has not ended. If it is dropped, its tool has panicked or was cancelled.
struct Unfinished(Span);

impl Unfinished {
    fn finish(mut self) {
        self.0 = Span::none();
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        record_error(&self.0, if std::thread::panicking() { "panic" } else { "cancelled" });
    }
}

/// Records that the tool of the entered span failed.
pub(super) fn tool_failed(kind: ToolErrorKind) {
    record_error(
        &Span::current(),
        match kind {
            ToolErrorKind::InvalidArguments => "invalid_arguments",
            ToolErrorKind::TimedOut => "timeout",
            ToolErrorKind::Failed => "failed",
            ToolErrorKind::Fatal => "fatal",
        },
    );
}
