//! A provider that temporarily cannot list its items.

use antiphon_mock::Reply;
use http::{Method, StatusCode};
use serde_json::json;

use crate::world::{Mode, World, user};

#[tokio::test]
async fn nothing_is_sent_without_the_list() {
    for status in [408, 429, 503] {
        let mut world = World::new().await;
        let conversation = world.conversation().await;
        let body = |input| json!({"conversation": conversation, "input": input});
        world.turn(Mode::Whole, body(json!([user("One.")]))).await;
        world.forget();
        let status = StatusCode::from_u16(status).unwrap();
        let busy = Reply::json(status, &json!({"error": {"message": "Slow down"}}));
        world.provider.reply_instead(Method::GET, &format!("{conversation}/items"), busy);
        let replay = || body(json!([user("One."), user("Two.")]));
        let refused = world.attempt(Mode::Whole, replay()).await;
        assert_eq!((refused.status, world.provider.turns().len()), (status.as_u16(), 1));
        assert_eq!(refused.body["error"]["message"], "Slow down");
        world.turn(Mode::Whole, replay()).await;
        assert_eq!(world.sent(), ["user: Two."]);
    }
}

#[tokio::test]
async fn failed_list_request_is_retried() {
    let mut world = World::new().await;
    let conversation = world.conversation().await;
    let body = |input| json!({"conversation": conversation, "input": input});
    world.turn(Mode::Whole, body(json!([user("One.")]))).await;
    world.forget();
    let error = json!({"error": {"message": "Oh."}});
    let failed = Reply::json(StatusCode::INTERNAL_SERVER_ERROR, &error);
    world.provider.reply_instead(Method::GET, &format!("{conversation}/items"), failed);
    world.turn(Mode::Whole, body(json!([user("One."), user("Two.")]))).await;
    assert_eq!(world.sent(), ["user: Two."]);
}
