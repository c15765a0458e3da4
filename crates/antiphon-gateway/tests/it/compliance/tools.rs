//! Tools: who may be called, who must be, and who runs them.

use antiphon_mock::{Answer, Reply};
use serde_json::{Value, json};

use super::{APIS, streamed, world_of};
use crate::support::{
    Ask, MODEL, MODES, SIM, World, ask, echo_tool, lines, list, output, typed_user,
};

/// A tool that takes nothing.
fn named(name: &str) -> Value {
    json!({"type": "function", "name": name, "parameters": {"type": "object", "properties": {}}})
}

/// Asks with two tools, of which `choice` says which may be called.
fn choosing(choice: Value) -> Ask {
    ask("Look, then delete")
        .field("tools", json!([named("look"), named("delete")]))
        .field("tool_choice", choice)
}

#[tokio::test]
async fn model_calls_a_function_of_the_caller() {
    for (dialect, _) in APIS {
        for mode in MODES {
            let world = world_of(dialect).await;
            let client = world.client();

            let called = client.turn(mode, &ask("Echo hello")).await;

            let call = called.item("function_call");
            assert_eq!(call["name"], "echo");
            let arguments: Value =
                serde_json::from_str(call["arguments"].as_str().unwrap()).unwrap();
            assert_eq!(arguments, json!({"text": "hello"}));
            let back = json!([output(called.call_id(), "hello")]);
            let answered = client.turn(mode, &ask(back).after(called.id())).await;
            assert_eq!(answered.text(), "echo said: hello");
        }
    }
}

#[tokio::test]
async fn call_of_a_disallowed_tool_is_suppressed() {
    let allowed = json!({
        "type": "allowed_tools", "mode": "auto", "tools": [{"type": "function", "name": "look"}],
    });
    for (dialect, api) in APIS {
        for mode in MODES {
            let world = world_of(dialect).await;
            let answer = Answer::new(MODEL)
                .message("I look.")
                .call("call_1", "delete", "{}")
                .call("call_2", "look", "{}");
            world.script(streamed(api, &answer));
            let turn = world.client().turn(mode, &choosing(allowed.clone())).await;
            assert_eq!(lines(turn.output()), ["assistant: I look.", "call look {}"]);
            let report = world.client().report(turn.id()).await;
            assert_eq!(list(&report["stream"])[0]["fault"], "call_not_permitted");
        }
    }
}

#[tokio::test]
async fn no_tool_is_called_with_choice_none() {
    for (dialect, api) in APIS {
        for mode in MODES {
            let world = world_of(dialect).await;
            let answer = Answer::new(MODEL).message("No.").call("call_1", "look", "{}");
            world.script(streamed(api, &answer));
            let turn = world.client().turn(mode, &choosing(json!("none"))).await;
            assert_eq!(lines(turn.output()), ["assistant: No."]);
        }
    }
}

#[tokio::test]
async fn built_in_model_obeys_the_tool_choice() {
    let calls = |turn: &crate::support::Turn| {
        let calls = turn.output().iter().filter(|item| item["type"] == "function_call");
        calls.map(|call| call["name"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let world = World::new().await;
    let asked = |choice: Value| choosing(choice).model(SIM);
    let allowed = |mode: &str| {
        let tools = json!([{"type": "function", "name": "look"}]);
        json!({"type": "allowed_tools", "mode": mode, "tools": tools})
    };
    let expected = [
        (json!("auto"), vec!["look", "delete"]),
        (json!("none"), vec![]),
        (json!({"type": "function", "name": "delete"}), vec!["delete"]),
        (allowed("auto"), vec!["look"]),
    ];
    for (choice, names) in expected {
        let turn = world.client().respond(&asked(choice.clone())).await;
        assert_eq!(calls(&turn), names, "{choice}");
        assert_eq!(turn.response["tool_choice"], choice);
    }
    for choice in [json!("required"), allowed("required")] {
        let asked = asked(choice.clone()).field("input", "Hello");
        let turn = world.client().respond(&asked).await;
        assert_eq!(calls(&turn), ["look"], "{choice}");
    }
}

/// The tools that a provider hosts, with what they must say.
fn hosted() -> Vec<Value> {
    vec![
        json!({"type": "file_search", "vector_store_ids": ["vs_abc123"]}),
        json!({"type": "web_search", "external_web_access": false}),
        json!({"type": "acme:document_search", "documents": [{"type": "external_file"}]}),
    ]
}

#[tokio::test]
async fn hosted_tool_is_forwarded_unchanged() {
    let world = World::new().await;
    let included = json!(["file_search_call.results", "web_search_call.action.sources"]);
    let asked = ask("Find it").field("tools", json!(hosted())).field("include", included.clone());

    let answer = Answer::new(MODEL).message("Found.").request(asked.body());
    world.script(Reply::sse(answer.frames()));

    let turn = world.client().respond(&asked).await;

    let sent = world.request(0).await.body;
    assert_eq!(sent["tools"], json!(hosted()));
    for include in list(&included) {
        assert!(list(&sent["include"]).contains(include), "{}", sent["include"]);
    }
    assert_eq!(turn.response["tools"], json!(hosted()));
}

/// An offline search that turned into a live one, or a search of no store at all, would be worse
/// than none. So no other tool takes the place of a tool that is left out.
#[tokio::test]
async fn hosted_tool_without_a_host_is_left_out() {
    for (dialect, _) in &APIS[1..] {
        let world = world_of(*dialect).await;
        for tool in hosted() {
            for mode in MODES {
                let asked = ask("Find it").field("tools", json!([echo_tool(), tool]));
                let turn = world.client().turn(mode, &asked).await;
                let report = world.client().report(turn.id()).await;
                let left_out = list(&report["adapted_fields"]);
                assert!(left_out.iter().any(|it| it["field"] == "tools[1]"), "{dialect}: {tool}");
                let sent = world.last_request().body;
                assert_eq!(list(&sent["tools"]).len(), 1, "{dialect}: {sent}");
            }
        }
    }
}

#[tokio::test]
async fn hosted_tool_item_is_shown_and_sent_back() {
    let receipt = json!({
        "type": "file_search_call", "id": "fs_1", "status": "completed",
        "queries": ["retention"], "results": [{"file_id": "file-1", "score": 0.50}],
    });
    let world = World::new().await;
    let client = world.client();
    let answer = Answer::new(MODEL).item(receipt.clone()).message("Ninety days.");
    world.script(Reply::sse(answer.frames()));
    let turn = client.respond(&ask("How long?")).await;
    assert_eq!(turn.output()[0], receipt);
    client.respond(&ask(json!([typed_user("Why?")])).after(turn.id())).await;
    assert_eq!(world.request(1).await.items()[1], receipt);
}
