//! The scripted model keeps the contract of a backend.

use std::sync::Arc;

use antiphon_agents::model::{
    AnswerStatus, Backend, EventKind, Model, ModelError, ModelErrorKind, ModelRequest,
    ScriptedAnswer, ScriptedBackend, Usage, failed_request,
};
use antiphon_agents::rules::{FailureKind, GiveUp, Retries, RetryDecision};
use serde_json::json;

fn request() -> ModelRequest {
    ModelRequest::new("m")
}

#[tokio::test]
async fn answers_arrive_in_order_and_requests_are_recorded() {
    let script = ScriptedBackend::new(["One.", "Two."]);
    let model = Model::new("m", script.clone());
    for expected in ["One.", "Two."] {
        let answer = model.backend().respond(request()).await.unwrap();
        assert_eq!(answer.finish().await.unwrap().text(), expected);
    }
    assert_eq!(script.requests(), [request(), request()]);
    let error = model.backend().respond(request()).await.unwrap_err();
    assert!(matches!(error.kind(), ModelErrorKind::Unsupported(_)));
}

#[tokio::test]
async fn items_of_all_answers_have_different_ids() {
    let call = ScriptedAnswer::new().reasoning("r").call("call_1", "f", json!({"a": 1}));
    let script = ScriptedBackend::new([call, ScriptedAnswer::new().text("a").text("b")]);
    let mut ids = std::collections::HashSet::new();
    for expected in [2, 2] {
        let answered = script.respond(request()).await.unwrap().finish().await.unwrap();
        assert_eq!(answered.output.len(), expected);
        for item in &answered.output {
            assert!(ids.insert(item.head().id.clone().unwrap()), "{item:?}");
        }
        assert!(ids.insert(answered.response_id.unwrap().as_str().into()));
    }
}

/// The same script in a second process, with the history of the first.
#[tokio::test]
async fn ids_differ_from_those_in_the_request() {
    let first = ScriptedBackend::new(["One."]).respond(request()).await.unwrap();
    let answered = first.finish().await.unwrap();
    let mut next = request();
    next.items = Arc::new(answered.output.clone());
    let second = ScriptedBackend::new(["Two."]).respond(next).await.unwrap();
    let second = second.finish().await.unwrap();
    assert_ne!(answered.output[0].head().id, second.output[0].head().id);
}

#[tokio::test]
async fn events_are_those_of_a_server() {
    let answer = ScriptedAnswer::new().call("call_1", "f", json!({"a": 1})).text("Hi.");
    let script = ScriptedBackend::new([answer]);
    let mut answer = script.respond(request()).await.unwrap();
    let (mut items, mut arguments, mut text) = (Vec::new(), String::new(), String::new());
    let mut first = None;
    while let Some(event) = answer.next().await {
        let event = event.unwrap();
        first.get_or_insert_with(|| event.event_type().to_owned());
        match event.into_kind() {
            EventKind::ArgumentsDelta(_, delta) => arguments += &delta,
            EventKind::TextDelta(_, delta) => text += &delta,
            EventKind::ItemDone { output_index, item } => items.push((output_index, item)),
            EventKind::Completed(answered) => {
                let done = items.iter().map(|(_, item)| item);
                assert!(done.eq(&answered.output));
            }
            _ => {}
        }
    }
    assert_eq!(first.as_deref(), Some("response.created"));
    assert_eq!((arguments.as_str(), text.as_str()), (r#"{"a":1}"#, "Hi."));
    assert_eq!(items.iter().map(|(index, _)| *index).collect::<Vec<_>>(), [0, 1]);
}

#[tokio::test]
async fn limit_and_usage_are_reported() {
    let usage = Usage { input_tokens: 3, output_tokens: 2, total_tokens: 5, ..Usage::default() };
    let answer = ScriptedAnswer::new().text("Hel").incomplete("max_output_tokens").usage(usage);
    let script = ScriptedBackend::new([answer]);
    let answered = script.respond(request()).await.unwrap().finish().await.unwrap();
    let reason = Some("max_output_tokens".to_owned());
    assert_eq!(answered.status, AnswerStatus::Incomplete { reason });
    assert_eq!(answered.usage, usage);
}

#[tokio::test]
async fn broken_stream_tells_whether_output_came_before() {
    // `response.created`, `response.in_progress`, then the item.
    for (events, has_output) in [(0, false), (2, false), (3, true)] {
        let script = ScriptedBackend::new([ScriptedAnswer::from("Hi.").breaks_after(events)]);
        let mut answer = script.respond(request()).await.unwrap();
        let mut received = 0;
        let error = loop {
            match answer.next().await.unwrap() {
                Ok(_) => received += 1,
                Err(error) => break error,
            }
        };
        assert_eq!(received, events);
        assert_eq!(error.has_emitted_output(), has_output);
        assert!(error.may_have_arrived());
        assert!(answer.next().await.is_none());
        let failed = failed_request(&error);
        assert_eq!(failed.failure, FailureKind::Broken);
        assert_eq!(failed.has_emitted_output, has_output);
    }
}

#[tokio::test]
async fn hanging_answer_can_be_dropped() {
    let script = ScriptedBackend::new([ScriptedAnswer::from("Hi.").hangs_after(2)]);
    let mut answer = script.respond(request()).await.unwrap();
    for _ in 0..2 {
        answer.next().await.unwrap().unwrap();
    }
    let next = futures_util::FutureExt::now_or_never(answer.next());
    assert!(next.is_none());
}

#[tokio::test]
async fn failures_become_decisions_about_retries() {
    let locked = r#"{"error":{"code":"conversation_locked","message":"m"}}"#;
    let rejected = |status| ModelError::rejected(status, r#"{"error":{"message":"m"}}"#);
    let unreachable = ModelError::from(ModelErrorKind::Unreachable("refused".into()));
    let one = std::time::Duration::from_secs(1);
    for (error, decision) in [
        (rejected(500), RetryDecision::After(one)),
        (rejected(400), RetryDecision::GiveUp(GiveUp::NotRetryable)),
        (ModelError::rejected(400, locked), RetryDecision::After(one)),
        (unreachable, RetryDecision::After(one)),
        (ModelError::unsupported("x"), RetryDecision::GiveUp(GiveUp::NotRetryable)),
        (ModelErrorKind::BrokeOff("x".into()).into(), RetryDecision::After(one)),
    ] {
        let script = ScriptedBackend::new([error]);
        let error = script.respond(request()).await.unwrap_err();
        let failed = failed_request(&error);
        assert_eq!(Retries::new(vec![one]).decide(&failed), decision, "{error}");
    }
}
