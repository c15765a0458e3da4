//! The response object around the items.

use serde_json::{Value, json};

use crate::support::{MODES, World, ask, echo_tool};

#[tokio::test]
async fn response_echoes_the_request() {
    for mode in MODES {
        let world = World::new().await;
        let client = world.client();
        let asked = ask("Hello")
            .field("instructions", "Be brief.")
            .field("metadata", json!({"trace": "1"}))
            .field("temperature", 0.5)
            .field("max_output_tokens", 100)
            .field("tool_choice", "none")
            .field("parallel_tool_calls", false)
            .field("truncation", "auto")
            .field("text", json!({"verbosity": "low"}))
            .field("prompt_cache_key", "key");

        let response = client.turn(mode, &asked).await.response;

        for echoed in [
            "instructions",
            "metadata",
            "temperature",
            "max_output_tokens",
            "tool_choice",
            "parallel_tool_calls",
            "truncation",
            "prompt_cache_key",
            "model",
        ] {
            assert_eq!(response[echoed], asked.body()[echoed], "{echoed}");
        }
        assert_eq!(response["text"]["format"], json!({"type": "text"}));
        assert_eq!(response["tools"][0]["name"], echo_tool()["name"]);
        assert!(response["tools"][0].get("strict").is_some());
        assert_eq!((&response["store"], &response["background"]), (&json!(true), &json!(false)));
        assert!(response["usage"]["total_tokens"].is_u64());
        let times = (response["created_at"].as_u64(), response["completed_at"].as_u64());
        assert!(times.0 > Some(1_700_000_000) && times.1 >= times.0, "{times:?}");
    }
}

#[tokio::test]
async fn response_names_its_predecessor() {
    for mode in MODES {
        let world = World::new().await;
        let client = world.client();
        let conversation = client.new_conversation().await;
        let within = client.turn(mode, &ask("Hello").within(&conversation)).await;
        assert_eq!(within.response["conversation"], json!({"id": conversation}));
        assert_eq!(within.response["previous_response_id"], Value::Null);

        let behind = client.turn(mode, &ask("Hello").after(within.id())).await;
        assert_eq!(behind.response["conversation"], Value::Null);
        assert_eq!(behind.response["previous_response_id"], within.id());
    }
}

#[tokio::test]
async fn instructions_are_not_carried_over() {
    for mode in MODES {
        let world = World::new().await;
        let client = world.client();
        let received = client.turn(mode, &ask("Hello").field("instructions", "Be brief.")).await;
        let next = client.turn(mode, &ask("Hello").after(received.id())).await;
        assert_eq!(next.response["instructions"], Value::Null);
        assert_eq!(world.request(1).await.body["instructions"], Value::Null);
    }
}

#[tokio::test]
async fn response_is_stored_as_sent() {
    for mode in MODES {
        let world = World::new().await;
        let client = world.client();
        let turn = client.turn(mode, &ask("Echo hello")).await;
        assert_eq!(client.stored_response(turn.id()).await, turn.response);
        assert_eq!(turn.header("antiphon-response"), Some(turn.id()));
        let id = turn.id().strip_prefix("resp_").unwrap();
        assert!(id.len() >= 40 && id.chars().all(|c| c.is_ascii_hexdigit()));
    }
}

#[tokio::test]
async fn unstored_response_is_not_kept() {
    for mode in MODES {
        let world = World::new().await;
        let client = world.client();
        let conversation = client.new_conversation().await;

        let alone = client.turn(mode, &ask("Hello").unstored()).await;
        let within = client.turn(mode, &ask("Hello").within(&conversation).unstored()).await;

        for turn in [&alone, &within] {
            assert_eq!(turn.response["store"], false);
            let path = format!("/v1/responses/{}", turn.id());
            assert_eq!(client.get(&path).await.status(), 404);
            let next = client.refused(mode, &ask("Hello").after(turn.id())).await;
            assert_eq!(next.body["error"]["code"], "previous_response_not_found");
        }
        assert_eq!(client.items(&conversation).await.len(), 2);
    }
}
