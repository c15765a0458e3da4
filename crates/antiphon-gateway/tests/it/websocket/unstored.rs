//! Responses that are not stored: their connection remembers them.

use antiphon_mock::{Answer, Reply};
use serde_json::{Value, json};

use crate::support::{Ask, MODEL, Turn, World, ask, create, frames_until, invalid, output};

/// The error body's member, as the frame has it.
fn not_found(id: &str) -> Value {
    let message = format!("Previous response with id '{id}' not found.");
    let code = "previous_response_not_found";
    invalid(Some("previous_response_id"), Some(code), &message).body["error"].clone()
}

fn say(text: &str) -> Ask {
    ask(text).unstored()
}

/// A turn that calls a tool.
async fn calling(world: &World, socket: &mut crate::support::Socket) -> Turn {
    let answer = Answer::new(MODEL).reasoning("Echo it.").call("call_1", "echo", r#"{"text":"a"}"#);
    world.script(Reply::sse(answer.frames()));
    socket.turn(&say("Echo a")).await
}

#[tokio::test]
async fn unstored_response_is_continued_on_its_connection() {
    let world = World::new().await;
    let client = world.client();
    let mut socket = client.socket().await;

    let called = calling(&world, &mut socket).await;
    let result = json!([output(called.call_id(), "a")]);
    let answered = socket.turn(&ask(result).unstored().after(called.id())).await;
    socket.turn(&say("Thank you").after(answered.id())).await;

    let view = world.view(2).await;
    assert_eq!(view[..4], ["user: Echo a", "reasoning", r#"call echo {"text":"a"}"#, "output: a"]);
    assert_eq!(view.last().map(String::as_str), Some("user: Thank you"));
    for id in [called.id(), answered.id()] {
        assert_eq!(client.get(&format!("/v1/responses/{id}")).await.status(), 404);
    }
}

#[tokio::test]
async fn unstored_response_is_unknown_on_another_connection() {
    let world = World::new().await;
    let client = world.client();
    let turn = client.socket().await.turn(&say("Hello")).await;

    let mut other = client.socket().await;
    other.send(&create(&say("Go on").after(turn.id()))).await;

    assert_eq!(other.refused().await, (400, not_found(turn.id())));
    assert_eq!(other.turn(&say("Hello again")).await.status(), "completed");
}

#[tokio::test]
async fn other_lane_waits_for_the_open_response() {
    let world = World::new().await;
    let mut socket = world.client().socket().await;
    let answer = Answer::new(MODEL).message("Once upon a time");
    let until = frames_until(&answer, "response.output_text.delta");
    let tale = world.script(Reply::sse(answer.frames()).hang_after(until));
    socket.send(&create(&say("A tale"))).await;
    let announced = socket.until("response.created").await;
    let id = announced["response"]["id"].as_str().unwrap().to_owned();
    socket.until("response.output_text.delta").await;

    socket.send(&create(&say("And?").after(&id).field("stream_id", "critic"))).await;
    socket.send(&json!({"type": "nothing"})).await;
    assert_eq!(socket.refused().await.0, 400, "what was sent behind it is read");
    tale.release_all();

    let ended = socket.until("response.completed").await;
    assert_eq!(ended["response"]["id"], id);
    assert_eq!(socket.ended().await.status(), "completed");
    let view = world.view(1).await;
    assert_eq!(view, ["user: A tale", "assistant: Once upon a time", "user: And?"]);
}

#[tokio::test]
async fn deleted_item_is_forgotten_by_the_lane() {
    let world = World::new().await;
    let client = world.client();
    let conversation = client.new_conversation().await;
    let first = client.respond(&ask("My color is purple").within(&conversation)).await;
    let mut socket = client.socket().await;
    let of_chain = socket.turn(&say("My dog is Biscuit").after(first.id())).await;
    let mut other = client.socket().await;
    let of_conversation = other.turn(&say("My city is Bonn").within(&conversation)).await;

    let color = client.items(&conversation).await[0]["id"].as_str().unwrap().to_owned();
    let path = format!("/v1/conversations/{conversation}/items/{color}");
    assert_eq!(client.delete(&path).await.status(), 200);

    socket.turn(&say("And?").after(of_chain.id())).await;
    let rest = ["assistant: Noted.", "user: My dog is Biscuit", "assistant: Noted.", "user: And?"];
    assert_eq!(world.last_view().await, rest);
    other.turn(&say("And?").after(of_conversation.id())).await;
    let rest = ["assistant: Noted.", "user: My city is Bonn", "assistant: Noted.", "user: And?"];
    assert_eq!(world.last_view().await, rest);
}

#[tokio::test]
async fn unstored_item_is_not_found_outside_its_connection() {
    let world = World::new().await;
    let client = world.client();
    let mut socket = client.socket().await;
    let called = calling(&world, &mut socket).await;

    let reference = json!([{"type": "item_reference", "id": called.item("function_call")["id"]}]);
    let refused = client.create(crate::support::Mode::Whole, &ask(reference)).await;

    assert_eq!(refused.status(), 404, "{:?}", refused.body());
}

#[tokio::test]
async fn lane_remembers_only_its_latest_response() {
    let world = World::new().await;
    let mut socket = world.client().socket().await;
    let first = socket.turn(&say("One")).await;
    socket.turn(&say("Two").after(first.id())).await;

    socket.send(&create(&say("Two again").after(first.id()))).await;

    assert_eq!(socket.refused().await, (400, not_found(first.id())));
}

#[tokio::test]
async fn unknown_output_fails_and_forgets_the_response() {
    let world = World::new().await;
    let mut socket = world.client().socket().await;
    let called = calling(&world, &mut socket).await;
    let wrong = ask(json!([output(&"call_other".into(), "a")])).unstored().after(called.id());

    socket.send(&create(&wrong)).await;
    let (status, error) = socket.refused().await;
    assert_eq!((status, &error["param"]), (400, &json!("input")));

    let right = ask(json!([output(called.call_id(), "a")])).unstored().after(called.id());
    socket.send(&create(&right)).await;
    assert_eq!(socket.refused().await, (400, not_found(called.id())));
    assert_eq!(world.times_asked(), 1);
}

#[tokio::test]
async fn stored_response_cannot_continue_an_unstored_one() {
    let world = World::new().await;
    let mut socket = world.client().socket().await;
    let turn = socket.turn(&say("Hello")).await;

    socket.send(&create(&ask("Go on").after(turn.id()))).await;

    let (status, error) = socket.refused().await;
    assert_eq!((status, &error["code"]), (400, &json!("previous_response_not_found")));
    let message = error["message"].as_str().unwrap();
    assert!(message.contains("was not stored"), "{message}");
}

#[tokio::test]
async fn unstored_response_can_continue_a_stored_one() {
    let world = World::new().await;
    let client = world.client();
    let stored = client.respond(&ask("My color is purple")).await;
    let mut socket = client.socket().await;

    let unstored = socket.turn(&say("Thank you").after(stored.id())).await;
    socket.turn(&say("Good bye").after(unstored.id())).await;

    let view = world.view(2).await;
    assert_eq!(view.first().map(String::as_str), Some("user: My color is purple"));
    assert_eq!(view.len(), 5, "{view:?}");
}
