//! Outputs without a call.

use serde_json::{Value, json};

use crate::support::{MODES, World, ask, invalid, output, typed_user, user};

fn unknown(text: &str) -> Value {
    output(&json!("call_unknown"), text)
}

#[tokio::test]
async fn output_of_an_unknown_call_is_rejected() {
    let world = World::new().await;
    let client = world.client();
    let conversation = client.new_conversation().await;
    let received = client.respond(&ask("Hello").within(&conversation)).await;
    let expected = invalid(
        Some("input"),
        None,
        "No tool call found for function call output with call_id call_unknown.",
    );
    for mode in MODES {
        let ask = ask(json!([unknown("hello")]));
        for ask in [ask.clone(), ask.clone().within(&conversation), ask.after(received.id())] {
            assert_eq!(client.refused(mode, &ask).await, expected);
        }
    }
    assert_eq!(world.times_asked(), 1);
    assert_eq!(client.items(&conversation).await.len(), 2);
}

#[tokio::test]
async fn approval_of_an_unknown_request_is_rejected() {
    let world = World::new().await;
    let approval = json!({
        "type": "mcp_approval_response", "approval_request_id": "mcpr_9", "approve": true,
    });
    let expected = invalid(
        Some("input"),
        None,
        "No tool call found for mcp approval response with call_id mcpr_9.",
    );
    for mode in MODES {
        let ask = ask(json!([user("Go on."), approval]));
        assert_eq!(world.client().refused(mode, &ask).await, expected);
    }
    assert_eq!(world.times_asked(), 0);
}

#[tokio::test]
async fn old_output_of_an_unknown_call_is_dropped() {
    for mode in MODES {
        let world = World::new().await;
        let client = world.client();
        let history = json!([
            typed_user("My color is purple"),
            unknown("hello"),
            typed_user("What is my color?"),
        ]);

        let recalled = client.turn(mode, &ask(history)).await;

        assert_eq!(recalled.text(), "purple");
        assert_eq!(recalled.header("antiphon-repairs"), Some("output_without_call=1"));
        assert_eq!(world.view(0).await, ["user: My color is purple", "user: What is my color?"]);
        let repair = &client.report(recalled.id()).await["repairs"][0];
        assert_eq!(repair["position"], 1);
        assert_eq!(repair["type"], "function_call_output");
        assert_eq!(repair["action"], "dropped");
    }
}

#[tokio::test]
async fn resent_output_is_sent_once() {
    for mode in MODES {
        let world = World::new().await;
        let client = world.client();
        let conversation = client.new_conversation().await;
        let say = |input: Value| ask(input).within(&conversation);
        let called = client.turn(mode, &say("Echo hello".into())).await;
        let answer = output(called.call_id(), "hello");
        client.turn(mode, &say(json!([answer]))).await;

        let again = say(json!([answer, user("What is my color?")]));
        let next = client.turn(mode, &again).await;

        assert_eq!(next.header("antiphon-resent"), Some("1"));
        let view = world.view(2).await;
        let outputs = view.iter().filter(|line| line.starts_with("output"));
        assert_eq!(outputs.count(), 1);
    }
}

#[tokio::test]
async fn second_output_of_a_call_is_ignored() {
    let world = World::new().await;
    let client = world.client();
    let conversation = client.new_conversation().await;
    let say = |input: Value| ask(input).within(&conversation);
    let called = client.respond(&say("Echo hello".into())).await;
    client.respond(&say(json!([output(called.call_id(), "hello")]))).await;

    let changed = output(called.call_id(), "something else");
    let next = client.respond(&say(json!([changed, user("What is my color?")]))).await;

    let view = world.view(2).await;
    assert!(view.contains(&"output: hello".to_owned()), "{view:?}");
    assert!(!view.contains(&"output: something else".to_owned()));
    let resent = &client.report(next.id()).await["resent"][0];
    assert_eq!((&resent["rule"], &resent["differs"]), (&json!("same_call"), &json!(true)));
}
