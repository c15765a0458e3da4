//! `tool_choice`: its forms, and that what is chosen is there.

use antiphon_mock::Answer;
use serde_json::{Value, json};

use super::{ANTHROPIC, APIS, CHAT, RESPONSES, ask_with, function};
use crate::support::{MODEL, MODES, Refused, SIM, World, ask, invalid};

fn allowed(mode: &str, tools: &Value) -> Value {
    json!({"type": "allowed_tools", "mode": mode, "tools": tools})
}

fn missing(path: &str) -> Refused {
    let message = format!("Missing required parameter: '{path}'.");
    invalid(Some(path), Some("missing_required_parameter"), &message)
}

fn not_found(choice: &str) -> Refused {
    let message = format!("Tool choice '{choice}' not found in 'tools' parameter.");
    invalid(Some("tool_choice"), None, &message)
}

fn malformed() -> Vec<(Value, Refused)> {
    let modes = |path: &str| {
        let message =
            "Invalid value: 'perhaps'. Supported values are: 'none', 'auto', and 'required'.";
        invalid(Some(path), Some("invalid_value"), message)
    };
    let name = json!({"type": "function"});
    let no_object = "Invalid type for 'tool_choice.tools[0]': expected an object, but got a string \
        instead.";
    vec![
        (json!("perhaps"), modes("tool_choice")),
        (json!({}), missing("tool_choice.type")),
        (name.clone(), missing("tool_choice.name")),
        (json!({"type": "function", "function": {"name": "look"}}), missing("tool_choice.name")),
        (json!({"type": "custom", "name": ""}), missing("tool_choice.name")),
        (json!({"type": "mcp"}), missing("tool_choice.server_label")),
        (json!({"type": "allowed_tools", "mode": "auto"}), missing("tool_choice.tools")),
        (allowed("perhaps", &json!([])), modes("tool_choice.mode")),
        (allowed("auto", &json!([name])), missing("tool_choice.tools[0].name")),
        (
            allowed("auto", &json!(["look"])),
            invalid(Some("tool_choice.tools[0]"), Some("invalid_type"), no_object),
        ),
    ]
}

/// Choices of what is not there, and what the provider calls each.
fn missing_tools() -> Vec<(Value, Refused)> {
    vec![
        (json!({"type": "function", "name": "delete"}), not_found("function")),
        (json!({"type": "custom", "name": "delete"}), not_found("custom")),
        (json!({"type": "mcp", "server_label": "wiki"}), not_found("mcp")),
        (json!({"type": "web_search_preview"}), not_found("web_search_preview")),
        (json!({"type": "image_generation"}), not_found("image_generation")),
        (allowed("auto", &json!([function("look"), function("delete")])), not_found("delete")),
    ]
}

#[tokio::test]
async fn invalid_tool_choice_is_rejected_by_path() {
    for dialect in APIS {
        for mode in MODES {
            let world = dialect.world().await;
            let client = world.client();
            for (choice, expected) in malformed().into_iter().chain(missing_tools()) {
                let asked = ask_with(&["look"]).field("tool_choice", choice.clone());
                assert_eq!(client.refused(mode, &asked).await, expected, "{choice}");
            }
            assert_eq!(world.times_asked(), 0);
        }
    }
}

#[tokio::test]
async fn required_choice_needs_tools() {
    for dialect in APIS {
        for mode in MODES {
            let world = dialect.world().await;
            for tools in [Value::Null, json!([])] {
                let asked = ask("Look").field("tools", tools).field("tool_choice", "required");
                let refused = world.client().refused(mode, &asked).await;
                let message = "Tool choice 'required' must be specified with 'tools' parameter.";
                assert_eq!(refused, invalid(Some("tool_choice"), None, message));
            }
        }
    }
}

#[tokio::test]
async fn tool_choice_is_forwarded_unchanged_to_responses() {
    let tools = json!([
        function("look"),
        {"type": "custom", "name": "patch"},
        {"type": "web_search_preview"},
        {"type": "computer_use_preview", "environment": "browser"},
        {"type": "mcp", "server_label": "wiki", "server_url": "https://wiki.example"},
        {"type": "namespace", "name": "crm", "tools": [function("find")]},
        {"type": "acme:search"},
    ]);
    let choices = [
        json!("none"),
        json!("auto"),
        json!("required"),
        json!({"type": "function", "name": "look"}),
        json!({"type": "function", "name": "find"}),
        json!({"type": "custom", "name": "patch"}),
        json!({"type": "web_search_preview"}),
        json!({"type": "web_search_preview_2025_03_11"}),
        json!({"type": "computer_use"}),
        json!({"type": "mcp", "server_label": "wiki", "name": "read"}),
        json!({"type": "acme:search"}),
        json!({"type": "acme:telepathy"}),
        allowed("required", &json!([{"type": "mcp", "server_label": "wiki"}, function("look")])),
    ];
    for mode in MODES {
        let world = RESPONSES.world().await;
        for choice in choices.clone() {
            let asked = ask("Hello").field("tools", tools.clone());
            let asked = asked.field("tool_choice", choice.clone());
            RESPONSES.answers(&world, &Answer::new(MODEL).message("Hello."));
            world.client().turn(mode, &asked).await;
            assert_eq!(world.last_request().body["tool_choice"], choice);
        }
    }
}

#[tokio::test]
async fn tool_choice_is_translated() {
    let named = json!({"type": "function", "name": "look"});
    let only_look = allowed("required", &json!([named]));
    let no_call = allowed("none", &json!([named]));
    let chat_named = json!({"type": "function", "function": {"name": "look"}});
    for (choice, chat, anthropic) in [
        (json!("none"), json!("none"), json!({"type": "none"})),
        (json!("required"), json!("required"), json!({"type": "any"})),
        (named, chat_named, json!({"type": "tool", "name": "look"})),
        (only_look, json!("required"), json!({"type": "any"})),
        (no_call, json!("none"), json!({"type": "none"})),
    ] {
        for (dialect, expected) in [(CHAT, chat), (ANTHROPIC, anthropic)] {
            let world = dialect.world().await;
            dialect.answers(&world, &Answer::new(MODEL).message("Hello."));
            let asked = ask_with(&["look", "delete"]).field("tool_choice", choice.clone());
            world.client().respond(&asked).await;
            assert_eq!(world.last_request().body["tool_choice"], expected, "{choice}");
        }
    }
}

#[tokio::test]
async fn tool_from_an_item_can_be_chosen() {
    let brought = json!({
        "type": "additional_tools", "role": "developer", "tools": [function("delete")],
    });
    for mode in MODES {
        let world = RESPONSES.world().await;
        let client = world.client();
        let conversation = client.new_conversation().await;
        client.add_items(&conversation, std::slice::from_ref(&brought)).await;
        RESPONSES.answers(&world, &Answer::new(MODEL).call("call_1", "delete", "{}"));
        let choice = json!({"type": "function", "name": "delete"});
        let asked = ask_with(&["look"]).field("tool_choice", choice).within(&conversation);
        assert_eq!(client.turn(mode, &asked).await.item("function_call")["name"], "delete");
    }
}

#[tokio::test]
async fn deeply_nested_tools_are_harmless() {
    let world = World::new().await;
    let client = world.client();
    let depth = 20_000;
    let (open, close) = (r#"{"type":"namespace","name":"n","tools":["#, "]}");
    let tools = format!("[{}{}]", open.repeat(depth), close.repeat(depth));
    let body = format!(r#"{{"model":"sim","input":"Hello","tool_choice":"auto","tools":{tools}}}"#);

    client.post_raw("/v1/responses", body).await;

    assert_eq!(client.respond(&ask("Hello").model(SIM)).await.status(), "completed");
}

#[tokio::test]
async fn tool_in_a_namespace_can_be_chosen() {
    let world = World::new().await;
    let namespace = json!({"type": "namespace", "name": "n", "tools": [function("look")]});
    let chosen = json!({"type": "function", "name": "look"});
    let asking = ask("Hello").field("tools", json!([namespace])).field("tool_choice", chosen);
    assert_eq!(world.client().respond(&asking).await.status(), "completed");
}
