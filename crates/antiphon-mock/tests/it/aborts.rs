//! The outcome of a turn whose caller disconnects.

use antiphon_mock::{Answer, OnAbort, Script, StrictProvider};
use serde_json::{Value, json};

use crate::client::{Client, Events, echo, id, output, soon, text, types};

/// A provider whose next answer, reasoning and a call, stops after `count` events.
async fn start_stopping_after(on_abort: OnAbort, count: usize) -> (StrictProvider, Client) {
    let provider = StrictProvider::start().await;
    provider.set_on_abort(on_abort);
    let answer =
        Answer::new("fake-model").reasoning("To echo.").call("call_1", "echo", r#"{"text":"x"}"#);
    provider.script(Script::from(answer).hang_after(count));
    let client = Client::connect_to(&provider);
    (provider, client)
}

/// The number of events up to and including the one that ends the item at `index`.
fn done(index: usize) -> usize {
    let answer = Answer::new("m").reasoning("To echo.").call("call_1", "echo", r#"{"text":"x"}"#);
    let events: Vec<Value> =
        answer.frames().iter().filter_map(antiphon_mock::Frame::json).collect();
    let is_end = |event: &Value| {
        event["type"] == "response.output_item.done" && event["output_index"] == index
    };
    events.iter().position(is_end).expect("the item ends") + 1
}

async fn read_events(stream: &mut Events, count: usize) -> Value {
    let mut first = Value::Null;
    for index in 0..count {
        let event = stream.next().await.expect("the stream has another event");
        if index == 0 {
            first = event["response"].clone();
        }
    }
    first
}

/// Reads `count` events of a turn, disconnects, and returns the announced response.
async fn leave_after(
    client: &Client,
    provider: &StrictProvider,
    body: Value,
    count: usize,
) -> Value {
    let mut stream = client.stream(body).await;
    let announced = read_events(&mut stream, count).await;
    drop(stream);
    soon(provider.wait_until_idle()).await;
    announced
}

#[tokio::test]
async fn part_stores_input_and_finished_items() {
    let (provider, client) = start_stopping_after(OnAbort::StorePart, done(0)).await;
    let conversation = client.conversation().await;
    let asked = json!({"conversation": conversation, "input": "Echo x", "tools": echo()});
    leave_after(&client, &provider, asked, done(0)).await;

    let items = client.items(&conversation).await;
    assert_eq!(types(&items), ["message", "reasoning"]);
    let next = json!({"model": "fake-model", "conversation": conversation, "input": "Hello"});
    let (status, error) = client.refused(next).await;
    let message = format!(
        "Item '{}' of type 'reasoning' was provided without its required following item.",
        id(&items[1])
    );
    assert_eq!((status, &error["message"]), (400, &json!(message)));

    client.delete(&format!("/v1/conversations/{conversation}/items/{}", id(&items[1]))).await;
    client.turn(json!({"conversation": conversation, "input": "Hello"})).await;
}

#[tokio::test]
async fn part_stores_a_call_without_output() {
    let (provider, client) = start_stopping_after(OnAbort::StorePart, done(1)).await;
    let conversation = client.conversation().await;
    let asked = json!({"conversation": conversation, "input": "Echo x", "tools": echo()});
    let announced = leave_after(&client, &provider, asked, done(1)).await;

    let (_, response) = client.get(&format!("/v1/responses/{}", id(&announced))).await;
    assert_eq!(response["status"], "incomplete");
    assert_eq!(types(response["output"].as_array().unwrap()), ["reasoning", "function_call"]);
    let next = json!({"model": "fake-model", "conversation": conversation, "input": "Hello"});
    let (status, error) = client.refused(next).await;
    let message = "No tool output found for function call call_1.";
    assert_eq!((status, &error["message"]), (400, &json!(message)));
    let late = json!({"conversation": conversation, "input": [output("call_1", "x")]});
    assert_eq!(text(&client.turn(late).await), "echo said: x");
}

#[tokio::test]
async fn partial_response_can_be_continued() {
    let (provider, client) = start_stopping_after(OnAbort::StorePart, done(1)).await;
    let asked = json!({"input": "Echo x", "tools": echo()});
    let announced = leave_after(&client, &provider, asked, done(1)).await;
    let late = json!({"previous_response_id": id(&announced), "input": [output("call_1", "x")]});
    assert_eq!(text(&client.turn(late).await), "echo said: x");
}

#[tokio::test]
async fn whole_stores_undelivered_items() {
    let (provider, client) = start_stopping_after(OnAbort::StoreWhole, 2).await;
    let conversation = client.conversation().await;
    let asked = json!({"conversation": conversation, "input": "Echo x", "tools": echo()});
    let announced = leave_after(&client, &provider, asked, 2).await;

    let items = client.items(&conversation).await;
    assert_eq!(types(&items), ["message", "reasoning", "function_call"]);
    let (_, response) = client.get(&format!("/v1/responses/{}", id(&announced))).await;
    assert_eq!(response["status"], "completed");
}

#[tokio::test]
async fn nothing_stores_neither_input_nor_output() {
    let (provider, client) = start_stopping_after(OnAbort::StoreNothing, done(1)).await;
    let conversation = client.conversation().await;
    let asked = json!({"conversation": conversation, "input": "Echo x", "tools": echo()});
    let announced = leave_after(&client, &provider, asked, done(1)).await;

    assert!(client.items(&conversation).await.is_empty());
    assert_eq!(client.get(&format!("/v1/responses/{}", id(&announced))).await.0, 404);
    let chained = json!({
        "model": "fake-model", "previous_response_id": id(&announced), "input": "Hello",
    });
    let (status, error) = client.refused(chained).await;
    assert_eq!((status, &error["code"]), (400, &json!("previous_response_not_found")));
    let late = json!({
        "model": "fake-model", "conversation": conversation, "input": [output("call_1", "x")],
    });
    let (_, error) = client.refused(late).await;
    let message = "No tool call found for function call output with call_id call_1.";
    assert_eq!(error["message"], message);
}

#[tokio::test]
async fn connection_broken_by_provider_counts_as_disconnect() {
    let provider = StrictProvider::start().await;
    let client = Client::connect_to(&provider);
    let answer = Answer::new("fake-model").message("Hello");
    provider.script(Script::from(answer).break_after(3));
    let conversation = client.conversation().await;
    let heard = client.stream(json!({"conversation": conversation, "input": "Hi"})).await;
    let heard = heard.all().await;

    assert_eq!(types(&heard).last(), Some(&"response.output_item.added"));
    assert_eq!(types(&client.items(&conversation).await), ["message"]);
}

#[tokio::test]
async fn failed_turn_stores_nothing() {
    let provider = StrictProvider::start().await;
    let client = Client::connect_to(&provider);
    let conversation = client.conversation().await;
    provider.script(Answer::new("fake-model").message("Hm").failed("server_error", "No."));
    let asked = json!({"conversation": conversation, "input": "Hello"});
    let events = client.stream(asked.clone()).await.all().await;

    assert_eq!(types(&events).last(), Some(&"response.failed"));
    assert!(client.items(&conversation).await.is_empty());
    assert!(provider.response_ids().is_empty());
    client.turn(asked).await;
}

#[tokio::test]
async fn disconnect_before_json_answer_stores_the_input() {
    let provider = StrictProvider::start().await;
    let client = Client::connect_to(&provider);
    let conversation = client.conversation().await;
    provider.script(Script::from(Answer::new("m").message("Hi")).withhold_head());
    let asked = json!({"model": "m", "conversation": conversation, "input": "Hello"});
    let waiting = client.post("/v1/responses", asked);
    tokio::select! {
        answer = waiting => panic!("it is withheld: {answer:?}"),
        _ = provider.request(1) => {}
    }
    soon(provider.wait_until_idle()).await;
    assert_eq!(types(&client.items(&conversation).await), ["message"]);
}
