//! The output of a call that was announced and then cut short.

use antiphon_mock::{Answer, Reply};
use serde_json::{Value, json};

use crate::support::{MODEL, World, ask, frames_until, output, user};

/// A conversation whose caller left in the middle of a call's arguments, and the response's id.
async fn disconnect_in_arguments(world: &World) -> (String, String) {
    let client = world.client();
    let conversation = client.new_conversation().await;
    let answer =
        Answer::new(MODEL).reasoning("Echo it.").call("call_1", "echo", r#"{"text":"hello"}"#);
    let event = "response.function_call_arguments.delta";
    let exchange =
        world.script(Reply::sse(answer.frames()).hang_after(frames_until(&answer, event)));
    let mut events = client.stream(&ask("Echo hello").within(&conversation)).await;
    let id = events.response_id().await;
    events.until(event).await;
    drop(events);
    world.wait_for_disconnect(&exchange).await;
    client.wait_until_settled(&id).await;
    (conversation, id)
}

#[tokio::test]
async fn late_output_is_dropped_and_reported() {
    let world = World::new().await;
    let client = world.client();
    let (conversation, id) = disconnect_in_arguments(&world).await;
    let late = json!([output(&json!("call_1"), "hello"), user("My color is purple")]);
    for ask in [ask(late.clone()).after(&id), ask(late).within(&conversation)] {
        let turn = client.respond(&ask).await;

        assert_eq!(turn.text(), "Noted.");
        assert_eq!(turn.header("antiphon-repairs"), Some("output_of_cut_short_call=1"));
        let repair = &client.report(turn.id()).await["repairs"][0];
        assert_eq!((&repair["position"], &repair["action"]), (&json!(0), &json!("dropped")));
        assert_eq!(world.last_view().await, ["user: Echo hello", "user: My color is purple"]);
    }
}

#[tokio::test]
async fn late_output_alone_is_accepted() {
    let world = World::new().await;
    let client = world.client();
    let (conversation, _) = disconnect_in_arguments(&world).await;
    let late = json!([output(&json!("call_1"), "hello")]);

    let turn = client.respond(&ask(late).within(&conversation)).await;

    assert_eq!(turn.status(), "completed");
    assert_eq!(turn.header("antiphon-repairs"), Some("output_of_cut_short_call=1"));
    assert_eq!(world.last_view().await, ["user: Echo hello"]);
}

#[tokio::test]
async fn replayed_call_of_a_late_output_is_dropped() {
    let world = World::new().await;
    let client = world.client();
    let (conversation, _) = disconnect_in_arguments(&world).await;
    let call: Value = json!({
        "type": "function_call", "call_id": "call_1", "name": "echo", "arguments": "",
    });
    let replay = json!([
        user("Echo hello"),
        call,
        output(&json!("call_1"), "hello"),
        user("My color is purple"),
    ]);

    let turn = client.respond(&ask(replay).within(&conversation)).await;

    assert_eq!(turn.text(), "Noted.");
    assert_eq!(world.last_view().await, ["user: Echo hello", "user: My color is purple"]);
}
