//! Unknown ids and models.

use antiphon::dialect::UpstreamApi;
use antiphon_gateway::settings::{Settings, State};
use serde_json::json;

use crate::support::{MODES, World, ask, invalid, not_found, user};

const CONVERSATIONS: [&str; 2] =
    ["conv_x", "conv_0123456789abcdef0123456789abcdef0123456789abcdef"];
const RESPONSES: [&str; 3] =
    ["resp_x", "resp_0123456789abcdef0123456789abcdef0123456789abcdef", "msg_of_something_else"];

#[tokio::test]
async fn turn_of_an_unknown_conversation_is_not_found() {
    let world = World::new().await;
    let client = world.client();
    for id in CONVERSATIONS {
        let message = format!("Conversation with id '{id}' not found.");
        for mode in MODES {
            let refused = client.refused(mode, &ask("Hello").within(id)).await;
            assert_eq!(refused, not_found(None, &message));
        }
    }
    assert_eq!(world.times_asked(), 0);
}

#[tokio::test]
async fn unknown_previous_response_is_not_found() {
    let world = World::new().await;
    let client = world.client();
    for id in RESPONSES {
        let message = format!("Previous response with id '{id}' not found.");
        let expected =
            invalid(Some("previous_response_id"), Some("previous_response_not_found"), &message);
        for mode in MODES {
            let refused = client.refused(mode, &ask("Hello").after(id)).await;
            assert_eq!(refused, expected);
        }
    }
    assert_eq!(world.times_asked(), 0);
}

#[tokio::test]
async fn only_one_state_can_be_continued() {
    let world = World::new().await;
    let client = world.client();
    let conversation = client.new_conversation().await;
    let received = client.respond(&ask("Hello").within(&conversation)).await;
    let both = ask("Hello").within(&conversation).after(received.id());
    let expected = invalid(
        None,
        Some("mutually_exclusive_parameters"),
        "Mutually exclusive parameters: ''. Ensure you are only providing one of: \
         'previous_response_id' or 'conversation'.",
    );
    for mode in MODES {
        assert_eq!(client.refused(mode, &both).await, expected);
    }
}

#[tokio::test]
async fn model_without_an_upstream_is_not_found() {
    let world = World::with(|settings| settings.upstreams.clear()).await;
    let expected = invalid(
        Some("model"),
        Some("model_not_found"),
        "The requested model 'fake-model' does not exist: no upstream serves it (--upstream).",
    );
    for mode in MODES {
        let refused = world.client().refused(mode, &ask("Hello")).await;
        assert_eq!(refused, expected);
    }
}

#[tokio::test]
async fn unknown_conversation_is_not_found() {
    let world = World::new().await;
    let client = world.client();
    for id in CONVERSATIONS {
        let expected = not_found(None, &format!("Conversation with id '{id}' not found."));
        let path = format!("/v1/conversations/{id}");
        let items = format!("{path}/items");
        let item = format!("{items}/msg_x");
        let added = json!({"items": [user("Hello")]});
        let metadata = json!({"metadata": {}});
        for answer in [
            client.get(&path).await,
            client.post(&path, &metadata).await,
            client.delete(&path).await,
            client.get(&items).await,
            client.post(&items, &added).await,
            client.get(&item).await,
            client.delete(&item).await,
        ] {
            assert_eq!(answer.refused(), expected);
        }
    }
}

#[tokio::test]
async fn unknown_response_is_not_found() {
    let world = World::new().await;
    let client = world.client();
    for id in RESPONSES {
        let expected = not_found(None, &format!("Response with id '{id}' not found."));
        let path = format!("/v1/responses/{id}");
        for answer in [
            client.get(&path).await,
            client.delete(&path).await,
            client.get(&format!("{path}/input_items")).await,
            client.get(&format!("{path}/report")).await,
        ] {
            assert_eq!(answer.refused(), expected);
        }
    }
}

#[tokio::test]
async fn unknown_item_is_not_found() {
    let world = World::new().await;
    let client = world.client();
    let conversation = client.new_conversation().await;
    let path = format!("/v1/conversations/{conversation}/items/msg_x");
    for answer in [client.get(&path).await, client.delete(&path).await] {
        let refused = answer.refused();
        let error = &refused.body["error"];
        assert_eq!(refused.status, 404);
        assert_eq!(error["type"], "invalid_request_error");
        assert!(error["message"].as_str().unwrap().contains("'msg_x' not found"));
    }
}

/// Ids as OpenAI gives them: of 50 digits, and of 48 that begin with the time.
const OF_PROVIDER: [&str; 2] = [
    "0be1ebc1ac5a3bb6006913e9bb0ff48190b3d39da4c3a2fd09",
    "67ccd3a9da748190baa7f1570fe91ac604becb25c45c1d41",
];
const HINT: &str = "Antiphon keeps the state here, and this id has the form of the provider's ids; \
                    to use conversations and responses that the provider stores, start the gateway \
                    with --state upstream.";

#[tokio::test]
async fn provider_id_names_the_state_setting() {
    let world = World::new().await;
    let client = world.client();
    for digits in OF_PROVIDER {
        let (conversation, response) = (format!("conv_{digits}"), format!("resp_{digits}"));
        let unknown =
            not_found(None, &format!("Conversation with id '{conversation}' not found. {HINT}"));
        let unknown_previous = invalid(
            Some("previous_response_id"),
            Some("previous_response_not_found"),
            &format!("Previous response with id '{response}' not found. {HINT}"),
        );
        for mode in MODES {
            let within = ask("Hello").within(&conversation);
            assert_eq!(client.refused(mode, &within).await, unknown);
            let after = ask("Hello").after(&response);
            assert_eq!(client.refused(mode, &after).await, unknown_previous);
        }
        let path = format!("/v1/conversations/{conversation}");
        for answer in [client.get(&path).await, client.get(&format!("{path}/items")).await] {
            assert_eq!(answer.refused(), unknown);
        }
        let unknown = not_found(None, &format!("Response with id '{response}' not found. {HINT}"));
        let path = format!("/v1/responses/{response}");
        for answer in [client.get(&path).await, client.delete(&path).await] {
            assert_eq!(answer.refused(), unknown);
        }
    }
    assert_eq!(world.times_asked(), 0);
}

#[tokio::test]
async fn provider_id_gets_no_useless_hint() {
    let changes: [fn(&mut Settings); 3] = [
        |settings| settings.upstreams.clear(),
        |settings| settings.upstreams[0].api = UpstreamApi::Chat,
        |settings| settings.upstreams[0].state = State::Upstream,
    ];
    for change in changes {
        let world = World::with(change).await;
        let answer = world.client().get(&format!("/v1/responses/resp_{}", OF_PROVIDER[0])).await;
        let refused = answer.refused();
        assert!(!refused.body.to_string().contains("--state"), "{refused:?}");
    }
}
