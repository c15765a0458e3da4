//! Tools that only the Responses API has: those in namespaces, and those that a provider runs.

use serde_json::{Value, json};

use super::{CHAT, OTHERS};
use crate::support::{Ask, MODES, PLAIN, ask, output};

/// A namespace with one function.
fn crm() -> Value {
    let parameters =
        json!({"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"]});
    let find = json!({"type": "function", "name": "find", "defer_loading": true,
        "parameters": parameters});
    json!({"type": "namespace", "name": "crm", "description": "Customers.", "tools": [find]})
}

/// A question with a namespace, a function and a hosted tool.
fn ask_with_tools(input: impl Into<Value>) -> Ask {
    let tools = json!([
        {"type": "function", "name": "other"},
        crm(),
        {"type": "web_search"},
    ]);
    ask(input).model(PLAIN).field("tools", tools)
}

#[tokio::test]
async fn call_of_namespaced_tool_returns_with_its_namespace() {
    for dialect in OTHERS {
        for mode in MODES {
            let world = dialect.world().await;
            let client = world.client();
            let conversation = client.new_conversation().await;
            let say = |input: Value| ask_with_tools(input).within(&conversation);

            let called = client.turn(mode, &say("Use crm__find: 7".into())).await;

            let [call] = called.output() else { panic!("{:?}", called.output()) };
            assert_eq!((&call["name"], &call["namespace"]), (&json!("find"), &json!("crm")));
            assert_eq!(call["arguments"], r#"{"id":"7"}"#);
            assert_eq!(client.items(&conversation).await[1]["namespace"], "crm");

            let found = json!([output(called.call_id(), "Ada")]);
            let answered = client.turn(mode, &say(found)).await;

            assert_eq!(answered.text(), "echo said: Ada");
            let request = world.last_request();
            assert_eq!(request.verdict, Ok(()), "{}", request.body);
            assert_eq!(request.items()[1]["name"], "crm__find");
        }
    }
}

#[tokio::test]
async fn replayed_call_of_namespaced_tool_gets_its_flat_name() {
    for dialect in OTHERS {
        for mode in MODES {
            let world = dialect.world().await;
            let called = json!({"type": "function_call", "call_id": "call_1", "name": "find",
                "namespace": "crm", "arguments": r#"{"id":"7"}"#});
            let found = json!({"type": "function_call_output", "call_id": "call_1",
                "name": "find", "namespace": "crm", "output": "Ada"});
            let input = json!([{"role": "user", "content": "Find 7"}, called, found]);

            let turn = world.client().turn(mode, &ask_with_tools(input)).await;

            assert_eq!(turn.text(), "echo said: Ada");
            assert_eq!(world.last_request().items()[1]["name"], "crm__find");
            assert_eq!(turn.header("antiphon-repairs"), Some("adapted_field=1"));
        }
    }
}

#[tokio::test]
async fn hosted_tool_and_its_items_are_left_out() {
    for dialect in OTHERS {
        for mode in MODES {
            let world = dialect.world().await;
            let searched = json!({"type": "tool_search_call", "id": "tsc_1", "call_id": null,
                "execution": "server", "status": "completed", "arguments": {"paths": ["crm"]}});
            let loaded = json!({"type": "tool_search_output", "id": "tso_1", "call_id": null,
                "execution": "server", "status": "completed", "tools": []});
            let input = json!([{"role": "user", "content": "Hello"}, searched, loaded,
                {"role": "user", "content": "Hello again"}]);

            let turn = world.client().turn(mode, &ask_with_tools(input)).await;

            assert_eq!(turn.text(), "Noted.");
            let repairs = turn.header("antiphon-repairs");
            assert_eq!(repairs, Some("adapted_field=1, not_in_dialect=2"));
            let tools = &world.last_request().body["tools"];
            assert_eq!(tools.as_array().map(Vec::len), Some(2), "{tools}");
        }
    }
}

#[tokio::test]
async fn choice_of_left_out_tool_is_rejected() {
    for dialect in OTHERS {
        for mode in MODES {
            let world = dialect.world().await;
            let asked = ask_with_tools("Hello").field("tool_choice", json!({"type": "web_search"}));

            let refused = world.client().refused(mode, &asked).await;

            assert_eq!(refused.status, 400);
            let error = &refused.body["error"];
            assert_eq!(error["type"], "invalid_request_error");
            let place = if dialect.upstream == CHAT.upstream { ".type" } else { "" };
            assert_eq!(error["param"], format!("tool_choice{place}"));
            let message = error["message"].as_str().unwrap_or_default();
            assert!(message.contains("the tool 'web_search'"), "{error}");
            assert_eq!(world.times_asked(), 0);
        }
    }
}

/// A question of a client that searches for its tools itself.
fn ask_with_search(input: impl Into<Value>) -> Ask {
    let parameters = json!({"type": "object", "properties": {"query": {"type": "string"}},
        "required": ["query"]});
    let search = json!({"type": "tool_search", "execution": "client",
        "description": "Finds tools.", "parameters": parameters});
    ask(input).model(PLAIN).field("tools", json!([search]))
}

/// The output of a search that found a function of a namespace.
fn found(search: &Value) -> Value {
    json!({"type": "tool_search_output", "call_id": search["call_id"], "execution": "client",
        "status": "completed", "tools": [crm()]})
}

#[tokio::test]
async fn client_searches_for_tools_and_calls_what_it_found() {
    for dialect in OTHERS {
        for mode in MODES {
            let world = dialect.world().await;
            let client = world.client();
            let conversation = client.new_conversation().await;
            let say = |input: Value| ask_with_search(input).within(&conversation);

            let searched = client.turn(mode, &say("Use tool_search: customers".into())).await;

            let [search] = searched.output() else { panic!("{:?}", searched.output()) };
            assert_eq!(search["type"], "tool_search_call");
            assert_eq!(search["execution"], "client");
            assert_eq!(search["status"], "completed");
            assert_eq!(search["arguments"], json!({"query": "customers"}));
            assert_eq!(client.items(&conversation).await[1], *search);

            let answered = client.turn(mode, &say(json!([found(search)]))).await;

            assert_eq!(answered.text(), "echo said: Tools found: crm__find.");
            let called = client.turn(mode, &say("Use crm__find: 7".into())).await;
            let [call] = called.output() else { panic!("{:?}", called.output()) };
            assert_eq!((&call["name"], &call["namespace"]), (&json!("find"), &json!("crm")));
            assert_eq!(call["arguments"], r#"{"id":"7"}"#);

            let request = world.last_request();
            assert_eq!(request.verdict, Ok(()), "{}", request.body);
            let tools = request.body["tools"].as_array().map(Vec::len);
            assert_eq!(tools, Some(2), "{}", request.body);
        }
    }
}

#[tokio::test]
async fn tool_that_two_searches_found_is_sent_once() {
    for dialect in OTHERS {
        let world = dialect.world().await;
        let search = |call_id: &str| {
            json!({"type": "tool_search_call", "call_id": call_id,
            "execution": "client", "status": "completed", "arguments": {"query": "customers"}})
        };
        let (first, second) = (search("call_1"), search("call_2"));
        let input = json!([{"role": "user", "content": "Look"}, first, found(&first), second,
            found(&second), {"role": "user", "content": "Hello"}]);

        let turn = world.client().turn(MODES[0], &ask_with_search(input)).await;

        assert_eq!(turn.text(), "Noted.");
        let request = world.last_request();
        assert_eq!(request.verdict, Ok(()), "{}", request.body);
        let tools = request.body["tools"].as_array().map(Vec::len);
        assert_eq!(tools, Some(2), "{}", request.body);
    }
}
