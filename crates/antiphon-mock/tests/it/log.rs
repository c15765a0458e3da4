//! The provider's log of its requests.

use antiphon_mock::{Duplicate, Options, Rules, StrictProvider};
use serde_json::json;

use crate::client::{Client, echo, output, text, user};

#[tokio::test]
async fn log_records_verdict_size_and_model_input() {
    let provider = StrictProvider::start().await;
    let client = Client::connect_to(&provider);
    let body = json!({"model": "m", "input": "Hello"});
    client.turn(body.clone()).await;
    client.refused(json!({"model": "m"})).await;

    let requests = provider.requests();
    assert_eq!(requests[0].token, "sk-one");
    assert_eq!(requests[0].size, body.to_string().len());
    assert_eq!(requests[0].model_input.as_ref().map(Vec::len), Some(1));
    assert_eq!((requests[1].status.as_u16(), &requests[1].model_input), (400, &None));
    assert_eq!(provider.refusals().len(), 1);
    assert_eq!(provider.request(1).await.body, json!({"model": "m"}));
}

#[tokio::test]
async fn log_is_filtered_by_token() {
    let provider = StrictProvider::start().await;
    Client::connect_to(&provider).turn(json!({"input": "Hello"})).await;
    Client::with_token(&provider, "sk-two").refused(json!({})).await;

    let client = Client::connect_to(&provider);
    let (_, all) = client.get("/log").await;
    assert_eq!(all.as_array().map(Vec::len), Some(2));
    let (_, of_two) = client.get("/log?token=sk-two").await;
    assert_eq!(of_two.as_array().map(Vec::len), Some(1));
    assert_eq!(of_two[0]["refusal"]["param"], "model");
    assert_eq!((&of_two[0]["status"], &of_two[0]["bytes"]), (&json!(400), &json!(2)));
    assert_eq!(all[0]["given"][0]["role"], "user");
}

#[tokio::test]
async fn duplicates_in_model_input_are_reported() {
    let options = Options { rules: Rules::Lenient, ..Options::default() };
    let provider = StrictProvider::with_options(options).start().await;
    let client = Client::connect_to(&provider);
    let conversation = client.conversation().await;
    let asked = json!({"conversation": conversation, "input": "Echo hello", "tools": echo()});
    let response = client.turn(asked).await;
    assert!(provider.duplicates().is_empty());

    let call = &response["output"][1];
    let call_id = call["call_id"].as_str().unwrap();
    let input = json!([user("Echo hello"), call, output(call_id, "hello")]);
    let again = client.turn(json!({"conversation": conversation, "input": input})).await;

    assert_eq!(text(&again), "echo said: hello");
    let twice = provider.duplicates();
    assert!(twice.contains(&Duplicate::Text("user".to_owned(), "Echo hello".to_owned())));
    assert!(twice.contains(&Duplicate::Item(call["id"].as_str().unwrap().to_owned())));
    assert!(twice.contains(&Duplicate::Call("function_call".to_owned(), call_id.to_owned())));
    assert_eq!(twice.len(), 3);
    let (_, log) = client.get("/log").await;
    assert_eq!(log[2]["twice"].as_array().map(Vec::len), Some(3));
}

#[tokio::test]
async fn same_answer_to_another_message_is_no_duplicate() {
    let provider = StrictProvider::start().await;
    let client = Client::connect_to(&provider);
    let conversation = client.conversation().await;
    for said in ["Hello", "Yes", "Good"] {
        client.turn(json!({"conversation": conversation, "input": said})).await;
    }
    assert!(provider.duplicates().is_empty());
}
