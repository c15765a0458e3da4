//! `POST /v1/responses/{id}/end`: a request that ends the open turn of another.

use antiphon_mock::{Answer, Reply};
use serde_json::{Value, json};

use crate::support::{Answer as Answered, Client, MODEL, Mode, World, ask, frames_until};

const ENDED: &str = "The turn was ended by another request.";

fn answer() -> Answer {
    Answer::new(MODEL).message("This answer does not end.")
}

/// An answer that stops after its first text.
fn hanging() -> Reply {
    let answer = answer();
    Reply::sse(answer.frames()).hang_after(frames_until(&answer, "response.output_text.delta"))
}

async fn end(client: &Client, id: &str) -> Answered {
    client.post(&format!("/v1/responses/{id}/end"), &json!({})).await
}

fn ended(id: &str, ended: bool) -> Value {
    json!({"id": id, "object": "response.end", "ended": ended})
}

#[tokio::test]
async fn open_stream_fails_and_its_conversation_goes_on() {
    let world = World::new().await;
    let client = world.client();
    let conversation = client.new_conversation().await;
    let exchange = world.script(hanging());
    let mut events = client.stream(&ask("Hello").within(&conversation)).await;
    let id = events.response_id().await;
    assert_eq!(end(&world.caller("token-of-bob"), &id).await.status(), 404);

    assert_eq!(end(&client, &id).await.json(), ended(&id, true));

    let error = json!({"code": "turn_ended", "message": ENDED});
    let turn = events.ended().await;
    world.wait_for_disconnect(&exchange).await;
    assert_eq!((turn.status(), &turn.response["error"]), ("failed", &error));
    let next = client.respond(&ask("Hello again").within(&conversation)).await;
    assert_eq!(next.status(), "completed");
    assert_eq!(end(&client, next.id()).await.json(), ended(next.id(), false));
}

#[tokio::test]
async fn open_turn_of_a_conversation_is_found_by_the_inspector() {
    let world = World::new().await;
    let client = world.client();
    let conversation = client.new_conversation().await;
    let exchange = world.script(hanging());
    let asking = ask("Hello").within(&conversation);
    let ending = async {
        world.request(0).await;
        exchange.wait_for_sent(2).await;
        let path = format!("/inspect/conversations/{conversation}.json");
        let view = client.get(&path).await.json();
        let id = view["live"]["response"].as_str().expect("a turn is open").to_owned();
        assert_eq!(end(&client, &id).await.json(), ended(&id, true));
    };

    let (refused, ()) = tokio::join!(client.refused(Mode::Whole, &asking), ending);

    assert_eq!(refused.body["error"]["code"], "turn_ended");
    assert_eq!(refused.body["error"]["message"], ENDED);
    assert_eq!(client.items(&conversation).await.len(), 0);
}

#[tokio::test]
async fn background_response_is_cancelled() {
    let world = World::new().await;
    let client = world.client();
    world.script(Reply::sse(answer().frames()).withhold_head());
    let asking = ask("Hello").field("background", true);
    let queued = client.post("/v1/responses", asking.body()).await.json();
    let id = queued["id"].as_str().expect("it has an id");

    assert_eq!(end(&client, id).await.json(), ended(id, true));

    let response = client.get(&format!("/v1/responses/{id}")).await.json();
    assert_eq!(response["status"], "cancelled");
}

#[tokio::test]
async fn unknown_response_is_not_found() {
    let world = World::new().await;
    assert_eq!(end(&world.client(), "resp_unknown").await.status(), 404);
}
