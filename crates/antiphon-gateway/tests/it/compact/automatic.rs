//! A turn whose history is compacted on the way.

use antiphon_mock::{Answer, Reply};
use http::StatusCode;
use serde_json::{Value, json};

use super::{
    SUMMARY, long_text, script_rejection, script_summary, summary_message, upstream_compaction,
};
use crate::support::{Ask, MODEL, MODES, SIM, World, ask, lines, list, text, user};

/// The same request with the wish for compaction.
pub(super) fn with_auto_compaction(ask: Ask) -> Ask {
    ask.field("context_management", json!([{"type": "compaction", "compact_threshold": 1000}]))
}

pub(super) fn script_unknown_field() -> Reply {
    let message = "Unknown parameter: 'context_management'.";
    let error = json!({"error": {"message": message, "type": "invalid_request_error",
        "param": "context_management", "code": "unknown_parameter"}});
    Reply::json(StatusCode::BAD_REQUEST, &error)
}

/// A gateway in front of an upstream that is known not to compact by itself.
pub(super) async fn compacting_world() -> World {
    let world = World::new().await;
    world.script(script_unknown_field());
    world.client().respond(&with_auto_compaction(ask("Hello"))).await;
    world
}

#[tokio::test]
async fn compaction_precedes_the_answer_in_the_output() {
    for mode in MODES {
        let world = compacting_world().await;
        let client = world.client();
        let first = client.turn(mode, &ask(long_text())).await;
        script_summary(&world);

        let turn = client
            .turn(mode, &with_auto_compaction(ask("What is my color?").after(first.id())))
            .await;

        assert_eq!(lines(turn.output()), ["compaction", "assistant: purple"]);
        let given = world.last_view().await;
        assert_eq!(given.len(), 3);
        assert_eq!(given[1..], [summary_message(SUMMARY), "user: What is my color?".to_owned()]);
        assert!(world.last_request().body.get("context_management").is_none());
        assert_eq!(client.stored_response(turn.id()).await["output"], turn.response["output"]);

        client.turn(mode, &ask("And?").after(turn.id())).await;
        let given = world.last_view().await;
        let rest = [
            "user: What is my color?",
            &summary_message(SUMMARY),
            "assistant: purple",
            "user: And?",
        ];
        assert_eq!(given[1..], rest);
    }
}

#[tokio::test]
async fn usage_includes_the_compaction() {
    let world = compacting_world().await;
    let client = world.client();
    let first = client.respond(&ask(long_text())).await;
    let summary = Answer::new(MODEL).message(SUMMARY);
    let answer = Answer::new(MODEL).message("purple");
    let tokens = |answer: &Answer, key: &str| answer.json()["usage"][key].as_u64();
    let sum = |key: &str| Some(tokens(&summary, key)? + tokens(&answer, key)?);
    world.script(Reply::sse(summary.frames()));
    world.script(Reply::sse(answer.frames()));

    let turn =
        client.respond(&with_auto_compaction(ask("What is my color?").after(first.id()))).await;

    for key in ["input_tokens", "output_tokens", "total_tokens"] {
        assert_eq!(turn.response["usage"][key].as_u64(), sum(key), "{key}");
    }
}

#[tokio::test]
async fn short_history_and_user_messages_are_not_compacted() {
    let world = compacting_world().await;
    let client = world.client();
    let asked = world.times_asked();
    let short = client.respond(&ask("Hello")).await;
    client.respond(&with_auto_compaction(ask("And?").after(short.id()))).await;
    client.respond(&with_auto_compaction(ask(long_text()))).await;
    assert_eq!(world.times_asked(), asked + 3);
}

#[tokio::test]
async fn long_user_messages_are_not_compacted_every_turn() {
    let world = compacting_world().await;
    let client = world.client();
    let first = client.respond(&ask(long_text())).await;
    script_summary(&world);
    let compacted = client.respond(&with_auto_compaction(ask("And?").after(first.id()))).await;
    assert_eq!(lines(compacted.output())[0], "compaction");

    let next = client.respond(&with_auto_compaction(ask("And now?").after(compacted.id()))).await;

    assert_eq!(lines(next.output()).len(), 1);
    assert!(!lines(next.output()).contains(&"compaction".to_owned()));
}

#[tokio::test]
async fn failed_compaction_is_reported_and_the_turn_continues() {
    for mode in MODES {
        let world = compacting_world().await;
        let client = world.client();
        let first = client.turn(mode, &ask(long_text())).await;
        script_rejection(&world);

        let turn = client
            .turn(mode, &with_auto_compaction(ask("What is my color?").after(first.id())))
            .await;

        assert_eq!(lines(turn.output()), ["assistant: purple"]);
        assert_eq!(turn.header("antiphon-repairs"), Some("failed_compaction=1"));
        assert_eq!(world.last_view().await.len(), 3);
        let report = client.report(turn.id()).await;
        assert_eq!(report["repairs"][0]["action"], "uncompacted");
    }
}

#[tokio::test]
async fn disconnect_during_compaction_stores_nothing() {
    let world = compacting_world().await;
    let client = world.client();
    let conversation = client.new_conversation().await;
    client.respond(&ask(long_text()).within(&conversation)).await;
    let before = client.items(&conversation).await;
    let summary = Reply::sse(Answer::new(MODEL).message(SUMMARY).frames()).gated();
    let summary = world.script(summary);
    let asked = world.times_asked();
    let asking = with_auto_compaction(ask("Hello").within(&conversation));
    let turn = client.respond(&asking);
    tokio::select! {
        _ = turn => panic!("the summary is withheld"),
        _ = world.request(asked) => {}
    }
    world.wait_for_disconnect(&summary).await;
    assert_eq!(client.items(&conversation).await, before);
    client.respond(&ask("Hello").within(&conversation)).await;
}

#[tokio::test]
async fn compaction_of_the_upstream_is_sealed() {
    for mode in MODES {
        let world = World::new().await;
        let client = world.client();
        let own = upstream_compaction("cmp_1");
        let answer = Answer::new(MODEL).item(own.clone()).message("Noted.");
        world.script(Reply::sse(answer.frames()));

        let turn = client.turn(mode, &with_auto_compaction(ask("My color is purple"))).await;

        assert_eq!(lines(turn.output()), ["compaction", "assistant: Noted."]);
        assert_eq!(turn.output()[0]["id"], own["id"]);
        assert_ne!(turn.output()[0]["encrypted_content"], own["encrypted_content"]);
        let asked = &world.last_request().body["context_management"][0];
        assert_eq!(asked["compact_threshold"], 1000);

        client.turn(mode, &with_auto_compaction(ask("What is my color?").after(turn.id()))).await;
        world.last_view().await;
        assert_eq!(world.last_request().input()[1], own);

        let mut replay = vec![user("My color is purple")];
        replay.extend_from_slice(turn.output());
        replay.push(user("What is my color?"));
        assert_eq!(client.turn(mode, &ask(replay).unstored()).await.text(), "purple");
        assert_eq!(world.last_request().input()[1], own);
    }
}

#[tokio::test]
async fn gateway_compacts_if_the_upstream_rejects_it() {
    for mode in MODES {
        let world = World::new().await;
        let client = world.client();
        let first = client.turn(mode, &ask(long_text())).await;
        world.script(script_unknown_field());
        script_summary(&world);

        let turn = client
            .turn(mode, &with_auto_compaction(ask("What is my color?").after(first.id())))
            .await;

        assert_eq!(lines(turn.output()), ["compaction", "assistant: purple"]);
        let wishes = world.upstream.requests();
        let wishes =
            wishes.iter().filter(|request| request.body.get("context_management").is_some());
        assert_eq!(wishes.count(), 1);
    }
}

#[tokio::test]
async fn gateway_compacts_if_the_upstream_ignores_the_threshold() {
    let world = World::new().await;
    let client = world.client();
    let first = client.respond(&ask(long_text())).await;
    let mut answer = Answer::new(MODEL).message("Noted.").json();
    answer["usage"]["input_tokens"] = 1600.into();
    world.script(Reply::json(StatusCode::OK, &answer));
    let second = client.respond(&with_auto_compaction(ask("Hello").after(first.id()))).await;
    assert_eq!(second.output().len(), 1);
    script_summary(&world);

    let third =
        client.respond(&with_auto_compaction(ask("What is my color?").after(second.id()))).await;

    assert_eq!(lines(third.output()), ["compaction", "assistant: purple"]);
}

#[tokio::test]
async fn tokens_of_hosted_tool_steps_do_not_trigger() {
    let world = World::new().await;
    let client = world.client();
    let first = client.respond(&ask(long_text())).await;
    let search = json!({"id": "ws_1", "type": "web_search_call", "status": "completed",
        "action": {"type": "search", "query": "Bonn"}});
    let mut answer = Answer::new(MODEL).item(search).message("Noted.").json();
    answer["usage"]["input_tokens"] = 1600.into();
    world.script(Reply::json(StatusCode::OK, &answer));
    let second = client.respond(&with_auto_compaction(ask("Look it up").after(first.id()))).await;

    client.respond(&with_auto_compaction(ask("And?").after(second.id()))).await;

    assert!(world.last_request().body.get("context_management").is_some());
}

#[tokio::test]
async fn built_in_model_answers_from_its_summary() {
    for mode in MODES {
        let world = World::new().await;
        let client = world.client();
        let first = client.turn(mode, &ask(long_text()).model(SIM)).await;
        let called = ask("Use the echo tool to echo hello").model(SIM).after(first.id());
        let called = client.turn(mode, &called).await;
        let output = json!([{"type": "function_call_output", "call_id": called.call_id(),
            "output": "hello"}]);
        let turn = client
            .turn(mode, &with_auto_compaction(ask(output).model(SIM).after(called.id())))
            .await;
        let kinds: Vec<&Value> = turn.output().iter().map(|item| &item["type"]).collect();
        assert_eq!(kinds, ["compaction", "message"]);

        let asked = ask("What did the echo tool return?").model(SIM).after(turn.id());
        let recalled = client.turn(mode, &asked).await;
        assert!(recalled.text().contains("echo returned: hello"), "{}", recalled.text());
    }
}

#[tokio::test]
async fn compaction_is_listed_in_its_conversation() {
    let world = World::new().await;
    let client = world.client();
    let conversation = client.new_conversation().await;
    client.respond(&ask(long_text()).model(SIM).within(&conversation)).await;
    let turn = with_auto_compaction(ask("Hello").model(SIM).within(&conversation));
    let turn = client.respond(&turn).await;
    let items = client.items(&conversation).await;
    assert_eq!(items[3..], *turn.output());
    assert!(text(&items[3]["encrypted_content"]).len() > 100);
    assert_eq!(list(&turn.response["output"]).len(), 2);
}
