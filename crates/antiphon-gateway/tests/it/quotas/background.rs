//! Turns in the background.

use antiphon_mock::{Answer, Reply};

use super::{Bound, QUOTAS, assert_quota_error, assert_refused, items};
use crate::support::{MODEL, MODES, Mode, World, ask, frames_until, text};

#[tokio::test]
async fn background_turn_is_rejected_at_a_full_quota() {
    for quota in QUOTAS {
        let world = quota.world().await;
        let client = world.client();
        let conversation = client.new_conversation().await;
        client.respond(&ask("Hello").within(&conversation)).await;
        let more = ask("More").within(&conversation).field("background", true);

        for mode in MODES {
            assert_refused(&client.create(mode, &more).await, quota);
            let keyed = client.clone().with_header("idempotency-key", "k");
            assert_refused(&keyed.create(mode, &more).await, quota);
        }

        assert_eq!(world.times_asked(), 1);
    }
}

#[tokio::test]
async fn queued_turn_fails_in_a_full_conversation() {
    let world = World::with(|settings| settings.limits.conversation_quota = items(2)).await;
    let client = world.client();
    let conversation = client.new_conversation().await;
    let answer = Answer::new(MODEL).message("Once upon a time");
    let begun = frames_until(&answer, "response.output_text.delta");
    let exchange = world.script(Reply::sse(answer.frames()).hang_after(begun));
    let mut events = client.stream(&ask("Tell me a tale").within(&conversation)).await;
    events.response_id().await;

    let waiting = ask("Another").within(&conversation).field("background", true);
    let queued = client.create(Mode::Whole, &waiting).await.json();
    assert_eq!(queued["status"], "queued", "it waits for the open turn");
    exchange.release_all();
    events.all().await;

    let id = text(&queued["id"]);
    let ended = client.wait_until_ended(id).await;
    assert_eq!(ended["status"], "failed");
    let mut error = ended["error"].clone();
    error["type"] = "invalid_request_error".into();
    assert_quota_error(&error, Bound::ConversationItems);
    assert_eq!(world.times_asked(), 1);
    let input = client.get(&format!("/v1/responses/{id}/input_items")).await.json();
    assert_eq!(input["data"], serde_json::json!([]), "its input is not stored");
}
