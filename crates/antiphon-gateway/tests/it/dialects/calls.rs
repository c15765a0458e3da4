//! Calls and their outputs.

use antiphon_mock::Answer;
use serde_json::{Value, json};

use super::{CHAT, OTHERS, ask_with_reasoning};
use crate::support::{MODES, PLAIN, ask, lines, list, output, text, user};

/// The texts of the outputs that the model was given.
fn outputs(view: &[String]) -> Vec<&str> {
    view.iter().filter_map(|line| line.strip_prefix("output: ")).collect()
}

#[tokio::test]
async fn unanswered_call_gets_a_placeholder_output() {
    for dialect in OTHERS {
        for mode in MODES {
            let world = dialect.world().await;
            let client = world.client();
            let conversation = client.new_conversation().await;
            let say = |input: Value| ask_with_reasoning(input).within(&conversation);
            client.turn(mode, &say("My color is purple".into())).await;
            let called = client.turn(mode, &say("Echo hello".into())).await;

            let recalled = client.turn(mode, &say("What is my color?".into())).await;

            assert_eq!(recalled.text(), "purple");
            assert_eq!(recalled.header("antiphon-repairs"), Some("unanswered_call=1"));
            let view = world.view(2).await;
            assert_eq!(view.len(), 7);
            assert_eq!(outputs(&view).len(), 1);
            assert_eq!(view[6], "user: What is my color?");
            let late = say(json!([output(called.call_id(), "hello at last")]));
            client.turn(mode, &late).await;
            assert_eq!(outputs(&world.view(3).await), ["hello at last"]);
        }
    }
}

#[tokio::test]
async fn parallel_outputs_may_arrive_in_any_order() {
    for dialect in OTHERS {
        for mode in MODES {
            let world = dialect.world().await;
            let client = world.client();
            let conversation = client.new_conversation().await;
            let say = |input: Value| ask_with_reasoning(input).within(&conversation);
            let called = client.turn(mode, &say("Echo hello twice".into())).await;
            let [_, first, second] = called.output() else { panic!("{:?}", called.output()) };
            client
                .turn(mode, &say(json!([output(&second["call_id"], "two"), user("Hello")])))
                .await;

            let late = say(json!([output(&first["call_id"], "one"), user("Hello again")]));
            let noted = client.turn(mode, &late).await;

            assert_eq!(noted.header("antiphon-repairs"), None);
            let items = world.last_request().items();
            assert_eq!(world.last_request().verdict, Ok(()));
            for (call, message) in [(first, "one"), (second, "two")] {
                let answers = |item: &&Value| {
                    item["type"] == "function_call_output" && item["call_id"] == call["call_id"]
                };
                let answers: Vec<Value> = items.iter().filter(answers).cloned().collect();
                assert_eq!(lines(&answers), [format!("output: {message}")], "{}", dialect.name);
            }
        }
    }
}

#[tokio::test]
async fn server_may_reuse_call_ids() {
    for dialect in OTHERS {
        for mode in MODES {
            let world = dialect.world().await;
            let client = world.client();
            let conversation = client.new_conversation().await;
            let say = |input: Value| ask(input).model(PLAIN).within(&conversation);
            let mut seen = Vec::new();
            for message in ["one", "two", "three"] {
                let arguments = json!({"text": message}).to_string();
                let answer = Answer::new(PLAIN).call("call_0", "echo", arguments);
                dialect.script_stream(&world, &answer);
                let called = client.turn(mode, &say(format!("Echo {message}").into())).await;
                seen.push(called.call_id().clone());

                let answer = json!([output(called.call_id(), message)]);
                let echoed = client.turn(mode, &say(answer)).await;

                assert_eq!(echoed.text(), format!("echo said: {message}"), "{}", dialect.name);
                assert_eq!(echoed.header("antiphon-repairs"), None);
            }
            seen.sort_by_key(ToString::to_string);
            seen.dedup();
            assert_eq!(seen.len(), 3, "every call has an id of its own");
            let view = world.last_view().await;
            assert_eq!(outputs(&view), ["one", "two", "three"]);
            assert_eq!(view.len(), 11);
        }
    }
}

#[tokio::test]
async fn custom_tool_takes_free_text() {
    for dialect in OTHERS {
        for mode in MODES {
            let world = dialect.world().await;
            let client = world.client();
            let tool = json!({"type": "custom", "name": "patch", "description": "Patches."});
            let say = |input: Value| ask(input).model(PLAIN).field("tools", json!([tool]));
            let input = "+ a \"line\"\n- {";
            dialect
                .script_stream(&world, &Answer::new(PLAIN).custom_call("call_1", "patch", input));

            let called = client.turn(mode, &say("Patch it".into())).await;
            let call = called.item("custom_tool_call");
            assert_eq!((&call["name"], &call["input"]), (&json!("patch"), &json!(input)));
            let answer = json!([{
                "type": "custom_tool_call_output",
                "call_id": call["call_id"],
                "output": "patched",
            }]);
            let echoed = client.turn(mode, &say(answer).after(called.id())).await;

            assert_eq!(echoed.text(), "echo said: patched");
            assert_eq!(outputs(&world.view(1).await), ["patched"]);
        }
    }
}

#[tokio::test]
async fn disallowed_tool_is_neither_offered_nor_called() {
    for dialect in OTHERS {
        for mode in MODES {
            let world = dialect.world().await;
            let client = world.client();
            let named = |name: &str| {
                json!({"type": "function", "name": name, "parameters": {
                    "type": "object", "properties": {},
                }})
            };
            let allowed = json!({
                "type": "allowed_tools",
                "mode": "auto",
                "tools": [{"type": "function", "name": "look"}],
            });
            let say = ask("Look, then delete")
                .model(PLAIN)
                .field("tools", json!([named("look"), named("delete")]))
                .field("tool_choice", allowed);
            let answer =
                Answer::new(PLAIN).call("call_1", "look", "{}").call("call_2", "delete", "{}");
            dialect.script_stream(&world, &answer);

            let turn = client.turn(mode, &say).await;

            assert_eq!(lines(turn.output()), ["call look {}"], "{}", dialect.name);
            let report = client.report(turn.id()).await;
            let repair = &list(&report["stream"])[0];
            assert_eq!(text(&repair["fault"]), "call_not_permitted");
            assert_eq!(text(&repair["from"]), "delete");
            let body = world.last_request().body;
            let tools = body["tools"].to_string();
            let is_chosen = |name: &str| tools.contains(&format!("\"{name}\""));
            assert!(is_chosen("look"), "{body}");
            let choice = &body["tool_choice"]["type"];
            let is_constrained = !is_chosen("delete") || choice == "allowed_tools";
            assert!(is_constrained, "{body}");
        }
    }
}

#[tokio::test]
async fn calls_may_interleave() {
    let piece = |index: usize, id: Option<&str>, arguments: &str| {
        let mut call = json!({"index": index, "function": {"arguments": arguments}});
        if let Some(id) = id {
            call["id"] = id.into();
            call["type"] = "function".into();
            call["function"]["name"] = "echo".into();
        }
        json!({"tool_calls": [call]})
    };
    for mode in MODES {
        let world = CHAT.world().await;
        let answer = Answer::new(PLAIN)
            .item(piece(0, Some("call_a"), "{\"text\":"))
            .item(piece(1, Some("call_b"), "{\"text\":"))
            .item(piece(0, None, "\"one\"}"))
            .item(piece(1, None, "\"two\"}"));
        CHAT.script_stream(&world, &answer);
        let turn = world.client().turn(mode, &ask("Echo both").model(PLAIN)).await;
        assert_eq!(
            lines(turn.output()),
            [r#"call echo {"text":"one"}"#, r#"call echo {"text":"two"}"#]
        );
    }
}
