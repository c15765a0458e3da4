//! Histories with orphans and duplicates, which a client keeps.

use antiphon::Item;
use antiphon::item::given::{assistant, call_under, output};
use antiphon_agents::roster::Limits;
use antiphon_agents::session::SessionStore;
use antiphon_agents::{RunEvent, State, user};
use antiphon_mock::encrypted_content;
use serde_json::{Value, json};

use super::world::{MODEL, Owner, SESSION, World, forms, item, limits};

/// Asks the model with this history, which a session has, and with this input. Returns the input of
/// the request, and the names of the faults that were repaired.
async fn ask(
    history: &[Item],
    input: Vec<Item>,
    limit: Option<usize>,
) -> (Vec<Value>, Vec<String>) {
    let world = World::new().await;
    world.sessions.append(SESSION, history, &[]).await.unwrap();
    let run = world.start(world.state(Owner::Session), input.clone());
    let mut run = run.limits(Limits { history: limit, ..limits() });
    let mut faults = Vec::new();
    while let Some(event) = run.next().await {
        if let RunEvent::Asked { repairs, .. } = event {
            faults.extend(repairs.iter().map(|repair| repair.fault.to_owned()));
        }
    }
    run.into_result().await.unwrap();
    let request = world.turns()[0].input().to_vec();
    assert_eq!(world.provider.refusals(), []);

    let stored = world.session_items().await;
    assert_eq!(stored[..history.len()], *history, "the stored history does not change");

    let replayed = World::new().await;
    let run = replayed.start(State::replay(history.to_vec()), input);
    run.limits(Limits { history: limit, ..limits() }).into_result().await.unwrap();
    assert_eq!(replayed.turns()[0].input(), request, "a replay sends the same");
    (request, faults)
}

/// The short forms of the request after this history and a message.
async fn asked(history: &[Item]) -> Vec<String> {
    super::world::summary(&ask(history, vec![user("now")], None).await.0)
}

fn reasoning(id: &str) -> Item {
    thought(id, "")
}

fn thought(id: &str, text: &str) -> Item {
    let summary = json!([{"type": "summary_text", "text": text}]);
    let sealed = encrypted_content(MODEL, id);
    item(&json!({
        "type": "reasoning", "id": id, "summary": summary, "encrypted_content": sealed,
    }))
}

fn call(call_id: &str) -> Item {
    call_under(&format!("fc_{call_id}"), call_id, "{}")
}

#[tokio::test]
async fn b19_call_without_an_output_is_dropped_with_its_reasoning() {
    let history =
        [user("hi"), reasoning("rs_1"), call("c1"), user("well?"), assistant("msg_1", "Yes.")];
    assert_eq!(asked(&history).await, ["user: hi", "user: well?", "assistant: Yes.", "user: now"]);
    let (_, faults) = ask(&history, vec![user("now")], None).await;
    assert_eq!(faults, ["lone_reasoning", "unanswered_call"], "both are reported");
}

/// The reference drops the last call too. A run gives it an output that says that it was not
/// executed, so the model knows.
#[tokio::test]
async fn b19_last_call_without_an_output_gets_one() {
    let world = World::new().await;
    let history = [user("hi"), reasoning("rs_1"), call("c1")];
    world.sessions.append(SESSION, &history, &[]).await.unwrap();
    let result = world.run(world.state(Owner::Session), "now").await;
    let [repair] = result.repairs() else { panic!("{:?}", result.repairs()) };
    assert_eq!((repair.fault, repair.action), ("unanswered_call", "answered"));
    let expected =
        ["user: hi", "reasoning", "function_call c1", "function_call_output c1", "user: now"];
    assert_eq!(world.inputs()[0], expected);
    assert!(world.turns()[0].input()[3]["output"].as_str().unwrap().contains("The run ended"));
    world.assert_clean("");
}

/// The reference sends lone reasoning, which the provider refuses. A run reports it, leaves it out
/// of the request, and keeps it stored.
#[tokio::test]
async fn b20_lone_reasoning_stays_stored() {
    let history = [user("hi"), reasoning("rs_1"), user("well?"), assistant("msg_1", "Yes.")];
    let (request, faults) = ask(&history, vec![user("now")], None).await;
    assert_eq!(request.len(), 4);
    assert_eq!(faults, ["lone_reasoning"]);
}

#[tokio::test]
async fn b21_reasoning_before_a_kept_item_stays() {
    let history = [
        user("hi"),
        reasoning("rs_1"),
        reasoning("rs_2"),
        assistant("msg_1", "One moment."),
        reasoning("rs_3"),
        call("c1"),
        user("well?"),
        assistant("msg_2", "Yes."),
    ];
    let expected = [
        "user: hi",
        "reasoning",
        "reasoning",
        "assistant: One moment.",
        "user: well?",
        "assistant: Yes.",
        "user: now",
    ];
    assert_eq!(asked(&history).await, expected);
}

#[tokio::test]
async fn b22_limit_keeps_pairs_whole_and_the_session_as_it_is() {
    let history =
        [user("hi"), call("c1"), output("c1", "ok"), assistant("msg_1", "Yes."), user("bye")];
    let limited = async |limit| {
        let (request, faults) = ask(&history, vec![user("now")], Some(limit)).await;
        assert_eq!(faults, [] as [&str; 0], "nothing is left to repair");
        super::world::summary(&request)
    };
    let short = ["assistant: Yes.", "user: bye", "user: now"];
    assert_eq!(limited(2).await, short);
    assert_eq!(limited(3).await, short, "the output goes with its call");
    let pair = [&["function_call c1", "function_call_output c1"][..], &short[..]].concat();
    assert_eq!(limited(4).await, pair);
}

/// The reference sends an output without a call, which the provider refuses. A run reports it,
/// leaves it out of the request, and keeps it stored.
#[tokio::test]
async fn b23_orphan_output_stays_stored_without_a_limit() {
    let history = [user("hi"), output("c1", "ok"), assistant("msg_1", "Yes.")];
    let (request, faults) = ask(&history, vec![user("now")], None).await;
    assert_eq!(super::world::summary(&request), ["user: hi", "assistant: Yes.", "user: now"]);
    assert_eq!(faults, ["output_without_call"]);
}

#[tokio::test]
async fn b24_latest_output_stays_after_its_call() {
    let history = [
        user("hi"),
        call("c1"),
        output("c1", "old"),
        output("c1", "new"),
        assistant("msg_1", "Yes."),
    ];
    let (request, _) = ask(&history, vec![user("now")], None).await;
    let expected =
        ["user: hi", "function_call c1", "function_call_output c1", "assistant: Yes.", "user: now"];
    assert_eq!(super::world::summary(&request), expected);
    assert_eq!(request[2]["output"], "new");
}

#[tokio::test]
async fn b25_latest_reasoning_stays_before_its_follower() {
    let history = [
        user("hi"),
        thought("rs_1", "old"),
        call("c1"),
        output("c1", "ok"),
        thought("rs_1", "new"),
        assistant("msg_1", "Yes."),
    ];
    let (request, _) = ask(&history, vec![user("now")], None).await;
    let forms = super::world::summary(&request);
    assert_eq!(forms[1..3], ["reasoning", "function_call c1"]);
    assert_eq!(forms.iter().filter(|form| *form == "reasoning").count(), 1);
    assert_eq!(request[1]["summary"][0]["text"], "new");
}

#[tokio::test]
async fn b26_approval_request_stays_before_its_response() {
    let request = item(&json!({
        "type": "mcp_approval_request", "id": "mcpr_1", "name": "f", "arguments": "{}",
        "server_label": "s",
    }));
    let response = |approve: bool| {
        let id = "mcpr_1";
        item(&json!({
            "type": "mcp_approval_response", "approval_request_id": id, "approve": approve,
        }))
    };
    let history = [user("hi"), request.clone(), response(false), request, response(true)];
    let (sent, _) = ask(&history, vec![user("now")], None).await;
    let forms = super::world::summary(&sent);
    assert_eq!(forms[1..3], ["mcp_approval_request", "mcp_approval_response"]);
    assert_eq!(forms.len(), 4);
    assert_eq!(sent[2]["approve"], true);
}

#[tokio::test]
async fn b27_equal_messages_stay() {
    let history = [user("hi"), assistant("msg_1", "Yes."), user("hi"), assistant("msg_2", "Yes.")];
    let expected = ["user: hi", "assistant: Yes.", "user: hi", "assistant: Yes.", "user: hi"];
    let (request, _) = ask(&history, vec![user("hi")], None).await;
    assert_eq!(super::world::summary(&request), expected);
}

/// The reference sends the call alone, which the provider refuses. A run adds an output that says
/// that it has none.
#[tokio::test]
async fn b28_pending_shell_call_of_the_caller_is_preserved() {
    let shell = item(&json!({
        "type": "shell_call", "id": "sh_1", "call_id": "c1", "action": {"commands": ["ls"]},
    }));
    let (request, faults) = ask(&[user("hi")], vec![shell], None).await;
    let expected = ["user: hi", "shell_call c1", "shell_call_output c1"];
    assert_eq!(super::world::summary(&request), expected);
    assert_eq!(faults, ["unanswered_call"]);
}

#[tokio::test]
async fn b29_named_call_does_not_pair_with_an_anonymous_output() {
    let call = item(&json!({"type": "tool_search_call", "call_id": "c1", "arguments": "{}"}));
    let anonymous = item(&json!({"type": "tool_search_output", "call_id": null, "tools": []}));
    let history = [user("hi"), call, anonymous, assistant("msg_1", "Yes.")];
    let forms = asked(&history).await;
    assert!(!forms.iter().any(|form| form == "tool_search_call c1"), "{forms:?}");
}

#[tokio::test]
async fn b29_output_of_another_call_leaves_a_call_open() {
    let named = [user("hi"), call("c1"), output("c2", "ok"), assistant("msg_1", "Yes.")];
    assert_eq!(asked(&named).await, ["user: hi", "assistant: Yes.", "user: now"]);
    assert_eq!(forms(&named)[1], "function_call c1");
}
