//! Turns whose items were repaired.

use serde_json::{Value, json};

use super::{assert_sent, sources};
use crate::support::{MODES, OTHER_MODEL, World, ask, call, output, typed_user, user};

#[tokio::test]
async fn placeholder_output_is_part_of_the_context() {
    for mode in MODES {
        let world = World::new().await;
        let client = world.client();
        let conversation = client.new_conversation().await;
        let called = client.turn(mode, &ask("Echo hello").within(&conversation)).await;

        let turn = client.turn(mode, &ask("Hello?").within(&conversation)).await;

        let context = assert_sent(&world, &client, &turn).await;
        assert_eq!(sources(&context), ["stored", "stored", "stored", "placeholder", "input"]);
        let repair = &context["items"][3]["repair"];
        assert_eq!(repair["fault"], "unanswered_call");
        assert!(
            repair["message"].as_str().expect("it is there").starts_with("No tool output found")
        );
        assert!(client.report(turn.id()).await.get("view").is_none());

        let late = json!([output(called.call_id(), "hello at last")]);
        let echoed = client.turn(mode, &ask(late).within(&conversation)).await;
        assert_sent(&world, &client, &echoed).await;
    }
}

/// Histories with a fault each, and the fault.
fn faulty_histories() -> Vec<(&'static str, Value)> {
    let twice = call("call_2", "two");
    let mut named = typed_user("A message");
    named["id"] = json!("not an id of a message!");
    let reasoning = json!({"type": "reasoning", "id": "rs_1", "summary": []});
    let mut same = [call("call_a", "one"), call("call_b", "two")];
    same[0]["id"] = json!("fc_same");
    same[1]["id"] = json!("fc_same");
    let mut unnamed_output = output(&json!("call_x"), "x");
    unnamed_output.as_object_mut().expect("it is there").remove("call_id");
    vec![
        ("unanswered call", json!([call("call_1", "one"), user("Hello")])),
        ("call twice", json!([twice, twice, output(&json!("call_2"), "two"), user("Hello")])),
        ("malformed id", json!([named, user("Hello")])),
        ("lone reasoning", json!([reasoning, user("Hello")])),
        (
            "same id",
            json!([
                same[0],
                output(&json!("call_a"), "1"),
                same[1],
                output(&json!("call_b"), "2"),
                user("Hello")
            ]),
        ),
        ("no call id", json!([call("call_x", "x"), unnamed_output, user("Hello")])),
        (
            "two outputs",
            json!([
                call("call_3", "x"),
                output(&json!("call_3"), "a"),
                output(&json!("call_3"), "b"),
                user("Hello")
            ]),
        ),
        (
            "long call id",
            json!([call(&"c".repeat(80), "x"), output(&json!("c".repeat(80)), "a"), user("Hello")]),
        ),
    ]
}

#[tokio::test]
async fn context_of_each_repair_equals_the_request() {
    for (name, history) in faulty_histories() {
        let world = World::new().await;
        let client = world.client();
        let turn = client.respond(&ask(history).model(crate::support::PLAIN)).await;
        assert!(turn.header("antiphon-repairs").is_some(), "{name}");
        let context = assert_sent(&world, &client, &turn).await;
        assert!(sources(&context).iter().all(|source| *source != "unknown"));
        let next = client.respond(&ask("And?").model(crate::support::PLAIN).after(turn.id())).await;
        assert_sent(&world, &client, &next).await;
    }
}

#[tokio::test]
async fn reasoning_of_another_model_is_left_out_with_its_reason() {
    for mode in MODES {
        let world = World::new().await;
        let client = world.client();
        let called = client.turn(mode, &ask("Echo hello").encrypted()).await;
        let answer = json!([output(called.call_id(), "hello")]);

        let ask = ask(answer).model(OTHER_MODEL).after(called.id());
        let turn = client.turn(mode, &ask).await;

        let context = assert_sent(&world, &client, &turn).await;
        assert_eq!(context["left_out"][0]["type"], "reasoning");
        assert_eq!(context["left_out"][0]["fault"], "foreign_reasoning");
        let message = context["left_out"][0]["message"].as_str().expect("it is there");
        assert!(!message.is_empty());
    }
}
