//! A turn is committed before its end is told.

use antiphon_mock::{Answer, Reply};
use serde_json::Value;

use crate::support::{MODEL, Mode, World, ask, soon, terminal};

#[tokio::test]
async fn response_is_stored_before_the_last_event() {
    let world = World::new().await;
    let client = world.client();
    let conversation = client.new_conversation().await;
    for round in 1..=8 {
        let mut events = client.stream(&ask("Hello").within(&conversation)).await;
        let end = events.until("response.completed").await;
        let response = &end.json["response"];

        let kept = client.stored_response(response["id"].as_str().unwrap()).await;

        assert_eq!(kept, *response);
        assert_eq!(client.items(&conversation).await.len(), 2 * round);
    }
}

#[tokio::test]
async fn nothing_is_stored_before_the_upstream_ends() {
    let world = World::new().await;
    let client = world.client();
    let conversation = client.new_conversation().await;
    client.respond(&ask("My color is purple").within(&conversation)).await;
    let held = client.items(&conversation).await;
    let answer = Answer::new(MODEL).message("Almost there");
    let exchange = world.script(Reply::sse(answer.frames()).hang_after(terminal(&answer)));

    let mut events = client.stream(&ask("Hello").within(&conversation)).await;
    let id = events.response_id().await;
    events.until("response.output_item.done").await;

    let path = format!("/v1/responses/{id}");
    assert_eq!(client.get(&path).await.status(), 404);
    assert_eq!(client.items(&conversation).await, held);

    exchange.release_all();
    events.until("response.completed").await;
    assert_eq!(client.stored_response(&id).await["status"], "completed");
    assert_eq!(client.items(&conversation).await.len(), held.len() + 2);
}

#[tokio::test]
async fn unstreamed_answer_is_stored_at_the_end() {
    let world = World::new().await;
    let client = world.client();
    let conversation = client.new_conversation().await;
    let answer = Answer::new(MODEL).message("Almost there");
    let exchange = world.script(Reply::sse(answer.frames()).hang_after(terminal(&answer)));
    let ask = ask("Hello").within(&conversation);
    let turn = tokio::spawn({
        let client = client.clone();
        async move { client.turn(Mode::Whole, &ask).await }
    });

    soon("the upstream waits", exchange.wait_for_sent(terminal(&answer))).await;
    assert_eq!(client.items(&conversation).await, [] as [Value; 0]);
    exchange.release_all();

    let turn = turn.await.unwrap();
    assert_eq!(client.stored_response(turn.id()).await, turn.response);
    assert_eq!(client.items(&conversation).await.len(), 2);
}
