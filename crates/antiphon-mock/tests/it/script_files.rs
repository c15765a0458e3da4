//! Scripts in their file form.

use antiphon_mock::{Script, StrictProvider};
use serde_json::json;

use crate::client::{Client, output, text, types};

async fn start(script: &str) -> StrictProvider {
    let provider = StrictProvider::start().await;
    for script in Script::read_all(script).expect("the script is valid") {
        provider.script(script);
    }
    provider
}

#[tokio::test]
async fn scripted_answers_come_before_the_models() {
    let provider = start(
        r#"[
            {"answer": [
                {"reasoning": "To echo."},
                {"call": {"name": "echo", "arguments": {"text": "hello"}, "call_id": "call_1"}}
            ]},
            {"answer": [{"message": "Done."}]}
        ]"#,
    )
    .await;
    let client = Client::connect_to(&provider);
    let conversation = client.conversation().await;
    let call = client.turn(json!({"conversation": conversation, "input": "Echo"})).await;
    assert_eq!(types(call["output"].as_array().unwrap()), ["reasoning", "function_call"]);
    assert_eq!(call["output"][1]["arguments"], r#"{"text":"hello"}"#);
    assert_eq!(call["model"], "fake-model");
    let answered = json!({"conversation": conversation, "input": [output("call_1", "hello")]});
    assert_eq!(text(&client.turn(answered).await), "Done.");
    let on = client.turn(json!({"conversation": conversation, "input": "Hello"})).await;
    assert_eq!(text(&on), "Noted.");
}

#[tokio::test]
async fn file_supports_every_item_and_ending() {
    let provider = start(
        r#"[
            {"answer": [{"custom_call": {"name": "shell", "input": "ls"}}, {"refusal": "No."},
                        {"item": {"type": "web_search_call", "id": "ws_1", "status": "completed"}},
                        {"call": {"name": "echo"}}]},
            {"answer": [{"message": "Cut"}], "incomplete": true},
            {"answer": [], "failed": {"code": "server_error", "message": "No."}},
            {"status": 503, "body": {"error": {"message": "Overloaded"}}}
        ]"#,
    )
    .await;
    let client = Client::connect_to(&provider);
    let first = client.turn(json!({"input": "Hello"})).await;
    let output = first["output"].as_array().unwrap();
    let kinds = ["custom_tool_call", "message", "web_search_call", "function_call"];
    assert_eq!(types(output), kinds);
    assert_eq!(output[3]["arguments"], "{}");
    assert_ne!(output[0]["call_id"], output[3]["call_id"]);
    assert_eq!(client.turn(json!({"input": "Hello"})).await["status"], "incomplete");
    assert_eq!(client.turn(json!({"input": "Hello"})).await["error"]["code"], "server_error");
    let asked = json!({"model": "m", "input": "Hello"});
    assert_eq!(client.post("/v1/responses", asked).await.0, 503);
}

#[tokio::test]
async fn stream_stops_or_breaks_as_scripted() {
    let provider = start(
        r#"[
            {"answer": [{"message": "Hello"}], "break_after": 3},
            {"answer": [{"message": "Hello"}], "stop_after": 2}
        ]"#,
    )
    .await;
    let client = Client::connect_to(&provider);
    let broken = client.stream(json!({"input": "Hello"})).await.all().await;
    assert_eq!(broken.len(), 3);
    let mut stopped = client.stream(json!({"input": "Hello"})).await;
    stopped.until("response.in_progress").await;
    drop(stopped);
    provider.wait_until_idle().await;
    assert_eq!(provider.response_ids().len(), 2);
}

#[test]
fn invalid_entry_is_reported_by_number() {
    for (script, sentence) in [
        ("{}", "expected a sequence at line 1"),
        (r#"[{"answer": [{"mesage": "Hi"}]}]"#, "unknown variant `mesage`"),
        (r#"[{"answer": [], "stop": 1}]"#, "unknown field `stop`"),
        (r#"[{"answer": []}, {}]"#, "entry 2 needs either 'answer' or 'status'"),
        (r#"[{"answer": [], "status": 200}]"#, "entry 1 needs either"),
        (r#"[{"status": 1000}]"#, "entry 1: 1000 is not an HTTP status"),
    ] {
        let error = Script::read_all(script).expect_err(script).to_string();
        assert!(error.contains(sentence), "{error}");
    }
}
