//! An attempt that was cut short is superseded by the next.

use antiphon_gateway::settings::OnDisconnect;
use antiphon_mock::{Answer, Reply};

use super::retrying;
use crate::support::{Ask, Client, MODEL, MODES, Mode, World, ask, lines};

fn answer() -> Answer {
    Answer::new(MODEL)
        .reasoning("Echo it.")
        .message("I call the tool.")
        .call("call_1", "echo", r#"{"text":"hello"}"#)
        .message("I have called it.")
}

/// Leaves a stream after `events` of the upstream's; the announced id.
async fn cut(world: &World, client: &Client, question: &Ask, events: usize) -> String {
    let exchange = world.script(Reply::sse(answer().frames()).hang_after(events));
    let mut stream = client.stream(question).await;
    let id = stream.response_id().await;
    for _ in 1..events {
        stream.next().await;
    }
    drop(stream);
    world.wait_for_disconnect(&exchange).await;
    id
}

#[tokio::test]
async fn retry_replaces_an_attempt_cut_anywhere() {
    let world = World::new().await;
    let client = world.client();
    // The last two frames end the stream, and with it the turn.
    for events in 1..answer().frames().len() - 1 {
        let conversation = client.new_conversation().await;
        client.respond(&ask("My color is purple").within(&conversation)).await;
        let question = ask("What is my color?").within(&conversation);

        let left = cut(&world, &client, &question, events).await;
        let turn = retrying(&client).turn(Mode::Streamed, &question).await;

        assert_eq!(turn.text(), "purple", "after {events} events");
        assert_eq!(turn.header("antiphon-superseding"), Some("true"));
        assert_eq!(client.report(turn.id()).await["superseding"], true);
        let expected = ["user: My color is purple", "assistant: Noted.", "user: What is my color?"];
        assert_eq!(world.last_view().await, expected);
        let held = lines(&client.items(&conversation).await);
        assert_eq!(held, [&expected[..], &["assistant: purple"]].concat());
        assert_eq!(client.stored_response(&left).await["status"], "cancelled");
    }
}

#[tokio::test]
async fn replaced_response_can_be_continued() {
    let world = World::new().await;
    let client = world.client();
    let conversation = client.new_conversation().await;
    let question = ask("My color is purple").within(&conversation);
    let left = cut(&world, &client, &question, 3).await;
    retrying(&client).turn(Mode::Streamed, &question).await;

    let recalled = client.respond(&ask("What is my color?").after(&left)).await;

    assert_eq!(recalled.text(), "purple");
    assert_eq!(
        lines(&client.items(&conversation).await),
        ["user: My color is purple", "assistant: Noted."]
    );
}

#[tokio::test]
async fn disconnect_before_output_doubles_nothing() {
    let world = World::new().await;
    let client = world.client();
    for mode in MODES {
        let conversation = client.new_conversation().await;
        let question = ask("My color is purple").within(&conversation);
        let exchange = world.script(Reply::sse(answer().frames()).withhold_head());
        let asked = world.times_asked();
        {
            let mut asking = Box::pin(client.create(mode, &question));
            tokio::select! {
                _ = &mut asking => panic!("the head is withheld"),
                _ = world.request(asked) => {}
            }
        }
        world.wait_for_disconnect(&exchange).await;

        let turn = retrying(&client).turn(mode, &question).await;

        assert_eq!(turn.text(), "Noted.");
        assert_eq!(client.items(&conversation).await.len(), 2, "{mode:?}");
    }
}

#[tokio::test]
async fn retry_waits_for_a_finishing_turn() {
    let world = World::with(|settings| settings.on_disconnect = OnDisconnect::Finish).await;
    let client = world.client();
    let conversation = client.new_conversation().await;
    let question = ask("Echo hello").within(&conversation);
    let exchange = world.script(Reply::sse(answer().frames()).hang_after(3));
    let mut stream = client.stream(&question).await;
    let id = stream.response_id().await;
    drop(stream);

    let retrying = retrying(&client);
    let mut retry = Box::pin(retrying.turn(Mode::Streamed, &question));
    tokio::select! {
        _ = &mut retry => panic!("the first attempt has not ended"),
        _ = client.items(&conversation) => {}
    }
    exchange.release_all();
    let turn = retry.await;

    assert_eq!(turn.id(), id);
    assert_eq!(world.times_asked(), 1);
}

#[tokio::test]
async fn retry_replaces_an_unstored_turn() {
    let world = World::new().await;
    let client = world.client();
    for mode in MODES {
        let conversation = client.new_conversation().await;
        let question = ask("My color is purple").within(&conversation).unstored();
        let first = client.turn(mode, &question).await;
        let turn = retrying(&client).turn(mode, &question).await;
        assert_ne!(turn.id(), first.id());
        assert_eq!(turn.header("antiphon-superseding"), Some("true"));
        assert_eq!(client.items(&conversation).await.len(), 2);
    }
}

#[tokio::test]
async fn retry_replaces_a_crashed_turn() {
    let mut world = World::new().await;
    let client = world.client();
    let conversation = client.new_conversation().await;
    let question = ask("My color is purple").within(&conversation);
    world.script(Reply::sse(answer().frames()).hang_after(6));
    let mut stream = client.stream(&question).await;
    let id = stream.response_id().await;
    stream.until("response.output_item.added").await;
    world.kill_and_start().await;
    drop(stream);

    let client = world.client();
    let turn = retrying(&client).turn(Mode::Streamed, &question).await;

    assert_eq!(turn.header("antiphon-superseding"), Some("true"));
    assert_eq!(
        lines(&client.items(&conversation).await),
        ["user: My color is purple", "assistant: Noted."]
    );
    assert_eq!(client.stored_response(&id).await["status"], "cancelled");
}

#[tokio::test]
async fn completed_turn_is_replayed_after_a_crash() {
    let mut world = World::new().await;
    for mode in MODES {
        let client = world.client();
        let conversation = client.new_conversation().await;
        let question = ask("My color is purple").within(&conversation);
        let first = client.turn(mode, &question).await;
        world.kill_and_start().await;

        let client = world.client();
        let turn = retrying(&client).turn(mode, &question).await;

        assert_eq!(turn.response, first.response);
        assert_eq!(client.items(&conversation).await.len(), 2);
    }
}
