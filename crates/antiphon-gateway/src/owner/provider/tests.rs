use antiphon_mock::Reply;
use http::StatusCode;
use serde_json::{Value, json};

use super::super::tests::world::World;
use super::*;
use crate::settings::Retries;
use crate::upstream::StateError;

const ITEM: &str = "/conversations/conv_1/items/rs_1";
const INPUT: &str = "/responses/resp_1/input_items";

fn user(id: &str) -> Value {
    json!({"type": "message", "role": "user", "id": id})
}

fn provider(world: &World) -> Provider<'_> {
    Provider::new(world.http(), &world.caller)
}

fn ids(items: &[Item]) -> Vec<&str> {
    items.iter().map(|item| item.head().id.as_ref().unwrap().as_str()).collect()
}

fn status(error: &UpstreamError) -> Option<u16> {
    match error {
        UpstreamError::Rejected(refused) => Some(refused.status.as_u16()),
        _ => None,
    }
}

#[tokio::test]
async fn conversation_items_are_read_in_pages_with_the_callers_token() {
    let world = World::new().await;
    world.says(
        &json!({"data": [user("msg_1"), user("msg_2")], "last_id": "msg_2", "has_more": true}),
    );
    world.says(&json!({"data": [user("msg_3")], "last_id": "msg_3", "has_more": false}));

    let items = provider(&world).conversation_items("conv_1").await.unwrap();

    assert_eq!(ids(&items), ["msg_1", "msg_2", "msg_3"]);
    let path = "GET /v1/conversations/conv_1/items?order=asc&limit=100";
    assert_eq!(world.asked(), [path.to_owned(), format!("{path}&after=msg_2")]);
    let mut requests = world.upstream.requests().into_iter();
    assert!(requests.all(|it| it.authorization() == Some("Bearer token-of-alice")));
}

#[tokio::test]
async fn input_items_are_read_in_pages() {
    let world = World::new().await;
    let first = json!({"data": [user("msg_1"), user("msg_2")], "last_id": "x", "has_more": true});
    world.says(&first);
    world.says(&json!({"data": [], "has_more": false}));

    let items = provider(&world).list(INPUT, Cursor::LastOfData).await.unwrap();

    assert_eq!(ids(&items), ["msg_1", "msg_2"]);
    let path = "GET /v1/responses/resp_1/input_items?order=asc&limit=100";
    assert_eq!(world.asked(), [path.to_owned(), format!("{path}&after=msg_2")]);
}

#[tokio::test]
async fn response_is_read_with_its_fields() {
    let world = World::new().await;
    let kept = json!({
        "id": "resp_2", "object": "response", "status": "completed",
        "previous_response_id": "resp_1", "conversation": {"id": "conv_1"},
        "output": [{"type": "reasoning", "id": "rs_1"}, {"type": "message", "id": "msg_1"}],
    });
    world.says(&kept);

    let response = provider(&world).response("resp_2").await.unwrap();

    assert_eq!(world.asked(), ["GET /v1/responses/resp_2"]);
    assert_eq!(response.body, kept.to_string());
    assert_eq!(response.status, "completed");
    assert_eq!(response.previous.as_deref(), Some("resp_1"));
    assert_eq!(ids(&response.output), ["rs_1", "msg_1"]);
    let body = response.body.as_ptr_range();
    assert!(response.output.iter().all(|item| body.contains(&item.raw().as_ptr())));
}

#[tokio::test]
async fn first_response_in_progress_is_parsed() {
    let world = World::new().await;
    let kept = json!({"status": "in_progress", "previous_response_id": null, "output": []});
    world.says(&kept);
    let response = provider(&world).response("resp_1").await.unwrap();
    assert_eq!(response.status, "in_progress");
    assert_eq!(response.previous, None);
    assert!(response.output.is_empty());
}

#[tokio::test]
async fn invalid_response_error_names_the_missing_field() {
    let world = World::new().await;
    let odd = [
        (json!({"output": []}), "a response without a 'status'"),
        (json!({"status": "completed"}), "a response without an 'output'"),
        (json!({"status": "completed", "output": {}}), "a response without items in its 'output'"),
        (json!([]), "a response without fields"),
    ];
    for (body, what) in odd {
        world.says(&body);
        let error = provider(&world).response("resp_1").await.unwrap_err().to_string();
        assert!(error.contains(what), "{error}");
    }
}

#[tokio::test]
async fn error_of_the_provider_is_returned() {
    let world = World::new().await;
    world.refuses(StatusCode::NOT_FOUND, "Conversation with id 'conv_1' not found.");
    let error = provider(&world).conversation_items("conv_1").await.unwrap_err();
    assert_eq!(status(&error), Some(404));
    world.refuses(StatusCode::NOT_FOUND, "Response with id 'resp_1' not found.");
    let error = provider(&world).response("resp_1").await.unwrap_err();
    assert_eq!(error.state_error(), Some(StateError::UnknownResponse));
}

#[tokio::test]
async fn transient_failure_is_retried() {
    let world = World::new().await;
    world.refuses(StatusCode::SERVICE_UNAVAILABLE, "Overloaded");
    world.upstream.script(Reply::hangup());
    world.says(&json!({"data": [user("msg_1")], "last_id": "msg_1", "has_more": true}));
    world.refuses(StatusCode::TOO_MANY_REQUESTS, "Slow down");
    world.says(&json!({"data": [user("msg_2")], "has_more": false}));

    let items = provider(&world).conversation_items("conv_1").await.unwrap();

    assert_eq!(ids(&items), ["msg_1", "msg_2"]);
    assert_eq!(world.asked().len(), 5);
}

#[tokio::test]
async fn retries_are_limited_by_the_settings() {
    let world = World::with(|kept| kept.retries = Retries::none()).await;
    world.refuses(StatusCode::SERVICE_UNAVAILABLE, "Overloaded");
    let error = provider(&world).ask(Method::DELETE, ITEM).await.unwrap_err();
    assert_eq!(status(&error), Some(503));
    assert_eq!(world.asked().len(), 1);
}

#[tokio::test]
async fn answer_over_the_limit_is_an_error() {
    let world = World::with(|kept| kept.max_answer = 20).await;
    world.says(&json!({"data": [], "has_more": false}));
    let error = provider(&world).list(INPUT, Cursor::LastOfData).await.unwrap_err();
    assert_eq!(error, UpstreamError::UnexpectedAnswer("a body over 20 bytes".into()));
}

#[tokio::test]
async fn invalid_id_is_unknown_without_a_request() {
    let world = World::new().await;
    let provider = provider(&world);
    for text in ["../x?y", "", "..", "a/b", "a%2Fb"] {
        let errors = [
            provider.conversation_items(text).await.unwrap_err(),
            provider.response(text).await.unwrap_err(),
        ];
        assert!(errors.iter().all(|error| status(error) == Some(404)), "{errors:?}");
    }
    assert_eq!(world.asked(), [""; 0]);
}

#[tokio::test]
async fn id_is_escaped_as_one_segment() {
    let world = World::new().await;
    world.says(&json!({"data": []}));
    provider(&world).conversation_items("conv:a&limit=1").await.unwrap();
    let path = "GET /v1/conversations/conv%3Aa%26limit%3D1/items?order=asc&limit=100";
    assert_eq!(world.asked(), [path]);
}
