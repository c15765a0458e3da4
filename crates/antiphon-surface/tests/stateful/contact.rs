//! The first contact with a conversation that has a history.

use antiphon_mock::{Options, Profile, Reply};
use http::{Method, StatusCode};
use serde_json::{Value, json};

use crate::world::{Mode, World, output, thinking_and_calling, user};

#[tokio::test]
async fn first_replay_sends_new_items_only() {
    let mut world = World::new().await;
    let conversation = world.conversation().await;
    world.provider.script(thinking_and_calling());
    let first = json!({"conversation": conversation, "input": [user("Echo hi.")]});
    let first = world.turn(Mode::Whole, first).await;
    world.forget();
    let mut history = vec![user("Echo hi.")];
    history.extend(first.output());
    history.push(output("call_1", "hi"));
    let body = json!({"conversation": conversation, "input": history});
    world.turn(Mode::Whole, body).await;
    assert_eq!(world.sent(), ["output: hi"]);
}

#[tokio::test]
async fn long_conversation_is_read_in_pages() {
    let world = World::new().await;
    let conversation = world.conversation().await;
    let mut history: Vec<Value> = Vec::new();
    for page in 0..12 {
        let message: Vec<Value> = (0..20).map(|nth| user(&format!("Line {page} {nth}."))).collect();
        let path = format!("/conversations/{conversation}/items");
        world.request_of_other_client("POST", &path, json!({"items": message})).await;
        history.extend(message);
    }
    history.push(user("And now?"));
    let body = json!({"conversation": conversation, "input": history});
    let answered = world.turn(Mode::Whole, body).await;
    assert_eq!(world.sent(), ["user: And now?"]);
    assert_eq!(answered.report.resent, 240);
    assert_eq!(world.list_requests(), 3);
}

#[tokio::test]
async fn provider_refuses_unknown_conversation() {
    let world = World::new().await;
    let odd = ["conv_none", "../conv", "conv none"];
    for conversation in odd {
        let body = json!({"conversation": conversation, "input": [user("Hi.")]});
        let refused = world.attempt(Mode::Whole, body).await;
        assert!([400, 404].contains(&refused.status), "{}", refused.body);
        assert_eq!(world.provider.turns().last().unwrap().body["conversation"], conversation);
    }
    assert_eq!(world.list_requests(), 1, "an invalid id is not looked up");
}

#[tokio::test]
async fn unlisted_items_are_left_out_by_kind() {
    let world = World::new().await;
    let conversation = world.conversation().await;
    world.provider.script(thinking_and_calling());
    let first = json!({"conversation": conversation, "input": [user("Echo hi.")]});
    let first = world.turn_of_other_client(first).await;
    let mut history = first["output"].as_array().unwrap().clone();
    history.push(output("call_1", "hi"));
    let unavailable = || {
        let error = json!({"error": {"message": "Not Found"}});
        Reply::json(StatusCode::NOT_FOUND, &error)
    };
    let path = format!("/conversations/{conversation}/items");
    world.provider.reply_instead(Method::GET, &path, unavailable());
    let body = json!({"conversation": conversation, "input": history});
    let answered = world.turn(Mode::Whole, body).await;
    assert!(answered.report.by_kind);
    assert_eq!(world.sent(), ["output: hi"]);

    let next = json!({"conversation": conversation, "input": [user("Bye.")]});
    world.turn(Mode::Whole, next).await;
    assert_eq!(world.list_requests(), 2, "the ledger stays stale");
}

#[tokio::test]
async fn output_is_known_without_input_list() {
    let options = Options { profile: Profile::ChainsOnly, ..Options::default() };
    let world = World::with(options).await;
    world.provider.script(thinking_and_calling());
    let first = world.turn_of_other_client(json!({"input": [user("Echo hi.")]})).await;
    let mut again = first["output"].as_array().unwrap().clone();
    again.push(user("Never mind."));
    let next = json!({"previous_response_id": first["id"], "input": again});
    let next = world.turn(Mode::Whole, next).await;
    assert_eq!(next.repairs(), [("unanswered_call", "answered")]);
    assert_eq!(next.report.resent, 2);
    let last = json!({"previous_response_id": next.id(), "input": [user("Bye.")]});
    assert_eq!(world.turn(Mode::Whole, last).await.repairs(), []);
}
