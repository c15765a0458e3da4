//! A whole answer that did not reach its caller is given again.

use antiphon_mock::{Answer, Reply};
use serde_json::json;

use super::{STARTING_POINTS, StartingPoint, replayed, retrying};
use crate::support::{MODEL, MODES, Mode, World, ask, lines, output};

fn answer() -> Answer {
    Answer::new(MODEL).reasoning("Echo it.").message("I call the tool.").call(
        "call_1",
        "echo",
        r#"{"text":"hello"}"#,
    )
}

#[tokio::test]
async fn completed_turn_is_replayed_without_the_model() {
    let world = World::new().await;
    let client = world.client();
    for place in STARTING_POINTS {
        for mode in MODES {
            let ask = place.ask(&client, format!("Echo hello, {place:?} {mode:?}")).await;
            world.script(Reply::sse(answer().frames()));
            let first = client.turn(mode, &ask).await;
            let asked = world.times_asked();

            let second = replayed(&client, mode, &ask).await;

            assert_eq!(second.response, first.response, "{place:?} {mode:?}");
            assert_eq!(world.times_asked(), asked, "the model is not asked again");
            assert_eq!(second.header("antiphon-response"), Some(first.id()));
        }
    }
}

#[tokio::test]
async fn completed_turn_is_replayed_after_a_crash() {
    let mut world = World::new().await;
    let client = world.client();
    let mut turns = Vec::new();
    for place in STARTING_POINTS {
        let ask = place.ask(&client, format!("Echo hello, {place:?}")).await;
        world.script(Reply::sse(answer().frames()));
        turns.push((client.respond(&ask).await, ask));
    }
    let asked = world.times_asked();

    world.kill_and_start().await;

    for (first, ask) in turns {
        let second = replayed(&world.client(), Mode::Whole, &ask).await;
        assert_eq!(second.response, first.response);
    }
    assert_eq!(world.times_asked(), asked, "the model is not asked again");
}

#[tokio::test]
async fn replayed_answer_can_be_continued() {
    let world = World::new().await;
    let client = world.client();
    let conversation = client.new_conversation().await;
    let question = ask("Echo hello").within(&conversation);
    world.script(Reply::sse(answer().frames()));
    client.respond(&question).await;
    replayed(&client, Mode::Whole, &question).await;

    let result = ask(json!([output(&json!("call_1"), "hello")])).within(&conversation);
    client.respond(&result).await;

    let held = lines(&client.items(&conversation).await);
    assert_eq!(held.iter().filter(|line| *line == "user: Echo hello").count(), 1);
    assert_eq!(held.len(), 6, "a question, three items, an output, an answer: {held:?}");
}

#[tokio::test]
async fn repeated_question_is_not_a_retry() {
    let world = World::new().await;
    let client = world.client();
    let conversation = client.new_conversation().await;
    let question = ask("Again").within(&conversation);
    let counting = client.clone().with_header("x-stainless-retry-count", "0");
    let first = counting.respond(&question).await;
    let second = counting.respond(&question).await;
    assert_ne!(first.id(), second.id());
    assert_eq!(world.times_asked(), 2);
    assert_eq!(client.items(&conversation).await.len(), 4);
}

#[tokio::test]
async fn request_before_another_turn_is_not_a_retry() {
    let world = World::new().await;
    let client = world.client();
    let conversation = client.new_conversation().await;
    let question = ask("Hello").within(&conversation);
    let first = client.respond(&question).await;
    client.respond(&ask("Something else").within(&conversation)).await;

    let later = retrying(&client).respond(&question).await;

    assert_ne!(later.id(), first.id());
    assert_eq!(client.items(&conversation).await.len(), 6);
}

#[tokio::test]
async fn equal_requests_are_not_retries() {
    let world = World::new().await;
    let client = world.client();
    for place in [StartingPoint::Chain, StartingPoint::Nothing] {
        let question = place.ask(&client, "Choose a number").await;
        let one = client.respond(&question).await;
        let two = client.respond(&question).await;
        let three = retrying(&client).respond(&question).await;
        assert_ne!(three.id(), one.id());
        assert_ne!(three.id(), two.id());
        assert_eq!(three.header("antiphon-answered-again"), None);
    }
}

#[tokio::test]
async fn turn_of_another_tenant_is_not_replayed() {
    let world = World::new().await;
    let (alice, mallory) = (world.client(), world.caller("token-of-mallory"));
    let question = ask("My color is purple");
    let first = alice.respond(&question).await;
    let theirs = retrying(&mallory).respond(&question).await;
    assert_ne!(theirs.id(), first.id());
    assert_eq!(world.times_asked(), 2);
}

#[tokio::test]
async fn failed_turn_is_run_again() {
    let world = World::new().await;
    let client = world.client();
    let conversation = client.new_conversation().await;
    let question = ask("My color is purple").within(&conversation);
    for mode in MODES {
        world.script(Reply::sse(answer().frames()).break_after(5));
        let failed = client.create(mode, &question).await;
        assert!(failed.status() >= 500 || failed.body().starts_with(b"event: response.created"));
    }

    let made = retrying(&client).respond(&question).await;

    assert_eq!(made.text(), "Noted.");
    assert_eq!(
        lines(&client.items(&conversation).await),
        ["user: My color is purple", "assistant: Noted."]
    );
}

#[tokio::test]
async fn deleted_response_is_not_replayed() {
    let world = World::new().await;
    let client = world.client();
    let question = ask("My color is purple");
    let first = client.respond(&question).await;
    client.delete(&format!("/v1/responses/{}", first.id())).await;
    assert_ne!(retrying(&client).respond(&question).await.id(), first.id());
}
