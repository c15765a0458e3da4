//! A gateway that is killed, and what its next start makes of what it left.

use super::{create_queued, in_background, script_silence, start_tale, with_own_key};
use crate::support::{World, ask, lines};

#[tokio::test]
async fn response_without_output_restarts_under_its_id() {
    let mut world = with_own_key().await;
    let conversation = world.client().new_conversation().await;
    script_silence(&world);
    let asking = in_background("My color is purple").within(&conversation);
    let id = create_queued(&world.client(), &asking).await;
    world.request(0).await;

    world.kill_and_start().await;

    let client = world.client();
    let ended = client.wait_until_ended(&id).await;
    assert_eq!((&ended["status"], &ended["id"]), (&"completed".into(), &(*id).into()));
    assert_eq!(world.times_asked(), 2);
    let turn = client.stream_again(&id, None).await.ended().await;
    assert_eq!(turn.response, ended);
    let held = lines(&client.items(&conversation).await);
    assert_eq!(held, ["user: My color is purple", "assistant: Noted."]);
    world.kill_and_start().await;
    assert_eq!(world.client().stored_response(&id).await, ended);
    assert_eq!(world.times_asked(), 2);
}

#[tokio::test]
async fn resumed_turn_keeps_the_id_of_its_request() {
    let mut world = with_own_key().await;
    script_silence(&world);
    let creator = world.client().with_header("x-request-id", "created-before");
    let id = create_queued(&creator, &in_background("Hello")).await;
    world.request(0).await;

    world.kill_and_start().await;

    let client = world.client();
    assert_eq!(client.wait_until_ended(&id).await["status"], "completed");
    assert_eq!(client.report(&id).await["request_id"], "created-before");
}

#[tokio::test]
async fn response_with_output_fails_after_restart() {
    let mut world = with_own_key().await;
    let conversation = world.client().new_conversation().await;
    let asking = in_background("My color is purple").within(&conversation);
    let (events, id, _exchange) = start_tale(&world, &world.client(), &asking).await;
    let received = events.seen().len();

    world.kill_and_start().await;

    let client = world.client();
    let rest = client.stream_again(&id, Some(received - 1)).await.all().await;
    let [end] = &rest[..] else { panic!("{rest:?}") };
    assert_eq!((&*end.name, &end.json["sequence_number"]), ("response.failed", &received.into()));
    let ended = client.stored_response(&id).await;
    assert_eq!(end.json["response"], ended);
    assert_eq!(ended["error"]["code"], "server_error");
    let message = ended["error"]["message"].as_str().unwrap();
    assert!(message.contains("its output had begun"), "{message}");
    assert_eq!(world.times_asked(), 1);
    assert_eq!(lines(&client.items(&conversation).await), Vec::<String>::new());
    let turn = client.respond(&ask("What is my color?").after(&id)).await;
    assert_eq!(turn.text(), "purple");
}

#[tokio::test]
async fn response_with_callers_token_fails_after_restart() {
    let mut world = World::new().await;
    script_silence(&world);
    let id = create_queued(&world.client(), &in_background("My color is purple")).await;
    world.request(0).await;

    world.kill_and_start().await;

    let ended = world.client().wait_until_ended(&id).await;
    assert_eq!(ended["status"], "failed");
    let message = ended["error"]["message"].as_str().unwrap();
    assert!(message.contains("its caller's own token"), "{message}");
    assert_eq!(world.times_asked(), 1);
}

#[tokio::test]
async fn queued_response_starts_after_restart() {
    let mut world = with_own_key().await;
    let conversation = world.client().new_conversation().await;
    let first = ask("My color is purple").within(&conversation);
    let (_events, _, _exchange) = start_tale(&world, &world.client(), &first).await;
    let asking = in_background("What is my color?").within(&conversation);
    let id = create_queued(&world.client(), &asking).await;

    world.kill_and_start().await;

    let ended = world.client().wait_until_ended(&id).await;
    assert_eq!(ended["output"][0]["content"][0]["text"], "purple");
}

#[tokio::test]
async fn ended_response_is_streamed_after_restart() {
    let mut world = World::new().await;
    let client = world.client();
    let turn = client.turn(crate::support::Mode::Streamed, &in_background("Hello")).await;

    world.kill_and_start().await;

    let again = world.client().stream_again(turn.id(), Some(1)).await.all().await;
    assert_eq!(again, turn.events[2..]);
}
