//! An upstream that answers with one JSON object although it was asked to stream.

use antiphon_mock::{Answer, Reply};
use http::StatusCode;

use crate::support::{MODEL, MODES, Mode, World, ask, lines, shown};

#[tokio::test]
async fn stream_and_whole_answers_are_converted() {
    for mode in MODES {
        let world = World::new().await;
        let client = world.client();
        let conversation = client.new_conversation().await;
        let answer = Answer::new(MODEL)
            .reasoning("A greeting.")
            .message("Hello there")
            .call("call_1", "echo", r#"{"text":"hello"}"#)
            .custom_call("call_2", "patch", "+ line");
        world.script(Reply::json(StatusCode::OK, &answer.json()));

        let ask = ask("Hello").within(&conversation).encrypted();
        let turn = client.turn(mode, &ask).await;

        assert_eq!(turn.output(), shown(&answer.output()));
        assert_eq!(turn.status(), "completed");
        assert_eq!(
            lines(&client.items(&conversation).await),
            [
                "user: Hello",
                "reasoning",
                "assistant: Hello there",
                r#"call echo {"text":"hello"}"#,
                "call patch + line",
            ]
        );
    }
}

#[tokio::test]
async fn whole_answer_is_streamed_in_parts() {
    let world = World::new().await;
    let answer = Answer::new(MODEL).message("Hello there").refusal("No more.");
    world.script(Reply::json(StatusCode::OK, &answer.json()));

    let turn = world.client().turn(Mode::Streamed, &ask("Hello")).await;

    let count = |name: &str| turn.events.iter().filter(|event| event.name == name).count();
    assert_eq!(count("response.content_part.added"), 2);
    assert_eq!(count("response.output_text.delta"), 1);
    assert_eq!(count("response.refusal.delta"), 1);
    assert_eq!(count("response.output_item.done"), 2);
}

#[tokio::test]
async fn limited_whole_answer_is_incomplete() {
    for mode in MODES {
        let world = World::new().await;
        let answer = Answer::new(MODEL).message("Once upon a").incomplete();
        world.script(Reply::json(StatusCode::OK, &answer.json()));
        let turn = world.client().turn(mode, &ask("Hello")).await;
        assert_eq!(turn.status(), "incomplete");
    }
}

#[tokio::test]
async fn json_other_than_a_response_is_an_error() {
    let world = World::new().await;
    let client = world.client();
    for body in ["[]", "{\"object\":", "\"hello\""] {
        let reply = || Reply::new(StatusCode::OK, "application/json", body);
        world.script(reply());
        client.create(Mode::Whole, &ask("Hello")).await.server_error();
    }
}
