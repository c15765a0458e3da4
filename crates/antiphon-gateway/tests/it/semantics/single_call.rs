//! `parallel_tool_calls: false`: one call a response.

use antiphon_mock::{Answer, Reply};
use http::StatusCode;
use serde_json::{Value, json};

use super::{ANTHROPIC, APIS, CHAT, ask_with};
use crate::support::{Ask, MODEL, MODES, PLAIN, lines, output};

/// Asks a model that does not reason: nobody misses reasoning before its calls.
fn single() -> Ask {
    ask_with(&["look", "delete"]).model(PLAIN).field("parallel_tool_calls", false)
}

#[tokio::test]
async fn upstream_is_asked_for_a_single_call() {
    for dialect in APIS {
        let world = dialect.world().await;
        world.client().respond(&single()).await;
        let body = world.last_request().body;
        if dialect.upstream == ANTHROPIC.upstream {
            assert_eq!(body["tool_choice"]["disable_parallel_tool_use"], true);
        } else {
            assert_eq!(body["parallel_tool_calls"], false, "{dialect:?}");
        }
    }
}

#[tokio::test]
async fn second_call_is_suppressed_and_reported() {
    for dialect in APIS {
        for mode in MODES {
            let world = dialect.world().await;
            let client = world.client();
            let answer = Answer::new(MODEL)
                .call("call_1", "look", r#"{"at":"it"}"#)
                .call("call_2", "delete", r#"{"all":true}"#)
                .call("call_3", "look", "{}");
            dialect.answers(&world, &answer);

            let turn = client.turn(mode, &single()).await;

            assert_eq!(lines(turn.output()), [r#"call look {"at":"it"}"#], "{dialect:?}");
            let report = client.report(turn.id()).await;
            let suppressed =
                |tool: &str| json!({"fault": "parallel_call", "from": tool, "to": null});
            assert_eq!(report["stream"], json!([suppressed("delete"), suppressed("look")]));
            let answered = json!([output(turn.call_id(), "seen")]);
            let next = single().field("input", answered).after(turn.id());
            assert_eq!(client.turn(mode, &next).await.header("antiphon-repairs"), None);
        }
    }
}

#[tokio::test]
async fn second_call_of_an_unstreamed_answer_is_suppressed() {
    for dialect in APIS {
        for mode in MODES {
            let world = dialect.world().await;
            let answer =
                Answer::new(MODEL).call("call_1", "look", "{}").call("call_2", "delete", "{}");
            world.script(Reply::json(StatusCode::OK, &answer.json_for(dialect.api)));
            let turn = world.client().turn(mode, &single()).await;
            assert_eq!(lines(turn.output()), ["call look {}"], "{dialect:?}");
        }
    }
}

#[tokio::test]
async fn text_before_a_single_call_is_allowed() {
    for dialect in APIS {
        for mode in MODES {
            let world = dialect.world().await;
            let client = world.client();
            let answer = Answer::new(MODEL).message("Looking.").call("call_1", "look", "{}");
            dialect.answers(&world, &answer);
            let turn = client.turn(mode, &single()).await;
            assert_eq!(lines(turn.output()), ["assistant: Looking.", "call look {}"]);
            assert_eq!(client.report(turn.id()).await["stream"], json!([]));
        }
    }
}

#[tokio::test]
async fn parallel_calls_are_allowed_by_default() {
    for parallel in [Value::Null, json!(true)] {
        let world = CHAT.world().await;
        let answer = Answer::new(MODEL).call("call_1", "look", "{}").call("call_2", "look", "[]");
        CHAT.answers(&world, &answer);
        let asked = ask_with(&["look"]).field("parallel_tool_calls", parallel);
        assert_eq!(world.client().respond(&asked).await.output().len(), 2);
    }
}
