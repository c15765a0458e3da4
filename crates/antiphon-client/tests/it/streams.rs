//! The events of an answer.

use antiphon_client::{AnswerStatus, ErrorKind, EventKind};
use antiphon_mock::{Answer, Reply};
use serde_json::Value;

use crate::support::{MODEL, World, user};

#[tokio::test]
async fn events_are_typed_and_keep_their_bytes() {
    let world = World::start().await;
    world.provider.script(Answer::new(MODEL).reasoning("Hm.").message("Hello there."));
    let mut answer = world.client.respond(world.request([user("Hi")])).await.unwrap();
    let (mut text, mut reasoning, mut items) = (String::new(), String::new(), Vec::new());
    let mut completed = None;
    while let Some(event) = answer.next().await {
        let event = event.unwrap();
        let data: Value = serde_json::from_slice(event.data()).unwrap();
        assert_eq!(data["type"], event.event_type());
        match event.into_kind() {
            EventKind::TextDelta(_, delta) => text += &delta,
            EventKind::ReasoningDelta(_, delta) => reasoning += &delta,
            EventKind::ItemDone { item, .. } => items.push(item),
            EventKind::Completed(answered) => completed = Some(answered),
            _ => {}
        }
    }
    let completed = completed.unwrap();
    assert_eq!((text.as_str(), reasoning.as_str()), ("Hello there.", "Hm."));
    assert_eq!(items, completed.output);
    assert_eq!(completed.text(), "Hello there.");
    assert_eq!(completed.status, AnswerStatus::Completed);
    let response: Value = serde_json::from_slice(&completed.response).unwrap();
    let usage = &response["usage"];
    assert_eq!(usage["total_tokens"], completed.usage.total_tokens);
    assert_eq!(usage["input_tokens"], completed.usage.input_tokens);
}

#[tokio::test]
async fn every_chunk_boundary_gives_the_same_answer() {
    for size in [1, 7, 1000] {
        for is_exact in [false, true] {
            let world = World::start().await;
            let scripted = Answer::new(MODEL).call("call_1", "f", "{\"a\":1}").message("Käse");
            world.provider.script(Reply::sse(scripted.frames()).rechunk(size));
            let request = world.request([user("Hi")]);
            let request = if is_exact { request.exact() } else { request };
            let answered = world.client.respond(request).await.unwrap().finish().await.unwrap();
            assert_eq!(answered.text(), "Käse");
            assert_eq!(answered.output.len(), 2);
        }
    }
}

#[tokio::test]
async fn answer_in_one_piece_is_accepted() {
    for is_exact in [false, true] {
        let world = World::start().await;
        let scripted = Answer::new(MODEL).message("Hello.");
        world.provider.script(Reply::json(http::StatusCode::OK, &scripted.json()));
        let request = world.request([user("Hi")]);
        let request = if is_exact { request.exact() } else { request };
        let answered = world.client.respond(request).await.unwrap().finish().await.unwrap();
        assert_eq!(answered.text(), "Hello.");
    }
}

#[tokio::test]
async fn answer_without_a_content_type_is_accepted() {
    let world = World::start().await;
    let scripted = Answer::new(MODEL).message("Hello.");
    world.provider.script(Reply::sse(scripted.frames()).without_content_type());
    world
        .provider
        .script(Reply::json(http::StatusCode::OK, &scripted.json()).without_content_type());
    assert_eq!(world.answer([user("Hi")]).await.text(), "Hello.");
    assert_eq!(world.answer([user("Hi again")]).await.text(), "Hello.");
}

#[tokio::test]
async fn stream_without_its_end_broke_off() {
    for is_exact in [false, true] {
        let world = World::start().await;
        let frames = Answer::new(MODEL).message("Hello.").frames();
        let count = frames.len();
        world.provider.script(Reply::sse(frames).end_after(count - 2));
        let request = world.request([user("Hi")]);
        let request = if is_exact { request.exact() } else { request };
        let error = world.client.respond(request).await.unwrap().finish().await.unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::BrokeOff(_)), "{error:?}");
        assert!(error.has_emitted_output());
    }
}

#[tokio::test]
async fn failed_response_is_the_providers_error() {
    for is_exact in [false, true] {
        let world = World::start().await;
        world.provider.script(Answer::new(MODEL).failed("rate_limit_exceeded", "Too many."));
        let request = world.request([user("Hi")]);
        let request = if is_exact { request.exact() } else { request };
        let error = world.client.respond(request).await.unwrap().finish().await.unwrap_err();
        let failed =
            ErrorKind::Failed { code: "rate_limit_exceeded".into(), message: "Too many.".into() };
        assert_eq!(error.kind(), &failed);
        assert!(!error.has_emitted_output());
    }
}

#[tokio::test]
async fn limit_is_an_incomplete_answer() {
    let world = World::start().await;
    world.provider.script(Answer::new(MODEL).message("Hel").incomplete());
    let answered = world.answer([user("Hi")]).await;
    assert!(matches!(answered.status, AnswerStatus::Incomplete { reason: Some(_) }));
    assert_eq!(answered.text(), "Hel");
}

#[tokio::test]
async fn connection_is_used_again() {
    let world = World::start().await;
    for text in ["One", "Two", "Three"] {
        world.answer([user(text)]).await;
    }
    world.assert_clean();
}
