//! A conversation that is deleted while a turn of it is open.

use antiphon_mock::{Answer, Exchange, Reply};
use serde_json::{Value, json};

use crate::support::{
    Client, MODEL, MODES, Mode, Refused, World, ask, frames_until, not_found, terminal,
};

const DELETED: &str = "The conversation was deleted while this request was working on it.";

fn answer() -> Answer {
    Answer::new(MODEL)
        .reasoning("Echo it.")
        .call("call_1", "echo", r#"{"text":"hello"}"#)
        .message("I have called the tool.")
}

/// How much of the answer has come when the conversation is deleted.
fn moments(answer: &Answer) -> [usize; 6] {
    [
        0,
        frames_until(answer, "response.created"),
        frames_until(answer, "response.reasoning_summary_text.delta"),
        frames_until(answer, "response.function_call_arguments.delta"),
        frames_until(answer, "response.output_text.delta"),
        terminal(answer),
    ]
}

async fn delete(client: &Client, conversation: &str) {
    client.delete(&format!("/v1/conversations/{conversation}")).await.json();
}

#[tokio::test]
async fn deletion_ends_the_stream_at_once() {
    let world = World::new().await;
    let client = world.client();
    let answer = answer();
    for moment in moments(&answer).into_iter().skip(1) {
        let conversation = client.new_conversation().await;
        let exchange = world.script(Reply::sse(answer.frames()).hang_after(moment));
        let asking = ask("Echo hello").within(&conversation);
        let mut events = client.stream(&asking).await;
        let id = events.response_id().await;

        delete(&client, &conversation).await;

        let turn = events.ended().await;
        world.wait_for_disconnect(&exchange).await;
        assert_eq!((turn.status(), turn.id()), ("failed", &*id), "after {moment} events");
        let error = json!({"code": "server_error", "message": DELETED});
        assert_eq!(turn.response["error"], error);
        assert_nothing_is_stored(&client, &conversation, &id).await;
    }
}

async fn assert_nothing_is_stored(client: &Client, conversation: &str, response: &str) {
    for path in [
        format!("/v1/conversations/{conversation}"),
        format!("/v1/conversations/{conversation}/items"),
        format!("/v1/responses/{response}"),
    ] {
        assert_eq!(client.get(&path).await.status(), 404, "{path}");
    }
    let refused = client.refused(Mode::Whole, &ask("Hello").after(response)).await;
    assert_eq!(refused.body["error"]["code"], "previous_response_not_found");
}

#[tokio::test]
async fn deletion_before_the_answer_is_an_error() {
    let world = World::new().await;
    let client = world.client();
    let answer = answer();
    for moment in moments(&answer) {
        let reply = Reply::sse(answer.frames()).hang_after(moment);
        let refused = delete_during_turn(&world, &client, Mode::Whole, reply, moment).await;
        assert_eq!(refused, not_found(None, DELETED), "after {moment} events");
    }
    for mode in MODES {
        let reply = Reply::sse(answer.frames()).withhold_head();
        let refused = delete_during_turn(&world, &client, mode, reply, 0).await;
        assert_eq!(refused, not_found(None, DELETED));
    }
}

/// The refusal of a turn whose conversation is deleted once `sent` chunks of the reply were sent.
async fn delete_during_turn(
    world: &World,
    client: &Client,
    mode: Mode,
    reply: Reply,
    sent: usize,
) -> Refused {
    let conversation = client.new_conversation().await;
    let exchange: Exchange = world.script(reply);
    let asked = world.times_asked();
    let asking = ask("Echo hello").within(&conversation);
    let deletion = async {
        world.request(asked).await;
        exchange.wait_for_sent(sent).await;
        delete(client, &conversation).await;
    };
    let (refused, ()) = tokio::join!(client.refused(mode, &asking), deletion);
    world.wait_for_disconnect(&exchange).await;
    refused
}

#[tokio::test]
async fn waiting_turns_fail_after_the_deletion() {
    let world = World::new().await;
    let client = world.client();
    let conversation = client.new_conversation().await;
    let answer = answer();
    let exchange = world.script(Reply::sse(answer.frames()).hang_after(3));
    let mut first = client.stream(&ask("Echo hello").within(&conversation)).await;
    first.response_id().await;
    let waiting = MODES.map(|mode| {
        let (client, asking) = (client.clone(), ask("Hello").within(&conversation));
        tokio::spawn(async move { client.refused(mode, &asking).await })
    });

    delete(&client, &conversation).await;

    assert_eq!(first.ended().await.status(), "failed");
    world.wait_for_disconnect(&exchange).await;
    for refused in waiting {
        let gone = format!("Conversation with id '{conversation}' not found.");
        assert_eq!(refused.await.unwrap(), not_found(None, &gone));
    }
    assert_eq!(world.times_asked(), 1);
}

#[tokio::test]
async fn turns_outside_the_conversation_continue() {
    let world = World::new().await;
    let client = world.client();
    let [doomed, other] = [client.new_conversation().await, client.new_conversation().await];
    let received = client.respond(&ask("My color is purple").within(&doomed)).await;
    let answer = Answer::new(MODEL).message("Noted.");
    let mut asked = Vec::new();
    for asking in [ask("Hello").within(&other), ask("What is my color?").after(received.id())] {
        let exchange = world.script(Reply::sse(answer.frames()).hang_after(3));
        let mut events = client.stream(&asking).await;
        events.response_id().await;
        asked.push((exchange, events));
    }

    delete(&client, &doomed).await;

    for (exchange, events) in asked {
        exchange.release_all();
        assert_eq!(events.ended().await.status(), "completed");
    }
}

#[tokio::test]
async fn deletion_by_another_tenant_ends_no_turn() {
    let world = World::new().await;
    let client = world.client();
    let conversation = client.new_conversation().await;
    let answer = Answer::new(MODEL).message("Noted.");
    let exchange = world.script(Reply::sse(answer.frames()).hang_after(3));
    let mut events = client.stream(&ask("Hello").within(&conversation)).await;
    events.response_id().await;

    let stranger = world.caller("token-of-bob");
    let refused = stranger.delete(&format!("/v1/conversations/{conversation}")).await;
    assert_eq!(refused.status(), 404);
    exchange.release_all();

    assert_eq!(events.ended().await.status(), "completed");
    let held: Vec<Value> = client.items(&conversation).await;
    assert_eq!(held.len(), 2);
}
