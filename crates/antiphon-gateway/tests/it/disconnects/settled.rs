//! A turn whose caller left in the middle: what is finished stays.

use antiphon_mock::{Answer, Exchange, Reply};
use serde_json::{Value, json};

use crate::support::{Ask, MODEL, World, ask, frames_until, lines, output};

/// A turn that is left as soon as an event of this name was read; its announced id.
async fn disconnect_after(world: &World, ask: &Ask, answer: &Answer, event: &str) -> String {
    let exchange = hang_after(world, answer, event);
    let mut events = world.client().stream(ask).await;
    let id = events.response_id().await;
    if event != "response.created" {
        events.until(event).await;
    }
    drop(events);
    world.wait_for_disconnect(&exchange).await;
    id
}

fn hang_after(world: &World, answer: &Answer, event: &str) -> Exchange {
    world.script(Reply::sse(answer.frames()).hang_after(frames_until(answer, event)))
}

fn calling_answer() -> Answer {
    Answer::new(MODEL)
        .reasoning("Echo it.")
        .call("call_1", "echo", r#"{"text":"hello"}"#)
        .message("I have called the tool.")
}

#[tokio::test]
async fn disconnect_after_the_first_event_keeps_the_input() {
    let world = World::new().await;
    let client = world.client();
    let conversation = client.new_conversation().await;
    let say = |text: &str| ask(text).within(&conversation);

    let id =
        disconnect_after(&world, &say("My color is purple"), &calling_answer(), "response.created")
            .await;

    let recalled = client.respond(&say("What is my color?")).await;
    assert_eq!(recalled.text(), "purple");
    assert_eq!(world.view(1).await, ["user: My color is purple", "user: What is my color?"]);
    assert_eq!(client.wait_until_settled(&id).await["status"], "cancelled");
}

#[tokio::test]
async fn disconnect_in_text_leaves_an_incomplete_message() {
    let world = World::new().await;
    let client = world.client();
    let conversation = client.new_conversation().await;
    let say = |text: &str| ask(text).within(&conversation);
    let answer = Answer::new(MODEL).message("Once upon a time");

    let tale = say("Tell me a tale");
    let id = disconnect_after(&world, &tale, &answer, "response.output_text.delta").await;

    client.respond(&say("Go on")).await;
    let expected = ["user: Tell me a tale", "assistant: Once ", "user: Go on"];
    assert_eq!(world.view(1).await, expected);
    let items = client.items(&conversation).await;
    assert_eq!(lines(&items)[..3], expected);
    assert_eq!(items[1]["status"], "incomplete");
    let kept = client.wait_until_settled(&id).await;
    assert_eq!(kept["output"], json!([items[1]]));
}

#[tokio::test]
async fn disconnect_in_arguments_drops_call_and_reasoning() {
    let world = World::new().await;
    let client = world.client();
    let conversation = client.new_conversation().await;
    let say = |text: &str| ask(text).within(&conversation);

    let event = "response.function_call_arguments.delta";
    disconnect_after(&world, &say("Echo hello"), &calling_answer(), event).await;

    let next = client.respond(&say("My color is purple")).await;
    assert_eq!(next.header("antiphon-repairs"), None);
    assert_eq!(world.view(1).await, ["user: Echo hello", "user: My color is purple"]);
    assert_eq!(
        lines(&client.items(&conversation).await),
        ["user: Echo hello", "user: My color is purple", "assistant: Noted."]
    );
}

#[tokio::test]
async fn disconnect_in_reasoning_drops_it() {
    let world = World::new().await;
    let client = world.client();
    let conversation = client.new_conversation().await;
    let say = |text: &str| ask(text).within(&conversation);

    let event = "response.reasoning_summary_text.delta";
    disconnect_after(&world, &say("My color is purple"), &calling_answer(), event).await;

    assert_eq!(client.respond(&say("What is my color?")).await.text(), "purple");
    assert_eq!(world.view(1).await.len(), 2);
}

#[tokio::test]
async fn completed_call_survives_a_disconnect() {
    for chained in [false, true] {
        let world = World::new().await;
        let client = world.client();
        let conversation = client.new_conversation().await;
        let answer = calling_answer();
        let exchange = world.script(
            Reply::sse(answer.frames())
                .hang_after(frames_until(&answer, "response.content_part.added")),
        );
        let mut events = client.stream(&ask("Echo hello").within(&conversation)).await;
        let id = events.response_id().await;
        events.until("response.content_part.added").await;
        drop(events);
        world.wait_for_disconnect(&exchange).await;
        client.wait_until_settled(&id).await;

        let late = ask(json!([output(&json!("call_1"), "hello")]));
        let late = if chained { late.after(&id) } else { late.within(&conversation) };
        let echoed = client.respond(&late).await;

        assert_eq!(echoed.text(), "echo said: hello");
        assert_eq!(echoed.header("antiphon-repairs"), None);
        assert_eq!(
            world.view(1).await,
            ["user: Echo hello", "reasoning", r#"call echo {"text":"hello"}"#, "output: hello"]
        );
    }
}

#[tokio::test]
async fn announced_id_can_be_continued_after_any_disconnect() {
    let events = [
        ("response.created", 1),
        ("response.reasoning_summary_text.delta", 1),
        ("response.function_call_arguments.delta", 1),
        ("response.content_part.added", 3),
        ("response.output_text.delta", 4),
    ];
    for (event, stays) in events {
        let world = World::new().await;
        let client = world.client();
        let received = client.respond(&ask("My color is purple")).await;
        let id = disconnect_after(
            &world,
            &ask("Echo hello").after(received.id()),
            &calling_answer(),
            event,
        )
        .await;
        client.wait_until_settled(&id).await;

        let recalled = client.respond(&ask("What is my color?").after(&id)).await;

        assert_eq!(recalled.text(), "purple", "{event}");
        let view = world.view(2).await;
        let made_up = usize::from(stays >= 3);
        assert_eq!(view.len(), 2 + stays + made_up + 1, "{event}: {view:?}");
    }
}

#[tokio::test]
async fn immediate_continuation_finds_the_response() {
    let world = World::new().await;
    let client = world.client();
    for _ in 0..8 {
        let answer = Answer::new(MODEL).message("Once upon a time");
        let exchange = hang_after(&world, &answer, "response.output_text.delta");
        let mut events = client.stream(&ask("My color is purple")).await;
        let id = events.response_id().await;
        events.until("response.output_text.delta").await;
        drop(events);

        let recalled = client.respond(&ask("What is my color?").after(&id)).await;

        assert_eq!(recalled.text(), "purple");
        world.wait_for_disconnect(&exchange).await;
    }
}

#[tokio::test]
async fn unstored_response_settles_only_into_its_conversation() {
    let world = World::new().await;
    let client = world.client();
    let conversation = client.new_conversation().await;
    let say = |text: &str| ask(text).within(&conversation);
    let answer = Answer::new(MODEL).message("Once upon a time");

    let tale = say("Tell me a tale").unstored();
    let id = disconnect_after(&world, &tale, &answer, "response.output_text.delta").await;

    client.respond(&say("Go on")).await;
    assert_eq!(world.view(1).await, ["user: Tell me a tale", "assistant: Once ", "user: Go on"]);
    let path = format!("/v1/responses/{id}");
    assert_eq!(client.get(&path).await.status(), 404);
    let _: Vec<Value> = client.items(&conversation).await;
}
