//! Errors of the server and of the connection.

use std::time::Duration;

use antiphon_client::{Client, ErrorKind, Request, Timeouts};
use antiphon_mock::{Answer, Reply, Script, StrictProvider};
use http::StatusCode;
use serde_json::json;

use crate::support::{MODEL, World, client, user};

fn request() -> Request {
    Request::new(MODEL).text("Hi")
}

#[tokio::test]
async fn rejection_has_the_fields_of_the_providers_error() {
    let provider = StrictProvider::start().await;
    let error = client(&provider).respond(Request::new("unknown-1").text("Hi")).await.unwrap_err();
    let refusal = provider.refusals().remove(0);
    let rejection = error.rejection().unwrap();
    assert_eq!(rejection.status, refusal.status.as_u16());
    assert_eq!(rejection.message, refusal.message);
    assert_eq!(rejection.code.as_deref(), Some("model_not_found"));
    assert_eq!(error.state_error(), None);
    assert!(!error.may_have_arrived());
}

#[tokio::test]
async fn key_is_sent_and_never_shown() {
    let provider = StrictProvider::start().await;
    let error = Client::new(provider.base_url()).respond(request()).await.unwrap_err();
    assert_eq!(error.status(), Some(401));
    let client = Client::new(provider.base_url()).with_key("sk-wrong-1");
    let error = client.respond(request()).await.unwrap_err();
    assert_eq!(error.status(), Some(401));
    assert!(!format!("{client:?}").contains("sk-wrong"));
    assert_eq!(provider.requests()[1].token, "sk-wrong-1");
}

#[tokio::test]
async fn rate_limit_names_its_delay() {
    let provider = StrictProvider::start().await;
    let body = json!({"error": {"message": "Slow down.", "type": "requests", "code": "rate"}});
    let reply = Reply::json(StatusCode::TOO_MANY_REQUESTS, &body).header("retry-after", "7");
    provider.script(reply);
    let error = client(&provider).respond(request()).await.unwrap_err();
    assert_eq!(error.status(), Some(429));
    assert_eq!(error.retry_after(), Some(Duration::from_secs(7)));
    assert_eq!(provider.turns().len(), 1);
}

#[tokio::test]
async fn missing_server_is_unreachable() {
    let address = {
        let provider = StrictProvider::start().await;
        provider.base_url()
    };
    let error = Client::new(address).respond(request()).await.unwrap_err();
    // The port may be closed only after the connection was accepted.
    assert!(
        matches!(error.kind(), ErrorKind::Unreachable(_) | ErrorKind::BrokeOff(_)),
        "{error:?}"
    );
    let error = Client::new("not a URL").respond(request()).await.unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::InvalidRequest(_)));
}

#[tokio::test]
async fn closed_connection_leaves_the_outcome_open() {
    let provider = StrictProvider::start().await;
    provider.script(Reply::hangup());
    let error = client(&provider).respond(request()).await.unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::BrokeOff(_)), "{error:?}");
    assert!(error.may_have_arrived() && !error.has_emitted_output());
}

#[tokio::test(start_paused = true)]
async fn silence_ends_at_its_limit() {
    let timeouts = Timeouts {
        first_byte: Duration::from_secs(5),
        idle: Duration::from_secs(3),
        ..Timeouts::default()
    };
    let provider = StrictProvider::start().await;
    let client = client(&provider).with_timeouts(timeouts);
    provider.script(Script::from(Answer::new(MODEL).message("Hi")).gated().withhold_head());
    let error = client.respond(request()).await.unwrap_err();
    assert_eq!(error.to_string(), "the answer broke off: it did not begin within 5s");

    provider.script(Script::from(Answer::new(MODEL).message("Hi")).hang_after(3));
    let error = client.respond(request()).await.unwrap().finish().await.unwrap_err();
    assert_eq!(error.to_string(), "the answer broke off: nothing arrived for 3s");
}

#[tokio::test]
async fn page_instead_of_an_answer_is_named() {
    let world = World::start().await;
    world.provider.script(Reply::new(StatusCode::OK, "text/html", "<h1>Hello</h1>"));
    let answer = world.client.respond(world.request([user("Hi")])).await.unwrap();
    let error = answer.finish().await.unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::UnexpectedAnswer(_)), "{error:?}");
}
