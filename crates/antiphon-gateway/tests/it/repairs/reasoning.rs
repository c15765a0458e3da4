//! Reasoning that leads nowhere.

use antiphon_mock::{Answer, Reply, encrypted_content};
use serde_json::{Value, json};

use crate::support::{MODEL, MODES, World, ask, lines, user};

fn lone() -> Value {
    let content = encrypted_content(MODEL, "rs_lone");
    json!({"type": "reasoning", "id": "rs_lone", "summary": [], "encrypted_content": content})
}

#[tokio::test]
async fn lone_reasoning_is_dropped_at_any_position() {
    for mode in MODES {
        for input in [
            json!([lone(), user("Hello")]),
            json!([user("Hello"), lone(), user("Hello")]),
            json!([user("Hello"), lone()]),
        ] {
            let world = World::new().await;
            let client = world.client();

            let turn = client.turn(mode, &ask(input.clone())).await;

            assert_eq!(turn.header("antiphon-repairs"), Some("lone_reasoning=1"));
            let view = world.view(0).await;
            assert_eq!(view.len(), input.as_array().unwrap().len() - 1);
            assert!(!view.contains(&"reasoning".to_owned()));
            let repair = &client.report(turn.id()).await["repairs"][0];
            assert_eq!(
                repair["message"],
                "Item 'rs_lone' of type 'reasoning' was provided without its required following \
                 item."
            );
        }
    }
}

#[tokio::test]
async fn turn_after_lone_reasoning_works() {
    for mode in MODES {
        let answer = Answer::new(MODEL).reasoning("Hm.");
        for answer in [answer.clone(), answer.incomplete()] {
            let world = World::new().await;
            let client = world.client();
            let conversation = client.new_conversation().await;
            let say = |text: &str| ask(text).within(&conversation);
            world.script(Reply::sse(answer.frames()));
            let ended = client.turn(mode, &say("My color is purple")).await;
            assert_eq!(client.stored_response(ended.id()).await, ended.response);

            let recalled = client.turn(mode, &say("What is my color?")).await;

            assert_eq!(recalled.text(), "purple");
            assert_eq!(recalled.header("antiphon-repairs"), Some("lone_reasoning=1"));
            assert_eq!(
                world.view(1).await,
                ["user: My color is purple", "user: What is my color?"]
            );
            let held = lines(&client.items(&conversation).await);
            assert_eq!(held[1], "reasoning");
        }
    }
}
