//! Fields of wrong types, named by their paths.

use serde_json::{Value, json};

use crate::support::{Mode, World, ask, invalid, user};

/// The field, what it holds, the path that is blamed, and what the value is called.
fn wrong_types() -> Vec<(&'static str, Value, &'static str, &'static str)> {
    vec![
        ("model", json!(5), "model", "an integer"),
        ("model", json!(["fake-model"]), "model", "an array"),
        ("input", json!(5), "input", "an integer"),
        ("input", json!(0.5), "input", "a decimal"),
        ("input", json!(true), "input", "a boolean"),
        ("input", json!({"role": "user"}), "input", "an object"),
        ("input", json!([5]), "input[0]", "an integer"),
        ("input", json!([user("Hello"), "Hello"]), "input[1]", "a string"),
        ("input", json!([user("Hello"), null]), "input[1]", "null"),
        ("input", json!([{"type": 5, "role": "user"}]), "input[0].type", "an integer"),
        ("input", json!([{"role": ["user"], "content": ""}]), "input[0].role", "an array"),
        (
            "input",
            json!([user("Hello"), {"type": "reasoning", "id": {}}]),
            "input[1].id",
            "an object",
        ),
        (
            "input",
            json!([{"type": "function_call_output", "call_id": 7, "output": ""}]),
            "input[0].call_id",
            "an integer",
        ),
        ("stream", json!("true"), "stream", "a string"),
        ("temperature", json!("hot"), "temperature", "a string"),
        ("reasoning", json!(5), "reasoning", "an integer"),
        ("max_output_tokens", json!(0.5), "max_output_tokens", "a decimal"),
        ("parallel_tool_calls", json!("yes"), "parallel_tool_calls", "a string"),
        ("tool_choice", json!(["echo"]), "tool_choice", "an array"),
        ("store", json!(0), "store", "an integer"),
        ("instructions", json!(5), "instructions", "an integer"),
        ("include", json!("reasoning.encrypted_content"), "include", "a string"),
        (
            "input",
            json!([user("Hello"), {"type": "compaction", "encrypted_content": 1}]),
            "input[1].encrypted_content",
            "an integer",
        ),
        ("tools", json!({}), "tools", "an object"),
        ("tools", json!([{"type": "function", "name": 5}]), "tools[0].name", "an integer"),
        ("tools", json!([{"type": "custom", "name": ["f"]}]), "tools[0].name", "an array"),
        ("metadata", json!([]), "metadata", "an array"),
        ("metadata", json!({"user": 5}), "metadata.user", "an integer"),
        ("conversation", json!(5), "conversation", "an integer"),
        ("conversation", json!({"id": 5}), "conversation.id", "an integer"),
        ("previous_response_id", json!(false), "previous_response_id", "a boolean"),
        ("background", json!("no"), "background", "a string"),
    ]
}

#[tokio::test]
async fn wrong_type_is_named_by_its_path() {
    let world = World::new().await;
    let client = world.client();
    for (field, value, path, got) in wrong_types() {
        let ask = ask("Hello").field(field, value);
        let refused = client.post("/v1/responses", ask.body()).await.refused();

        let error = &refused.body["error"];
        assert_eq!(refused.status, 400, "{ask:?}");
        assert_eq!(error["type"], "invalid_request_error");
        assert_eq!(error["code"], "invalid_type", "{error}");
        assert_eq!(error["param"], path, "{error}");
        let message = error["message"].as_str().unwrap();
        let begin = format!("Invalid type for '{path}': expected ");
        let end = format!(", but got {got} instead.");
        assert!(message.starts_with(&begin) && message.ends_with(&end), "{message}");
    }
    assert_eq!(world.times_asked(), 0);
}

#[tokio::test]
async fn missing_field_is_named_by_its_path() {
    let world = World::new().await;
    let client = world.client();
    let missing = [
        (json!([{"type": "message", "content": "Hello"}]), "input[0].role"),
        (json!([user("Hello"), {}]), "input[1].type"),
        (json!([{"type": "item_reference"}]), "input[0].id"),
        (json!([user("Hello"), {"type": "item_reference", "id": null}]), "input[1].id"),
        (json!([{"type": "compaction", "encrypted_content": null}]), "input[0].encrypted_content"),
    ];
    for (input, path) in missing {
        let refused = client.post("/v1/responses", ask(input).body()).await.refused();
        let error = &refused.body["error"];
        assert_eq!(refused.status, 400);
        assert_eq!(error["param"], path);
        assert_eq!(error["code"], "missing_required_parameter");
        assert_eq!(error["message"], format!("Missing required parameter: '{path}'."));
    }
}

#[tokio::test]
async fn functions_and_custom_tools_need_a_name() {
    let world = World::new().await;
    let client = world.client();
    let message = "Missing required parameter: 'tools[1].name'.";
    let expected = invalid(Some("tools[1].name"), Some("missing_required_parameter"), message);
    for tool in [
        json!({"type": "function"}),
        json!({"type": "function", "name": null}),
        json!({"type": "function", "function": {"name": "look"}}),
        json!({"type": "custom"}),
    ] {
        let tools = json!([{"type": "function", "name": "look"}, tool]);
        let asked = ask("Hello").field("tools", tools);
        assert_eq!(client.refused(Mode::Whole, &asked).await, expected, "{asked:?}");
    }
    assert_eq!(world.times_asked(), 0);
}

#[tokio::test]
async fn invalid_tool_names_are_rejected() {
    let world = World::new().await;
    let client = world.client();
    let pattern = "Invalid 'tools[0].name': string does not match pattern. Expected a string that \
        matches the pattern '^[a-zA-Z0-9_-]+$'.";
    let too_long = "Invalid 'tools[0].name': string too long. Expected a string with maximum \
        length 128, but got a string with length 129 instead.";
    let long = "n".repeat(129);
    for (name, code, message) in [
        ("", "invalid_value", pattern),
        ("my tool", "invalid_value", pattern),
        ("fs.read", "invalid_value", pattern),
        ("acme:look", "invalid_value", pattern),
        (&*long, "string_above_max_length", too_long),
    ] {
        for kind in ["function", "custom"] {
            let asked = ask("Hello").field("tools", json!([{"type": kind, "name": name}]));
            let expected = invalid(Some("tools[0].name"), Some(code), message);
            assert_eq!(client.refused(Mode::Whole, &asked).await, expected, "{kind} {name}");
        }
    }
    assert_eq!(world.times_asked(), 0);
    let tools = json!([{"type": "function", "name": "look-At_2", "parameters": {}}]);
    client.respond(&ask("Hello").field("tools", tools)).await;
}

#[tokio::test]
async fn names_of_other_tools_are_not_checked() {
    let world = World::new().await;
    for tool in [
        json!({"type": "acme:search", "name": "acme: all of it"}),
        json!({"type": "mcp", "server_label": "wiki", "server_url": "https://wiki.example.com"}),
        json!({"type": "web_search"}),
    ] {
        let asked = ask("Hello").field("tools", json!([tool]));
        world.client().respond(&asked).await;
        assert_eq!(world.last_request().body["tools"], json!([tool]));
    }
}

#[tokio::test]
async fn null_fields_count_as_absent() {
    let world = World::new().await;
    let client = world.client();
    let item = json!({
        "type": null, "id": null, "status": null, "role": "user", "content": "Hello",
    });
    let nulls = [
        "conversation",
        "previous_response_id",
        "include",
        "instructions",
        "metadata",
        "store",
        "stream",
        "tools",
        "background",
        "tool_choice",
        "temperature",
        "text",
        "reasoning",
    ];
    let ask =
        nulls.into_iter().fold(ask(json!([item])), |ask, field| ask.field(field, Value::Null));

    let turn = client.respond(&ask).await;

    assert_eq!(turn.text(), "Noted.");
    assert_eq!(client.stored_response(turn.id()).await["status"], "completed");
    assert_eq!(world.view(0).await, ["user: Hello"]);
}

#[tokio::test]
async fn client_configurations_are_accepted() {
    let world = World::new().await;
    let client = world.client();
    let parameters =
        json!({"$schema": "http://json-schema.org/draft-07/schema#", "type": "object"});
    for strict in [json!(true), json!(false), Value::Null] {
        let tool =
            json!({"type": "function", "name": "f", "parameters": parameters, "strict": strict});
        let ask = ask("Hello")
            .field("tools", json!([tool]))
            .field("include", json!([]))
            .field("text", json!({"verbosity": "low"}))
            .field("reasoning", json!({"effort": "none"}));
        assert_eq!(client.respond(&ask).await.text(), "Noted.");
    }
    let conversation = client.new_conversation().await;
    for named in [json!(conversation), json!({"id": conversation})] {
        let turn = client.respond(&ask("Hello").field("conversation", named)).await;
        assert_eq!(turn.response["conversation"], json!({"id": conversation}));
    }
}
