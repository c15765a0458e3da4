//! Ids that an upstream gives twice, leaves empty or makes up.

use antiphon_mock::{Answer, Reply};
use serde_json::{Value, json};

use crate::support::{
    MODEL, MODES, Mode, Turn, World, ask, ids, item_event, lines, list, output, telling,
    within_item,
};

fn function_call(id: &str, call_id: &str, text: &str, status: &str) -> Value {
    let arguments = match status {
        "in_progress" => String::new(),
        _ => json!({"text": text}).to_string(),
    };
    json!({
        "type": "function_call", "id": id, "call_id": call_id, "name": "echo",
        "arguments": arguments, "status": status,
    })
}

/// One call, told over two paths: as it streams and when it is complete, each with an id.
fn announced_twice() -> Vec<Value> {
    let streamed = function_call("fc_streamed", "call_1", "hello", "completed");
    let whole = function_call("fc_whole", "call_1", "hello", "completed");
    let arguments = json!({"text": "hello"}).to_string();
    let piece = |kind: &str, index, id: &str, field: &str| {
        let kind = format!("response.function_call_arguments.{kind}");
        within_item(&kind, index, id, json!({field: arguments}))
    };
    vec![
        item_event("added", 0, &function_call("fc_streamed", "call_1", "", "in_progress")),
        piece("delta", 0, "fc_streamed", "delta"),
        item_event("added", 1, &whole),
        piece("done", 1, "fc_whole", "arguments"),
        item_event("done", 1, &whole),
        piece("done", 0, "fc_streamed", "arguments"),
        item_event("done", 0, &streamed),
    ]
}

#[tokio::test]
async fn call_announced_twice_is_one_item() {
    let call = |id: &str| function_call(id, "call_1", "hello", "completed");
    for received in [vec![], vec![call("fc_streamed")], vec![call("fc_streamed"), call("fc_whole")]]
    {
        for mode in MODES {
            let world = World::new().await;
            let client = world.client();
            let conversation = client.new_conversation().await;
            world.script(Reply::sse(telling(announced_twice(), &received)));

            let called = client.turn(mode, &ask("Echo hello").within(&conversation)).await;

            assert_eq!(called.item("function_call")["arguments"], r#"{"text":"hello"}"#);
            assert_eq!(
                lines(&client.items(&conversation).await),
                ["user: Echo hello", r#"call echo {"text":"hello"}"#]
            );
            let answer = json!([output(called.call_id(), "hello")]);
            client.turn(mode, &ask(answer).within(&conversation)).await;
            assert_eq!(world.view(1).await.len(), 3);
        }
    }
}

/// The one replacement of the kind that the report tells of.
async fn replaced(world: &World, turn: &Turn, fault: &str) -> (Value, Value) {
    let report = world.client().report(turn.id()).await;
    let stream = list(&report["stream"]);
    let found: Vec<&Value> = stream.iter().filter(|it| it["fault"] == fault).collect();
    assert_eq!(found.len(), 1, "{report}");
    (found[0]["from"].clone(), found[0]["to"].clone())
}

#[tokio::test]
async fn stored_item_id_is_replaced() {
    for mode in MODES {
        let world = World::new().await;
        let client = world.client();
        let conversation = client.new_conversation().await;
        let say = |text: &str| ask(text).within(&conversation);
        for text in ["One", "Two"] {
            let answer = Answer::new(MODEL).message(text).with_id("msg_same");
            world.script(Reply::sse(answer.frames()));
        }
        let first = client.turn(mode, &say("Hello")).await;
        assert_eq!(first.item("message")["id"], "msg_same");

        let second = client.turn(mode, &say("Hello")).await;

        let id = second.item("message")["id"].clone();
        assert_ne!(id, "msg_same");
        let noted = replaced(&world, &second, "item_id_replaced").await;
        assert_eq!(noted, (json!("msg_same"), id));
        client.turn(mode, &say("Hello")).await;
        assert_eq!(world.view(2).await.len(), 5);
    }
}

#[tokio::test]
async fn invalid_item_id_is_replaced() {
    let overlong = format!("msg_{}", "x".repeat(61));
    for mode in MODES {
        for wrong in ["", "item_abc", overlong.as_str()] {
            let world = World::new().await;
            let client = world.client();
            let conversation = client.new_conversation().await;
            let say = |text: &str| ask(text).within(&conversation);
            let answer = Answer::new(MODEL).message("Hello there").with_id(wrong);
            world.script(Reply::sse(answer.frames()));

            let turn = client.turn(mode, &say("Hello")).await;

            let id = turn.item("message")["id"].as_str().unwrap().to_owned();
            assert!(id.starts_with("msg_") && id.len() <= 64, "{wrong}: {id}");
            let (_, to) = replaced(&world, &turn, "item_id_replaced").await;
            assert_eq!(to, id);
            client.turn(mode, &say("Hello")).await;
            assert_eq!(world.view(1).await.len(), 3);
        }
    }
}

#[tokio::test]
async fn used_or_empty_call_id_is_replaced() {
    for mode in MODES {
        for (first_id, second_id) in [("call_0", "call_0"), ("call_1", "")] {
            let world = World::new().await;
            let client = world.client();
            let conversation = client.new_conversation().await;
            let say = |input: Value| ask(input).within(&conversation);
            for call_id in [first_id, second_id] {
                let called = Answer::new(MODEL).call(call_id, "echo", r#"{"text":"x"}"#);
                world.script(Reply::sse(called.frames()));
                world.script(Reply::sse(Answer::new(MODEL).message("Done.").frames()));
            }

            let first = client.turn(mode, &say("Echo x".into())).await;
            assert_eq!(first.call_id(), first_id);
            client.turn(mode, &say(json!([output(first.call_id(), "one")]))).await;
            let second = client.turn(mode, &say("Echo x".into())).await;

            let call_id = second.call_id().as_str().unwrap();
            assert!(!call_id.is_empty() && call_id != first_id);
            let noted = replaced(&world, &second, "call_id_replaced").await;
            assert_eq!(noted, (json!(second_id), json!(call_id)));
            let answer = json!([output(second.call_id(), "two")]);
            client.turn(mode, &say(answer)).await;
            let request = world.request(3).await;
            assert_eq!(request.verdict, Ok(()));
            assert_eq!(request.input().len(), 7);
            assert_eq!(request.input()[6]["call_id"], request.input()[5]["call_id"]);
        }
    }
}

#[tokio::test]
async fn calls_with_a_constant_id_stay_separate() {
    for mode in MODES {
        let world = World::new().await;
        let client = world.client();
        let conversation = client.new_conversation().await;
        let say = |input: Value| ask(input).within(&conversation);
        let answer = Answer::new(MODEL).call("call_0", "echo", r#"{"text":"one"}"#).call(
            "call_0",
            "echo",
            r#"{"text":"two"}"#,
        );
        world.script(Reply::sse(answer.frames()));

        let called = client.turn(mode, &say("Echo one and two".into())).await;

        assert_eq!(
            lines(called.output()),
            [r#"call echo {"text":"one"}"#, r#"call echo {"text":"two"}"#]
        );
        let [one, two] = [0, 1].map(|at: usize| called.output()[at]["call_id"].clone());
        assert_ne!(one, two);
        assert_eq!(ids(called.output()).len(), 2);
        let answers = json!([output(&one, "one"), output(&two, "two")]);
        let echoed = client.turn(mode, &say(answers)).await;
        assert_eq!(echoed.text(), "echo said: one; two");
        assert_eq!(world.view(1).await.len(), 5);
    }
}

#[tokio::test]
async fn reasoning_with_a_used_id_is_harmless() {
    let world = World::new().await;
    let client = world.client();
    let conversation = client.new_conversation().await;
    let say = |text: &str| ask(text).within(&conversation);
    for text in ["One", "Two"] {
        let answer = Answer::new(MODEL).reasoning("Hm.").with_id("rs_same").message(text);
        world.script(Reply::sse(answer.frames()));
        client.turn(Mode::Streamed, &say("Hello")).await;
    }

    let next = client.turn(Mode::Streamed, &say("Hello")).await;

    assert_eq!(next.text(), "Noted.");
    let view = world.last_view().await;
    let reply = view.iter().filter(|line| *line != "reasoning").count();
    assert_eq!(reply, 5);
}
