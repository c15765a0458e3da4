//! Several calls at once.

use serde_json::{Value, json};

use crate::support::{MODES, Turn, World, ask, output, typed_user};

fn calls(turn: &Turn) -> Vec<Value> {
    let calls = turn.output().iter();
    calls.filter(|item| item["type"] == "function_call").cloned().collect()
}

const CALL: &str = r#"call echo {"text":"twice"}"#;

#[tokio::test]
async fn replayed_parallel_calls_are_sent_once() {
    for mode in MODES {
        let world = World::new().await;
        let client = world.client();
        let conversation = client.new_conversation().await;
        let say = |input: Value| ask(input).within(&conversation);
        let called = client.turn(mode, &say(json!([typed_user("Echo twice")]))).await;
        let made = calls(&called);
        assert_eq!(made.len(), 2);

        let mut replay = vec![typed_user("Echo twice")];
        replay.extend_from_slice(called.output());
        replay.push(output(&made[0]["call_id"], "one"));
        replay.push(output(&made[1]["call_id"], "two"));
        let echoed = client.turn(mode, &say(replay.into())).await;

        assert_eq!(echoed.text(), "echo said: one; two");
        assert_eq!(echoed.header("antiphon-resent"), Some("4"));
        assert_eq!(
            world.view(1).await,
            ["user: Echo twice", "reasoning", CALL, CALL, "output: one", "output: two"]
        );
    }
}

#[tokio::test]
async fn outputs_in_any_order_answer_their_calls() {
    let world = World::new().await;
    let client = world.client();
    let called = client.respond(&ask("Echo twice")).await;
    let made = calls(&called);

    let answers = json!([output(&made[1]["call_id"], "two"), output(&made[0]["call_id"], "one")]);
    client.respond(&ask(answers).after(called.id())).await;

    let request = world.request(1).await;
    assert_eq!(request.verdict, Ok(()));
    let input = request.input();
    let answered = |call: &Value| {
        let found = input.iter().filter(|item| item.get("output").is_some());
        let mut found = found.filter(|item| item["call_id"] == call["call_id"]);
        let answer = found.next().unwrap()["output"].clone();
        assert!(found.next().is_none());
        answer
    };
    assert_eq!((answered(&made[0]), answered(&made[1])), (json!("one"), json!("two")));
}

#[tokio::test]
async fn outputs_can_be_sent_one_at_a_time() {
    let world = World::new().await;
    let client = world.client();
    let conversation = client.new_conversation().await;
    let say = |input: Value| ask(input).within(&conversation);
    let called = client.respond(&say("Echo twice".into())).await;
    let made = calls(&called);

    let first = client.respond(&say(json!([output(&made[0]["call_id"], "one")]))).await;
    assert_eq!(first.header("antiphon-repairs"), Some("unanswered_call=1"));
    let second = client.respond(&say(json!([output(&made[1]["call_id"], "two")]))).await;

    assert_eq!(second.header("antiphon-repairs"), None);
    let view = world.view(2).await;
    let outputs: Vec<&String> = view.iter().filter(|line| line.starts_with("output")).collect();
    assert_eq!(outputs, ["output: one", "output: two"]);
}
