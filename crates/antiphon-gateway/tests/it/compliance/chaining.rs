//! What a response goes on from.

use serde_json::{Value, json};

use super::{APIS, world_of};
use crate::support::{Ask, MODES, PLAIN, World, ask, lines, list, output};

#[tokio::test]
async fn string_input_is_a_user_message() {
    for (dialect, _) in APIS {
        let world = world_of(dialect).await;
        world.client().respond(&ask("Hello")).await;
        assert_eq!(world.view(0).await, ["user: Hello"]);
    }
}

#[tokio::test]
async fn model_gets_earlier_items_in_order() {
    for (dialect, _) in APIS {
        for mode in MODES {
            let world = world_of(dialect).await;
            let client = world.client();
            let plain = |input: Value| ask(input).model(PLAIN);
            let called = client.turn(mode, &plain("My color is purple. Echo hello".into())).await;
            let back = plain(json!([output(called.call_id(), "hello")])).after(called.id());
            let echoed = client.turn(mode, &back).await;

            let recalled =
                client.turn(mode, &plain("What is my color?".into()).after(echoed.id())).await;

            assert_eq!(recalled.text(), "purple");
            assert_eq!(
                world.last_view().await,
                [
                    "user: My color is purple. Echo hello",
                    r#"call echo {"text":"hello"}"#,
                    "output: hello",
                    "assistant: echo said: hello",
                    "user: What is my color?",
                ],
                "{dialect}"
            );
        }
    }
}

#[tokio::test]
async fn conversation_contains_its_items() {
    for (dialect, _) in APIS {
        for mode in MODES {
            let world = world_of(dialect).await;
            let client = world.client();
            let conversation = client.new_conversation().await;
            let say = |text: &str| -> Ask { ask(text).model(PLAIN).within(&conversation) };
            client.turn(mode, &say("My color is purple.")).await;
            let recalled = client.turn(mode, &say("What is my color?")).await;
            assert_eq!(recalled.text(), "purple");
            assert_eq!(
                lines(&client.items(&conversation).await),
                [
                    "user: My color is purple.",
                    "assistant: Noted.",
                    "user: What is my color?",
                    "assistant: purple",
                ]
            );
        }
    }
}

#[tokio::test]
async fn input_items_list_only_the_new_input() {
    let world = World::new().await;
    let client = world.client();
    let first = client.respond(&ask("Hello")).await;
    let next = client.respond(&ask("Hello again").after(first.id())).await;
    let path = format!("/v1/responses/{}/input_items?order=asc", next.id());
    let items = client.get(&path).await.json();
    assert_eq!(lines(list(&items["data"])), ["user: Hello again"]);
}
