//! Items: what each of them carries, and where it stands in its life.

use antiphon_mock::{Answer, Reply};
use serde_json::{Value, json};

use super::{APIS, streamed, world_of};
use crate::support::{
    MODEL, MODES, Mode, Turn, World, ask, frames_until, list, output, terminal, typed_user,
};

/// An item names itself, its kind and where it stands.
fn assert_whole(item: &Value) {
    for key in ["id", "type", "status"] {
        let text = item[key].as_str().unwrap_or_default();
        assert!(!text.is_empty(), "an item has its {key}: {item}");
    }
}

/// Kinds that providers send without a status among them.
fn answer() -> Answer {
    Answer::new(MODEL)
        .reasoning("I look it up first.")
        .item(json!({"type": "mcp_list_tools", "id": "mcpl_1", "server_label": "s", "tools": []}))
        .item(json!({"type": "acme:receipt", "id": "acme_1", "total": 0.5}))
        .item(json!({"type": "compaction", "id": "cmp_1", "encrypted_content": "sealed"}))
        .call("call_1", "echo", r#"{"text":"hello"}"#)
}

/// The items that a stream tells of, as they are announced or as they end.
fn receive<'t>(turn: &'t Turn, step: &str) -> Vec<&'t Value> {
    let name = format!("response.output_item.{step}");
    let events = turn.events.iter().filter(|event| event.name == name);
    events.map(|event| &event.json["item"]).collect()
}

#[tokio::test]
async fn items_have_id_type_and_status_everywhere() {
    for mode in MODES {
        let world = World::new().await;
        let client = world.client();
        let conversation = client.new_conversation().await;
        world.script(Reply::sse(answer().frames()));

        let turn = client.turn(mode, &ask("Echo hello").within(&conversation)).await;

        assert_eq!(turn.output().len(), 5);
        for item in turn.output() {
            assert_whole(item);
            assert_eq!(item["status"], "completed");
        }
        for item in receive(&turn, "added").into_iter().chain(receive(&turn, "done")) {
            assert_whole(item);
        }
        assert_eq!(list(&client.stored_response(turn.id()).await["output"]), turn.output());
        let path = format!("/v1/responses/{}/input_items", turn.id());
        list(&client.get(&path).await.json()["data"]).iter().for_each(assert_whole);
        client.items(&conversation).await.iter().for_each(assert_whole);
    }
}

#[tokio::test]
async fn items_go_from_in_progress_to_completed() {
    for (dialect, api) in APIS {
        let world = world_of(dialect).await;
        let answer = Answer::new(MODEL).reasoning("Echo it.").message("I call it.").call(
            "call_1",
            "echo",
            r#"{"text":"hello"}"#,
        );
        world.script(streamed(api, &answer));

        let turn = world.client().turn(Mode::Streamed, &ask("Echo hello")).await;

        assert_eq!(receive(&turn, "added").len(), 3, "{dialect}");
        for item in receive(&turn, "added") {
            assert_eq!(item["status"], "in_progress", "{dialect}: {item}");
        }
        for item in receive(&turn, "done").into_iter().chain(turn.output()) {
            assert_eq!(item["status"], "completed", "{dialect}: {item}");
        }
    }
}

#[tokio::test]
async fn added_events_have_role_or_name() {
    for (dialect, api) in APIS {
        let world = world_of(dialect).await;
        let answer = Answer::new(MODEL).message("I call it.").call("call_1", "echo", "{}");
        world.script(streamed(api, &answer));

        let turn = world.client().turn(Mode::Streamed, &ask("Echo hello")).await;

        let announced = receive(&turn, "added");
        assert_eq!(announced[0]["role"], "assistant");
        assert_eq!(announced[0]["content"], json!([]));
        assert_eq!(announced[1]["name"], "echo");
        assert_eq!(announced[1]["arguments"], "");
        assert!(announced[1]["call_id"].is_string());
    }
}

#[tokio::test]
async fn limit_leaves_only_the_last_item_incomplete() {
    for (dialect, api) in APIS {
        for mode in MODES {
            let world = world_of(dialect).await;
            let answer = Answer::new(MODEL)
                .reasoning("A story.")
                .call("call_1", "echo", r#"{"text":"once"}"#)
                .call("call_2", "echo", r#"{"text":"upo"#)
                .incomplete();
            world.script(streamed(api, &answer));

            let turn = world.client().turn(mode, &ask("Tell me a story")).await;

            assert_eq!(turn.status(), "incomplete", "{dialect}");
            let (last, before) = turn.output().split_last().unwrap();
            assert_eq!(last["status"], "incomplete", "{dialect}: {last}");
            for item in before {
                assert_eq!(item["status"], "completed", "{dialect}: {item}");
            }
        }
    }
}

#[tokio::test]
async fn completed_response_has_only_completed_items() {
    for (dialect, api) in APIS {
        let world = world_of(dialect).await;
        let answer = Answer::new(MODEL).message("Hello").call("call_1", "echo", "{}");
        world.script(streamed(api, &answer));
        let turn = world.client().turn(Mode::Whole, &ask("Hello")).await;
        assert_eq!(turn.status(), "completed");
        assert!(turn.output().iter().all(|item| item["status"] == "completed"));
    }
}

#[tokio::test]
async fn interrupted_item_is_incomplete() {
    let world = World::new().await;
    let answer = Answer::new(MODEL).reasoning("Let me think about it.");
    let begun = frames_until(&answer, "response.reasoning_summary_text.delta");
    world.script(Reply::sse(answer.frames()).break_after(begun));

    let turn = world.client().turn(Mode::Streamed, &ask("Hello")).await;

    assert_eq!(turn.status(), "failed");
    assert_eq!(turn.output()[0]["status"], "incomplete");
    assert!(terminal(&answer) > begun);
}

/// OpenAI refuses a status of replayed reasoning: `Unknown parameter: 'input[1].status'.`
#[tokio::test]
async fn status_is_not_sent_to_the_provider() {
    for mode in MODES {
        let world = World::new().await;
        let client = world.client();
        let echo = typed_user("Echo hello");
        let called = client.turn(mode, &ask(vec![echo.clone()]).unstored().encrypted()).await;
        assert_eq!(called.item("reasoning")["status"], "completed");
        let mut replay = vec![echo];
        replay.extend(called.output().to_vec());
        replay.push(output(called.call_id(), "hello"));

        client.turn(mode, &ask(replay).unstored().encrypted()).await;

        let sent = world.request(1).await.items();
        assert_eq!(sent[1]["type"], "reasoning");
        assert_eq!(sent[1].get("status"), None);
        assert_eq!(sent[1]["encrypted_content"], called.item("reasoning")["encrypted_content"]);
    }
}
