//! What a request carries beside its text, and what it cannot.

use antiphon_mock::Answer;
use serde_json::{Value, json};

use super::{ANTHROPIC, CHAT, Dialect, OTHERS};
use crate::support::{Ask, MODES, PLAIN, World, ask, list};

const PIXEL: &str = "data:image/png;base64,iVBORw0KGgo=";

fn plain(input: impl Into<Value>) -> Ask {
    ask(input).model(PLAIN)
}

/// The content of the last message that the upstream was given.
fn last_content(world: &World) -> Value {
    let request = world.last_request();
    assert_eq!(request.verdict, Ok(()), "a provider accepts {}", request.body);
    request.messages().last().expect("there is a message")["content"].clone()
}

#[tokio::test]
async fn image_is_converted() {
    let input = json!([{"role": "user", "content": [
        {"type": "input_text", "text": "What is this?"},
        {"type": "input_image", "image_url": PIXEL},
    ]}]);
    for mode in MODES {
        let chat = CHAT.world().await;
        let anthropic = ANTHROPIC.world().await;
        for world in [&chat, &anthropic] {
            assert_eq!(world.client().turn(mode, &plain(input.clone())).await.text(), "Noted.");
        }
        let image = json!({"type": "image_url", "image_url": {"url": PIXEL}});
        assert_eq!(last_content(&chat)[1], image);
        let source = json!({"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="});
        let image = json!({"type": "image", "source": source});
        assert_eq!(last_content(&anthropic)[1], image);
    }
}

#[tokio::test]
async fn schema_is_converted_and_echoed() {
    let schema = json!({
        "type": "object",
        "properties": {"color": {"type": "string"}},
        "required": ["color"],
        "additionalProperties": false,
    });
    let format = json!({"type": "json_schema", "name": "color", "strict": true, "schema": schema});
    for (dialect, path) in
        [(CHAT, "/response_format/json_schema/schema"), (ANTHROPIC, "/output_config/format/schema")]
    {
        for mode in MODES {
            let world = dialect.world().await;
            let answer = Answer::new(PLAIN).message(r#"{"color":"purple"}"#);
            dialect.script_stream(&world, &answer);
            let asked = plain("What color?").field("text", json!({"format": format}));

            let turn = world.client().turn(mode, &asked).await;

            assert_eq!(turn.text(), r#"{"color":"purple"}"#);
            assert_eq!(turn.response["text"]["format"]["name"], "color");
            let request = world.last_request();
            assert_eq!(request.verdict, Ok(()), "{}", request.body);
            assert_eq!(request.body.pointer(path), Some(&schema));
        }
    }
}

/// A turn that the upstream's API cannot carry, with the place that the error names.
fn impossible(dialect: Dialect) -> Vec<(Ask, &'static str)> {
    let shell = json!([{"type": "local_shell"}]);
    let file = json!([
        {"role": "user", "content": "Look"},
        {"role": "user", "content": [{"type": "input_image", "file_id": "file_1"}]},
    ]);
    let mut cases = vec![
        (plain("Hello").field("tools", shell), "tools[0]"),
        (plain("Hello").field("prompt", json!({"id": "pmpt_1"})), "prompt"),
        (plain(file), "input[1].content[0]"),
    ];
    if dialect.upstream == ANTHROPIC.upstream {
        let object = json!({"format": {"type": "json_object"}});
        cases.push((plain("Hello").field("text", object), "text.format"));
    }
    cases
}

#[tokio::test]
async fn unsupported_field_is_rejected_without_effect() {
    for dialect in OTHERS {
        for mode in MODES {
            let world = dialect.world().await;
            let client = world.client();
            let conversation = client.new_conversation().await;
            client.turn(mode, &plain("My color is purple").within(&conversation)).await;
            let held = client.items(&conversation).await;

            for (asked, place) in impossible(dialect) {
                let refused = client.refused(mode, &asked.within(&conversation)).await;

                assert_eq!(refused.status, 400);
                let error = &refused.body["error"];
                assert_eq!(error["type"], "invalid_request_error");
                assert_eq!(error["code"], "unsupported_parameter");
                let param = error["param"].as_str().unwrap_or_default();
                assert!(param.starts_with(place), "{error}");
                let message = error["message"].as_str().unwrap_or_default();
                assert!(message.contains(dialect.name), "{error}");
                assert_eq!(client.items(&conversation).await, held);
            }

            assert_eq!(world.times_asked(), 1);
            let recalled = plain("What is my color?").within(&conversation);
            assert_eq!(client.turn(mode, &recalled).await.text(), "purple");
        }
    }
}

#[tokio::test]
async fn omitted_field_is_reported() {
    for dialect in OTHERS {
        for mode in MODES {
            let world = dialect.world().await;
            let client = world.client();
            let asked = plain("Hello").field("max_tool_calls", 3);

            let turn = client.turn(mode, &asked).await;

            assert_eq!(turn.header("antiphon-repairs"), Some("adapted_field=1"));
            let report = client.report(turn.id()).await;
            let [omitted] = list(&report["adapted_fields"]) else { panic!("{report}") };
            assert_eq!(omitted["field"], "max_tool_calls");
            let message = omitted["message"].as_str().unwrap_or_default();
            assert!(message.contains(dialect.name), "{message}");
            assert_eq!(world.last_request().body["max_tool_calls"], json!(null));
        }
    }
}

#[tokio::test]
async fn fields_that_the_gateway_handles_are_unreported() {
    for dialect in OTHERS {
        let world = dialect.world().await;
        for stored in [true, false] {
            let asked = plain("Hello").field("store", stored).field("background", false);
            let turn = world.client().respond(&asked).await;
            assert_eq!(turn.header("antiphon-repairs"), None);
            assert_eq!(turn.response["store"], stored);
        }
    }
}
