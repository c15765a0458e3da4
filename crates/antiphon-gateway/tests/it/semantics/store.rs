//! `store`: whether a response is kept.

use serde_json::json;

use super::APIS;
use crate::support::{MODES, ask, invalid, lines, reference, user};

#[tokio::test]
async fn unstored_response_cannot_be_retrieved() {
    for dialect in APIS {
        for mode in MODES {
            let world = dialect.world().await;
            let client = world.client();

            let turn = client.turn(mode, &ask("My color is purple").unstored()).await;

            assert_eq!(turn.response["store"], false, "{dialect:?}");
            let path = format!("/v1/responses/{}", turn.id());
            for path in [&path, &format!("{path}/input_items"), &format!("{path}/report")] {
                assert_eq!(client.get(path).await.status(), 404, "{path}");
            }
            assert_eq!(client.delete(&path).await.status(), 404);
        }
    }
}

#[tokio::test]
async fn unstored_response_cannot_be_continued() {
    for mode in MODES {
        let world = APIS[0].world().await;
        let client = world.client();
        let turn = client.turn(mode, &ask("My color is purple").unstored()).await;

        let refused = client.refused(mode, &ask("What is my color?").after(turn.id())).await;

        let message = format!("Previous response with id '{}' not found.", turn.id());
        let code = Some("previous_response_not_found");
        assert_eq!(refused, invalid(Some("previous_response_id"), code, &message));
        let refer = json!([reference(&turn.item("message")["id"]), user("Hello")]);
        assert_eq!(client.refused(mode, &ask(refer)).await.status, 404);
        assert_eq!(world.times_asked(), 1);
    }
}

#[tokio::test]
async fn unstored_turn_is_added_to_its_conversation() {
    for dialect in APIS {
        for mode in MODES {
            let world = dialect.world().await;
            let client = world.client();
            let conversation = client.new_conversation().await;
            let say = |text: &str| ask(text).within(&conversation).unstored();

            client.turn(mode, &say("My color is purple")).await;
            let recalled = client.turn(mode, &say("What is my color?")).await;

            assert_eq!(recalled.text(), "purple");
            let messages = |line: &String| line.starts_with("user") || line.starts_with("assis");
            let held = lines(&client.items(&conversation).await);
            let expected = [
                "user: My color is purple",
                "assistant: Noted.",
                "user: What is my color?",
                "assistant: purple",
            ];
            assert_eq!(held.into_iter().filter(messages).collect::<Vec<_>>(), expected);
            assert_eq!(client.get(&format!("/v1/responses/{}", recalled.id())).await.status(), 404);
        }
    }
}
