//! A gateway that refuses what a provider would refuse, with exactly the provider's error.

use antiphon_gateway::settings::Faults;
use antiphon_mock::encrypted_content;
use serde_json::{Value, json};

use crate::support::{
    Client, MODEL, MODES, PLAIN, Refused, World, ask, call, invalid, not_found, output, typed_user,
    user,
};

async fn strict() -> World {
    World::with(|settings| settings.faults = Faults::Reject).await
}

fn of_input(message: &str) -> Refused {
    invalid(Some("input"), None, message)
}

/// A strict gateway refuses a stateless input, and sends nothing.
async fn assert_refused(input: Value, expected: &Refused) {
    let world = strict().await;
    for mode in MODES {
        let refused = world.client().refused(mode, &ask(input.clone())).await;
        assert_eq!(refused, *expected);
    }
    assert_eq!(world.times_asked(), 0);
}

#[tokio::test]
async fn duplicate_item_is_rejected() {
    let world = strict().await;
    let client = world.client();
    let conversation = client.new_conversation().await;
    let say = |input: Value| ask(input).model(PLAIN).within(&conversation);
    let called = client.respond(&say("Echo hello".into())).await;
    let held = client.items(&conversation).await;
    let asked = world.times_asked();

    let call = called.item("function_call");
    let replay = json!([call, output(called.call_id(), "hello")]);
    let message = format!(
        "Duplicate item found with id {}. Remove duplicate items from your input and try again.",
        call["id"].as_str().unwrap()
    );
    for mode in MODES {
        let refused = client.refused(mode, &say(replay.clone())).await;
        assert_eq!(refused, of_input(&message));
    }

    assert_eq!(world.times_asked(), asked);
    assert_eq!(client.items(&conversation).await, held);
    let delta = say(json!([output(called.call_id(), "hello")]));
    assert_eq!(client.respond(&delta).await.text(), "echo said: hello");
}

#[tokio::test]
async fn missing_tool_output_is_rejected() {
    let world = strict().await;
    let client = world.client();
    let conversation = client.new_conversation().await;
    let say = |input: Value| ask(input).within(&conversation);
    let called = client.respond(&say("Echo hello".into())).await;
    let call_id = called.call_id().as_str().unwrap();

    let message = format!("No tool output found for function call {call_id}.");
    for mode in MODES {
        let refused = client.refused(mode, &say("What is my color?".into())).await;
        assert_eq!(refused, of_input(&message));
    }

    assert_eq!(world.times_asked(), 1);
    assert_answerable(&client, &conversation, called.call_id()).await;
}

async fn assert_answerable(client: &Client, conversation: &str, call_id: &Value) {
    let answer = ask(json!([output(call_id, "hello")])).within(conversation);
    assert_eq!(client.respond(&answer).await.text(), "echo said: hello");
}

#[tokio::test]
async fn orphaned_tool_output_is_rejected() {
    let message = "No tool call found for function call output with call_id call_unknown.";
    let orphan = output(&json!("call_unknown"), "hello");
    assert_refused(json!([orphan]), &of_input(message)).await;
    let followed = json!([user("Hello"), orphan, user("Hello")]);
    assert_refused(followed, &of_input(message)).await;
}

#[tokio::test]
async fn lone_reasoning_is_rejected() {
    let content = encrypted_content(MODEL, "rs_lone");
    let lone = json!({
        "type": "reasoning", "id": "rs_lone", "summary": [], "encrypted_content": content,
    });
    let message = "Item 'rs_lone' of type 'reasoning' was provided without its required following \
        item.";
    assert_refused(json!([user("Hello"), lone, user("Hello")]), &of_input(message)).await;
}

#[tokio::test]
async fn unknown_bare_reasoning_is_rejected() {
    let bare = json!({"type": "reasoning", "id": "rs_lost", "summary": []});
    let message = "Item with id 'rs_lost' not found. Items are not persisted when `store` is set \
        to false. Try again with `store` set to true, or remove this item from your input.";
    let reply = json!({"type": "message", "role": "assistant", "content": "Noted."});
    let expected = not_found(Some("input"), message);
    assert_refused(json!([user("Hello"), bare, reply, user("Hello")]), &expected).await;
}

#[tokio::test]
async fn bare_reasoning_without_id_is_rejected() {
    let bare = json!({"type": "reasoning", "summary": []});
    let reply = json!({"type": "message", "role": "assistant", "content": "Noted."});
    let message = "Missing required parameter: 'input[1].id'.";
    let code = Some("missing_required_parameter");
    let expected = invalid(Some("input[1].id"), code, message);
    assert_refused(json!([user("Hello"), bare, reply, user("Hello")]), &expected).await;
}

#[tokio::test]
async fn malformed_ids_are_named_by_path() {
    let reply =
        |id: &str| json!({"type": "message", "id": id, "role": "assistant", "content": "Hm."});
    let overlong = format!("msg_{}", "x".repeat(412));
    let wrong = [
        (
            json!([user("Hello"), user("Hello"), reply(&overlong), user("Hello")]),
            "input[2].id",
            "string_above_max_length",
            "Invalid 'input[2].id': string too long. Expected a string with maximum length 64, but \
             got a string with length 416 instead.",
        ),
        (
            json!([user("1"), user("2"), user("3"), reply("item_abc"), user("4")]),
            "input[3].id",
            "invalid_value",
            "Invalid 'input[3].id': 'item_abc'. Expected an ID that begins with 'msg'.",
        ),
        (
            json!([user("Hello"), call("", "hello"), output(&json!(""), "hello")]),
            "input[1].call_id",
            "empty_string",
            "Invalid 'input[1].call_id': empty string. Expected a string with minimum length 1, \
             but got an empty string instead.",
        ),
    ];
    for (input, param, code, message) in wrong {
        assert_refused(input, &invalid(Some(param), Some(code), message)).await;
    }
}

#[tokio::test]
async fn positions_in_errors_count_the_sent_items() {
    let world = strict().await;
    let client = world.client();
    let conversation = client.new_conversation().await;
    client.respond(&ask("Hello").within(&conversation)).await;
    let wrong = json!([user("Hello"), call("", "hello"), output(&json!(""), "hello")]);
    let refused = client.refused(MODES[0], &ask(wrong).within(&conversation)).await;
    assert_eq!(refused.body["error"]["param"], "input[1].call_id");
}

#[tokio::test]
async fn well_formed_input_passes() {
    for mode in MODES {
        let world = strict().await;
        let client = world.client();
        let conversation = client.new_conversation().await;
        let say = |input: Value| ask(input).within(&conversation);
        client.turn(mode, &say(json!([typed_user("My color is purple")]))).await;
        let called = client.turn(mode, &say("Echo hello".into())).await;
        let answer = output(called.call_id(), "hello");
        client.turn(mode, &say(json!([answer]))).await;
        let recalled = client.turn(mode, &say("What is my color?".into())).await;
        assert_eq!(recalled.text(), "purple");
    }
}

#[tokio::test]
async fn reasoning_of_another_model_is_rejected() {
    let world = strict().await;
    let client = world.client();
    let called = client.respond(&ask("Echo hello").encrypted()).await;
    let mut replay = vec![user("Echo hello")];
    replay.extend_from_slice(called.output());
    replay.push(output(called.call_id(), "hello"));
    let content = called.item("reasoning")["encrypted_content"].as_str().unwrap();
    let message = format!(
        "The encrypted content {}...{} could not be verified.",
        &content[..4],
        &content[content.len() - 4..]
    );
    for mode in MODES {
        let refused = client.refused(mode, &ask(json!(replay)).model("another-model")).await;
        assert_eq!(refused, invalid(None, Some("invalid_encrypted_content"), &message));
    }
    assert_eq!(world.times_asked(), 1);
}
