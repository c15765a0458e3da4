//! Answers that end in a failure of which the upstream tells.

use antiphon_mock::{Answer, Reply};
use serde_json::{Value, json};

use crate::support::{MODEL, MODES, Mode, World, ask, lines};

#[tokio::test]
async fn failed_response_keeps_its_error() {
    let world = World::new().await;
    let client = world.client();
    let conversation = client.new_conversation().await;
    let answer = Answer::new(MODEL)
        .message("I was about to")
        .failed("rate_limit_exceeded", "Too much at once.");
    let say = |text: &str| ask(text).within(&conversation);

    world.script(Reply::sse(answer.frames()));
    let turn = client.turn(Mode::Streamed, &say("Hello")).await;
    assert_eq!(turn.status(), "failed");
    assert_eq!(
        turn.response["error"],
        json!({"code": "rate_limit_exceeded", "message": "Too much at once."})
    );

    world.script(Reply::sse(answer.frames()));
    let answer = client.create(Mode::Whole, &say("Hello")).await;
    assert_eq!(answer.server_error(), "Too much at once.");
    assert_eq!(client.items(&conversation).await, [] as [Value; 0]);
    assert_eq!(client.respond(&say("Hello")).await.text(), "Noted.");
}

#[tokio::test]
async fn error_event_becomes_a_failed_response() {
    for error in [
        json!({"type": "error", "code": "server_error", "message": "Boom.", "param": null}),
        json!({"type": "error", "error": {"code": "server_error", "message": "Boom."}}),
    ] {
        let world = World::new().await;
        let client = world.client();
        let answer = Answer::new(MODEL).message("Hello").event("error", error);
        world.script(Reply::sse(answer.frames()));

        let turn = client.turn(Mode::Streamed, &ask("Hello")).await;

        assert_eq!(turn.status(), "failed");
        assert_eq!(turn.response["error"], json!({"code": "server_error", "message": "Boom."}));
        assert!(turn.events.iter().all(|event| event.name != "error"));
    }
}

#[tokio::test]
async fn incomplete_answer_is_stored() {
    for mode in MODES {
        let world = World::new().await;
        let client = world.client();
        let conversation = client.new_conversation().await;
        let say = |text: &str| ask(text).within(&conversation);
        let answer = Answer::new(MODEL).message("Once upon a").incomplete();
        world.script(Reply::sse(answer.frames()));
        let cut = client.turn(mode, &say("Tell me a tale")).await;
        assert_eq!(client.stored_response(cut.id()).await["status"], "incomplete");

        client.turn(mode, &say("Go on")).await;

        let expected = ["user: Tell me a tale", "assistant: Once upon a", "user: Go on"];
        assert_eq!(world.view(1).await, expected);
        let items = client.items(&conversation).await;
        assert_eq!(items[1]["status"], "incomplete");
        assert_eq!(lines(&items)[..3], expected);
    }
}

#[tokio::test]
async fn limited_call_is_stored_as_sent() {
    for mode in MODES {
        let world = World::new().await;
        let client = world.client();
        let conversation = client.new_conversation().await;
        let say = |text: &str| ask(text).within(&conversation);
        let answer = Answer::new(MODEL).call("call_1", "echo", r#"{"text":"hel"#).incomplete();
        world.script(Reply::sse(answer.frames()));

        let cut = client.turn(mode, &say("Echo hello")).await;

        assert_eq!(cut.status(), "incomplete");
        assert_eq!(client.stored_response(cut.id()).await, cut.response);
        assert_eq!(client.turn(mode, &say("My color is purple")).await.text(), "Noted.");
        world.view(1).await;
    }
}
