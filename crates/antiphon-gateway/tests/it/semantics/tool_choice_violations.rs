//! What becomes of an answer that does not heed the request's `tool_choice`.

use antiphon_mock::Answer;
use serde_json::{Value, json};

use super::{APIS, RESPONSES, ask_with};
use crate::support::{Client, MODEL, MODES, Turn, lines, list, text};

/// What the report says of the upstream's stream: fault and tool.
async fn faults(client: &Client, turn: &Turn) -> Vec<(String, Value)> {
    let report = client.report(turn.id()).await;
    let fault = |note: &Value| (text(&note["fault"]).to_owned(), note["from"].clone());
    list(&report["stream"]).iter().map(fault).collect()
}

fn look_and_delete() -> Answer {
    Answer::new(MODEL).call("call_1", "look", "{}").call("call_2", "delete", "{}")
}

fn allowed(names: &[&str]) -> Value {
    let tools: Vec<Value> =
        names.iter().map(|name| json!({"type": "function", "name": name})).collect();
    json!({"type": "allowed_tools", "mode": "auto", "tools": tools})
}

#[tokio::test]
async fn disallowed_call_is_suppressed_and_reported() {
    let cases = [
        (json!("none"), vec![], vec!["look", "delete"]),
        (allowed(&["look"]), vec!["call look {}"], vec!["delete"]),
        (json!({"type": "function", "name": "look"}), vec!["call look {}"], vec!["delete"]),
    ];
    for dialect in APIS {
        for mode in MODES {
            for (choice, kept, suppressed) in &cases {
                let world = dialect.world().await;
                let client = world.client();
                dialect.answers(&world, &look_and_delete());
                let asked = ask_with(&["look", "delete"]).field("tool_choice", choice.clone());

                let turn = client.turn(mode, &asked).await;

                assert_eq!(turn.status(), "completed");
                assert_eq!(lines(turn.output()), *kept, "{choice}");
                let expected: Vec<_> = suppressed
                    .iter()
                    .map(|tool| ("call_not_permitted".to_owned(), json!(tool)))
                    .collect();
                assert_eq!(faults(&client, &turn).await, expected, "{choice}");
            }
        }
    }
}

#[tokio::test]
async fn suppressed_call_is_not_stored() {
    for dialect in APIS {
        for mode in MODES {
            let world = dialect.world().await;
            let client = world.client();
            let conversation = client.new_conversation().await;
            dialect.answers(&world, &look_and_delete());
            let asked = ask_with(&["look", "delete"]).within(&conversation);

            client.turn(mode, &asked.clone().field("tool_choice", "none")).await;

            assert_eq!(lines(&client.items(&conversation).await), ["user: Look"]);
            assert_eq!(client.turn(mode, &asked).await.header("antiphon-repairs"), None);
        }
    }
}

#[tokio::test]
async fn disallowed_hosted_call_is_suppressed() {
    let search = json!({
        "type": "web_search_call", "id": "ws_1", "status": "completed",
        "action": {"type": "search", "query": "x"},
    });
    let read = json!({
        "type": "mcp_call", "id": "mcp_1", "server_label": "wiki", "name": "read",
        "arguments": "{}",
    });
    let tools = json!([
        {"type": "web_search_preview"},
        {"type": "mcp", "server_label": "wiki", "server_url": "https://wiki.example"},
    ]);
    let only = |tool: &Value| json!({"type": "allowed_tools", "mode": "auto", "tools": [tool]});
    let cases = [
        (json!("none"), vec![], vec!["web_search", "wiki"]),
        (only(&json!({"type": "web_search_preview"})), vec!["web_search_call"], vec!["wiki"]),
        (
            only(&json!({"type": "mcp", "server_label": "wiki"})),
            vec!["mcp_call"],
            vec!["web_search"],
        ),
        (json!({"type": "web_search_preview"}), vec!["web_search_call", "mcp_call"], vec![]),
    ];
    for mode in MODES {
        for (choice, kept, suppressed) in &cases {
            let world = RESPONSES.world().await;
            let client = world.client();
            let answer = Answer::new(MODEL).item(search.clone()).item(read.clone());
            RESPONSES.answers(&world, &answer);
            let asked = ask_with(&[]).field("tools", tools.clone());

            let turn = client.turn(mode, &asked.field("tool_choice", choice.clone())).await;

            assert_eq!(lines(turn.output()), *kept, "{choice}");
            let tools: Vec<Value> =
                faults(&client, &turn).await.into_iter().map(|(_, tool)| tool).collect();
            assert_eq!(tools, suppressed.iter().map(|tool| json!(tool)).collect::<Vec<_>>());
        }
    }
}

#[tokio::test]
async fn missing_required_call_is_reported() {
    let look = json!({"type": "function", "name": "look"});
    let cases = [
        (json!("required"), Value::Null),
        (look, json!("look")),
        (
            json!({"type": "allowed_tools", "mode": "required", "tools": [{
                "type": "function", "name": "look",
            }]}),
            Value::Null,
        ),
    ];
    for dialect in APIS {
        for mode in MODES {
            for (choice, tool) in &cases {
                let world = dialect.world().await;
                let client = world.client();
                dialect.answers(&world, &Answer::new(MODEL).message("I would rather not."));
                let asked = ask_with(&["look", "delete"]).field("tool_choice", choice.clone());

                let turn = client.turn(mode, &asked).await;

                assert_eq!(turn.text(), "I would rather not.");
                let expected = vec![("call_missing".to_owned(), tool.clone())];
                assert_eq!(faults(&client, &turn).await, expected, "{choice}");
            }
        }
    }
}

#[tokio::test]
async fn obeyed_tool_choice_is_not_reported() {
    let choices = [json!("auto"), json!("required"), json!({"type": "function", "name": "look"})];
    for dialect in APIS {
        for mode in MODES {
            for choice in &choices {
                let world = dialect.world().await;
                let client = world.client();
                dialect.answers(&world, &Answer::new(MODEL).call("call_1", "look", "{}"));
                let asked = ask_with(&["look", "delete"]).field("tool_choice", choice.clone());
                let turn = client.turn(mode, &asked).await;
                assert_eq!(lines(turn.output()), ["call look {}"]);
                assert_eq!(faults(&client, &turn).await, []);
            }
        }
    }
}

#[tokio::test]
async fn limited_answer_is_not_reported() {
    let world = RESPONSES.world().await;
    let client = world.client();
    RESPONSES.answers(&world, &Answer::new(MODEL).message("Let me").incomplete());
    let turn = client.respond(&ask_with(&["look"]).field("tool_choice", "required")).await;
    assert_eq!(faults(&client, &turn).await, []);
}
