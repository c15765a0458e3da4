//! Calls that nobody answered.

use serde_json::{Value, json};

use crate::support::{MODES, Mode, World, ask, call, ids, lines, output, typed_user, user};

const UNANSWERED: Option<&str> = Some("unanswered_call=1");

/// The texts of the outputs that the model was given.
fn outputs(view: &[String]) -> Vec<&str> {
    view.iter().filter_map(|line| line.strip_prefix("output: ")).collect()
}

#[tokio::test]
async fn unanswered_call_gets_a_placeholder_output() {
    for mode in MODES {
        let world = World::new().await;
        let client = world.client();
        let conversation = client.new_conversation().await;
        let say = |input: Value| ask(input).within(&conversation);
        client.turn(mode, &say("My color is purple".into())).await;
        let called = client.turn(mode, &say("Echo hello".into())).await;

        let recalled = client.turn(mode, &say("What is my color?".into())).await;

        assert_eq!(recalled.text(), "purple");
        assert_eq!(recalled.header("antiphon-repairs"), UNANSWERED);
        let view = world.view(2).await;
        assert_eq!(view.len(), 7);
        assert_eq!(view[4], r#"call echo {"text":"hello"}"#);
        assert!(view[5].starts_with("output: "), "{view:?}");
        assert_eq!(view[6], "user: What is my color?");
        let call = called.item("function_call");
        let message = format!(
            "No tool output found for function call {}.",
            call["call_id"].as_str().unwrap()
        );
        let report = client.report(recalled.id()).await;
        assert_eq!(
            report["repairs"],
            json!([{
                "position": null,
                "type": "function_call",
                "item_id": call["id"],
                "fault": "unanswered_call",
                "action": "answered",
                "message": message,
                "page": "/faults/unanswered_call",
            }])
        );
    }
}

#[tokio::test]
async fn stored_call_still_accepts_its_real_output() {
    for mode in MODES {
        let world = World::new().await;
        let client = world.client();
        let conversation = client.new_conversation().await;
        let say = |input: Value| ask(input).within(&conversation);
        let called = client.turn(mode, &say("Echo hello".into())).await;
        client.turn(mode, &say("My color is purple".into())).await;
        assert_eq!(
            lines(&client.items(&conversation).await),
            [
                "user: Echo hello",
                "reasoning",
                r#"call echo {"text":"hello"}"#,
                "user: My color is purple",
                "assistant: Noted.",
            ]
        );

        let late = say(json!([output(called.call_id(), "hello at last")]));
        let echoed = client.turn(mode, &late).await;

        assert_eq!(echoed.text(), "echo said: hello at last");
        assert_eq!(echoed.header("antiphon-repairs"), None);
        assert_eq!(outputs(&world.view(2).await), ["hello at last"]);
        client.turn(mode, &say("What is my color?".into())).await;
        assert_eq!(outputs(&world.view(3).await), ["hello at last"]);
    }
}

#[tokio::test]
async fn late_output_with_the_next_message_is_accepted() {
    let world = World::new().await;
    let client = world.client();
    let conversation = client.new_conversation().await;
    let say = |input: Value| ask(input).within(&conversation);
    let called = client.respond(&say("Echo hello".into())).await;
    client.respond(&say("My color is purple".into())).await;

    let answer = output(called.call_id(), "hello at last");
    let recalled = client.respond(&say(json!([answer, user("What is my color?")]))).await;

    assert_eq!(recalled.text(), "purple");
    assert_eq!(recalled.header("antiphon-repairs"), None);
    assert_eq!(outputs(&world.view(2).await), ["hello at last"]);
}

#[tokio::test]
async fn chain_with_an_unanswered_call_continues() {
    for mode in MODES {
        let world = World::new().await;
        let client = world.client();
        let called = client.turn(mode, &ask("Echo hello")).await;

        let next = client.turn(mode, &ask("My color is purple").after(called.id())).await;
        let late = json!([output(called.call_id(), "hello at last")]);
        let echoed = client.turn(mode, &ask(late).after(next.id())).await;

        assert_eq!(next.header("antiphon-repairs"), UNANSWERED);
        assert_eq!(echoed.text(), "echo said: hello at last");
    }
}

#[tokio::test]
async fn replayed_unanswered_call_gets_a_placeholder() {
    let world = World::new().await;
    let replay = json!([
        typed_user("Echo hello"),
        call("call_lost", "hello"),
        typed_user("My color is purple"),
    ]);

    let turn = world.client().respond(&ask(replay)).await;

    assert_eq!(turn.header("antiphon-repairs"), UNANSWERED);
    let request = world.request(0).await;
    assert_eq!(request.verdict, Ok(()));
    assert_eq!(request.input().len(), 4);
    assert_eq!(request.input()[2]["call_id"], "call_lost");
}

#[tokio::test]
async fn duplicate_call_is_dropped() {
    let first = [call("call_twice", "hello"), output(&json!("call_twice"), "hello")];
    let copy = call("call_twice", "hello");
    for history in [
        [first[0].clone(), copy.clone(), first[1].clone()],
        [first[0].clone(), first[1].clone(), copy],
    ] {
        let world = World::new().await;
        let mut replay = vec![typed_user("Echo hello")];
        replay.extend(history);
        replay.push(typed_user("My color is purple"));

        world.client().turn(Mode::Streamed, &ask(replay)).await;

        assert_eq!(
            world.view(0).await,
            [
                "user: Echo hello",
                r#"call echo {"text":"hello"}"#,
                "output: hello",
                "user: My color is purple",
            ]
        );
    }
}

#[tokio::test]
async fn reused_call_id_keeps_its_own_output() {
    let world = World::new().await;
    let client = world.client();
    let replay = json!([
        typed_user("Echo one"),
        call("call_0", "one"),
        output(&json!("call_0"), "one"),
        typed_user("Echo two"),
        call("call_0", "two"),
        output(&json!("call_0"), "two"),
    ]);

    let echoed = client.respond(&ask(replay)).await;

    assert_eq!(echoed.text(), "echo said: two");
    let request = world.request(0).await;
    assert_eq!(request.verdict, Ok(()));
    let input = request.input();
    assert_eq!(input.len(), 6);
    assert_eq!(input[1]["call_id"], input[2]["call_id"]);
    assert_eq!(input[4]["call_id"], input[5]["call_id"]);
    assert_ne!(input[1]["call_id"], input[4]["call_id"]);
    let held = client.stored_response(echoed.id()).await;
    assert_eq!(ids(held["output"].as_array().unwrap()).len(), 1);
}
