//! The request as the upstream gets it.

use std::time::Duration;

use antiphon_gateway::settings::UpstreamSettings;
use serde_json::{Value, json};

use crate::support::{MODES, Mode, World, ask};

#[tokio::test]
async fn upstream_request_is_stateless_and_in_the_callers_form() {
    for mode in MODES {
        let world = World::new().await;
        let client = world.client();
        let conversation = client.new_conversation().await;
        let received = client.turn(mode, &ask("Hello").within(&conversation)).await;
        client.turn(mode, &ask("Hello").after(received.id())).await;
        client.turn(mode, &ask("Hello").unstored()).await;
        client.turn(mode, &ask("Hello").field("store", true)).await;

        for index in 0..4 {
            let body = world.request(index).await.body;
            assert_eq!(body["store"], false);
            assert_eq!(body["stream"], mode == Mode::Streamed);
            assert_eq!(body["include"], json!(["reasoning.encrypted_content"]));
            assert_eq!(body.get("conversation"), None);
            assert_eq!(body.get("previous_response_id"), None);
        }
        assert_eq!(world.upstream.refusals(), []);
    }
}

/// Without a stream an answer has no byte before its end, so short limits of the first byte and of
/// idle time need a stream.
#[tokio::test]
async fn setting_or_short_limit_asks_for_a_stream() {
    type Change = fn(&mut UpstreamSettings);
    let changes: [(Change, bool); 4] = [
        (|upstream| upstream.always_stream = Some(true), true),
        (|upstream| upstream.first_byte_timeout = Duration::from_mins(9), true),
        (|upstream| upstream.idle_timeout = Duration::from_mins(9), true),
        (
            |upstream| {
                upstream.idle_timeout = Duration::from_mins(9);
                upstream.always_stream = Some(false);
            },
            false,
        ),
    ];
    for (change, streamed) in changes {
        let world = World::with(|settings| change(&mut settings.upstreams[0])).await;
        let turn = world.client().turn(Mode::Whole, &ask("Hello")).await;
        assert_eq!(world.request(0).await.body["stream"], streamed);
        assert_eq!(turn.response["status"], "completed");
    }
}

#[tokio::test]
async fn stream_options_are_forwarded_with_a_stream_only() {
    for mode in MODES {
        let world = World::new().await;
        let options = json!({"include_obfuscation": false});
        let asked = ask("Hello").field("stream_options", options.clone());
        world.client().turn(mode, &asked).await;
        let sent = world.request(0).await.body.get("stream_options").cloned();
        assert_eq!(sent, (mode == Mode::Streamed).then_some(options));
    }
}

#[tokio::test]
async fn other_fields_are_forwarded_unchanged() {
    for mode in MODES {
        let world = World::new().await;
        let asked = ask("Hello")
            .field("instructions", "Be brief.")
            .field("tool_choice", json!({"type": "function", "name": "echo"}))
            .field("reasoning", json!({"effort": "low", "summary": "auto"}))
            .field("text", json!({"format": {"type": "json_object"}}))
            .field("user", "alice")
            .field("acme", json!({"nested": [1, 2.5, null]}));

        world.client().turn(mode, &asked).await;

        let body = world.request(0).await.body;
        let own = ["input", "store", "stream", "include"];
        let fields = asked.body().as_object().unwrap().iter();
        for (field, value) in fields.filter(|(field, _)| !own.contains(&field.as_str())) {
            assert_eq!(body[field], *value, "{field}");
        }
    }
}

#[tokio::test]
async fn string_input_is_sent_as_a_user_message() {
    let world = World::new().await;
    world.client().respond(&ask("Hello \"there\"\n")).await;
    let request = world.request(0).await;
    let item = &request.input()[0];
    assert_eq!((&item["type"], &item["role"]), (&json!("message"), &json!("user")));
    assert_eq!(item["content"], "Hello \"there\"\n");
}

#[tokio::test]
async fn own_ids_are_not_sent_upstream() {
    let world = World::new().await;
    let client = world.client();
    let conversation = client.new_conversation().await;
    client.respond(&ask("Hello").within(&conversation)).await;
    client.respond(&ask("Hello").within(&conversation)).await;
    let request = world.request(1).await;
    assert_eq!(request.input()[0].get("id"), None::<&Value>);
}
