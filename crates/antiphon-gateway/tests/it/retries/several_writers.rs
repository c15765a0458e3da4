//! A retry with a key stores its input once, also in a conversation that others write to.

use antiphon_mock::{Answer, Reply};
use serde_json::json;

use crate::support::{Ask, Client, MODEL, Mode, World, ask, lines, output};

fn keyed(client: &Client) -> Client {
    client.clone().with_header("idempotency-key", "k")
}

fn answer() -> Answer {
    Answer::new(MODEL).message("Once").call("call_9", "echo", r#"{"text":"a"}"#)
}

/// Sends a streamed request and leaves after `events` of its upstream's; the announced id.
async fn cut(world: &World, client: &Client, question: &Ask, events: usize) -> String {
    let exchange = world.script(Reply::sse(answer().frames()).hang_after(events));
    let mut stream = client.stream(question).await;
    let id = stream.response_id().await;
    for _ in 1..events {
        stream.next().await;
    }
    drop(stream);
    world.wait_for_disconnect(&exchange).await;
    client.wait_until_settled(&id).await;
    id
}

/// How often the conversation holds a message.
async fn count(client: &Client, conversation: &str, line: &str) -> usize {
    lines(&client.items(conversation).await).iter().filter(|held| *held == line).count()
}

#[tokio::test]
async fn cut_attempt_before_another_turn_is_stored_once() {
    let world = World::new().await;
    let client = world.client();
    // The last two frames end the stream, and with it the turn.
    for events in 1..answer().frames().len() - 1 {
        let conversation = client.new_conversation().await;
        client.respond(&ask("My color is purple").within(&conversation)).await;
        let question = ask("What is my color?").within(&conversation);
        cut(&world, &keyed(&client), &question, events).await;
        client.respond(&ask("My dog is Biscuit").within(&conversation)).await;

        let retry = keyed(&client).turn(Mode::Streamed, &question).await;

        assert_eq!(retry.text(), "purple", "after {events} events");
        assert_eq!(retry.header("antiphon-resent"), Some("1"));
        let view = world.last_view().await;
        assert_eq!(view.last().unwrap(), "user: What is my color?", "{view:?}");
        assert!(view.contains(&"user: My dog is Biscuit".to_owned()), "{view:?}");
        assert_eq!(count(&client, &conversation, "user: What is my color?").await, 1);
        let held = lines(&client.items(&conversation).await);
        assert_eq!(held.last().unwrap(), "assistant: purple");
    }
    assert_eq!(world.upstream.refusals(), []);
}

#[tokio::test]
async fn report_names_the_attempt_that_stored_the_input() {
    let world = World::new().await;
    let client = world.client();
    let conversation = client.new_conversation().await;
    let question = ask("My color is purple").within(&conversation);
    let first = cut(&world, &keyed(&client), &question, 3).await;
    client.respond(&ask("My dog is Biscuit").within(&conversation)).await;

    let retry = keyed(&client).turn(Mode::Streamed, &question).await;

    let report = client.report(retry.id()).await;
    assert_eq!(report["retry_of"], first);
    assert_eq!(report["superseding"], false);
    assert_eq!(report["resent"][0]["rule"], "same_request");
    let inputs = |id: &str| format!("/v1/responses/{id}/input_items");
    let of_retry = client.get(&inputs(retry.id())).await.json();
    assert_eq!(of_retry["data"], client.get(&inputs(&first)).await.json()["data"]);
    assert_eq!(of_retry["data"][0]["content"][0]["text"], "My color is purple");
    client.delete(&format!("/v1/responses/{first}")).await.json();
    assert_eq!(client.get(&inputs(retry.id())).await.json()["data"], json!([]));
}

#[tokio::test]
async fn completed_retry_is_answered_again() {
    let world = World::new().await;
    let client = world.client();
    let conversation = client.new_conversation().await;
    let question = ask("My color is purple").within(&conversation);
    cut(&world, &keyed(&client), &question, 3).await;
    client.respond(&ask("My dog is Biscuit").within(&conversation)).await;
    let retry = keyed(&client).turn(Mode::Streamed, &question).await;
    client.respond(&ask("What is my dog?").within(&conversation)).await;
    let (asked, held) = (world.times_asked(), client.items(&conversation).await);

    let again = keyed(&client).turn(Mode::Streamed, &question).await;

    assert_eq!(again.response, retry.response);
    assert_eq!(again.header("antiphon-answered-again"), Some("true"));
    assert_eq!(world.times_asked(), asked);
    assert_eq!(client.items(&conversation).await, held);
}

#[tokio::test]
async fn every_cut_retry_leaves_the_input_once() {
    let world = World::new().await;
    let client = world.client();
    let conversation = client.new_conversation().await;
    let question = ask("My color is purple").within(&conversation);
    for round in 0..12 {
        cut(&world, &keyed(&client), &question, 5).await;
        if round != 1 {
            let other = ask(format!("Turn {round}")).within(&conversation);
            client.respond(&other).await;
        }
    }

    let retry = keyed(&client).turn(Mode::Streamed, &question).await;

    assert_eq!(retry.text(), "Noted.");
    assert_eq!(count(&client, &conversation, "user: My color is purple").await, 1);
    assert_eq!(world.last_view().await.last().unwrap(), "user: My color is purple");
    assert_eq!(world.upstream.refusals(), []);
}

#[tokio::test]
async fn concurrent_retries_are_one_turn() {
    let world = World::new().await;
    let client = world.client();
    let conversation = client.new_conversation().await;
    let question = ask("My color is purple").within(&conversation);
    cut(&world, &keyed(&client), &question, 3).await;
    client.respond(&ask("My dog is Biscuit").within(&conversation)).await;
    let asked = world.times_asked();

    let retrying = keyed(&client);
    let retry = || retrying.turn(Mode::Streamed, &question);
    let (one, two) = tokio::join!(retry(), retry());

    assert_eq!(one.response, two.response);
    assert_eq!(world.times_asked(), asked + 1);
    assert_eq!(count(&client, &conversation, "user: My color is purple").await, 1);
}

#[tokio::test]
async fn continued_cut_attempt_is_not_stored_twice() {
    let world = World::new().await;
    let client = world.client();
    let conversation = client.new_conversation().await;
    let question = ask("My color is purple").within(&conversation);
    let first = cut(&world, &keyed(&client), &question, 3).await;
    client.respond(&ask("Go on").after(&first)).await;

    let retry = keyed(&client).turn(Mode::Streamed, &question).await;

    assert_eq!(retry.text(), "Noted.");
    assert_eq!(count(&client, &conversation, "user: My color is purple").await, 1);
}

#[tokio::test]
async fn deleted_input_of_an_attempt_stays_deleted() {
    let world = World::new().await;
    let client = world.client();
    let conversation = client.new_conversation().await;
    let question = ask("My color is purple").within(&conversation);
    cut(&world, &keyed(&client), &question, 1).await;
    client.respond(&ask("My dog is Biscuit").within(&conversation)).await;
    let item = client.items(&conversation).await[0]["id"].as_str().unwrap().to_owned();
    client.delete(&format!("/v1/conversations/{conversation}/items/{item}")).await.json();

    let retry = keyed(&client).turn(Mode::Streamed, &question).await;

    assert_eq!(retry.header("antiphon-resent"), Some("0"));
    assert_eq!(retry.header("antiphon-repairs"), Some("deleted_item=1"));
    assert_eq!(count(&client, &conversation, "user: My color is purple").await, 0);
}

#[tokio::test]
async fn tool_outputs_of_a_cut_attempt_are_stored_once() {
    let world = World::new().await;
    let client = world.client();
    let conversation = client.new_conversation().await;
    let called = client.respond(&ask("Echo hello").within(&conversation)).await;
    let result = ask(json!([output(called.call_id(), "hello")])).within(&conversation);
    cut(&world, &keyed(&client), &result, 3).await;
    client.respond(&ask("My dog is Biscuit").within(&conversation)).await;

    let retry = keyed(&client).turn(Mode::Streamed, &result).await;

    assert_eq!(retry.header("antiphon-resent"), Some("1"));
    assert_eq!(retry.text(), "echo said: hello");
    let held = client.items(&conversation).await;
    let outputs = held.iter().filter(|item| item["type"] == "function_call_output");
    assert_eq!(outputs.count(), 1);
    assert_eq!(world.upstream.refusals(), []);
}

#[tokio::test]
async fn replayed_history_of_a_retry_is_stored_once() {
    let world = World::new().await;
    let client = world.client();
    let conversation = client.new_conversation().await;
    client.respond(&ask("My color is purple").within(&conversation)).await;
    let reply = |role: &str, text: &str| json!({"role": role, "content": text});
    let replay = ask(json!([
        reply("user", "My color is purple"),
        reply("assistant", "Noted."),
        reply("user", "My dog is Biscuit"),
    ]))
    .within(&conversation);
    cut(&world, &keyed(&client), &replay, 3).await;
    client.respond(&ask("Noted?").within(&conversation)).await;

    let retry = keyed(&client).turn(Mode::Streamed, &replay).await;

    assert_eq!(retry.header("antiphon-resent"), Some("3"));
    for line in ["user: My color is purple", "user: My dog is Biscuit"] {
        assert_eq!(count(&client, &conversation, line).await, 1, "{line}");
    }
}

#[tokio::test]
async fn counted_retry_after_another_turn_is_new() {
    let world = World::new().await;
    let client = world.client();
    let conversation = client.new_conversation().await;
    let question = ask("My color is purple").within(&conversation);
    cut(&world, &client, &question, 3).await;
    client.respond(&ask("My dog is Biscuit").within(&conversation)).await;

    super::retrying(&client).turn(Mode::Streamed, &question).await;

    assert_eq!(count(&client, &conversation, "user: My color is purple").await, 2);
}

#[tokio::test]
async fn killed_attempt_is_stored_once() {
    let mut world = World::new().await;
    let client = world.client();
    let conversation = client.new_conversation().await;
    let question = ask("My color is purple").within(&conversation);
    let answer = Answer::new(MODEL).message("Once upon a time");
    world.script(Reply::sse(answer.frames()).hang_after(5));
    let mut stream = keyed(&client).stream(&question).await;
    stream.until("response.output_text.delta").await;
    world.kill_and_start().await;
    drop(stream);
    let client = world.client();
    client.respond(&ask("My dog is Biscuit").within(&conversation)).await;

    keyed(&client).turn(Mode::Streamed, &question).await;

    let expected = [
        "user: My color is purple",
        "user: My dog is Biscuit",
        "assistant: Noted.",
        "assistant: Noted.",
    ];
    assert_eq!(lines(&client.items(&conversation).await), expected);
}

#[tokio::test]
async fn retry_on_another_replica_is_stored_once() {
    let world = World::replicas(2).await;
    let (one, other) = (world.client_of(0), world.client_of(1));
    let conversation = one.new_conversation().await;
    let question = ask("My color is purple").within(&conversation);
    cut(&world, &keyed(&one), &question, 4).await;
    other.respond(&ask("My dog is Biscuit").within(&conversation)).await;

    let retry = keyed(&other).turn(Mode::Streamed, &question).await;

    assert_eq!(retry.text(), "Noted.");
    assert_eq!(count(&one, &conversation, "user: My color is purple").await, 1);
}
