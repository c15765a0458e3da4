//! Lanes: one turn after the other on each, and all of them at once.

use antiphon_mock::{Answer, Exchange, Frame, Reply};
use serde_json::{Value, json};

use crate::support::{Ask, MODEL, SIM, World, ask, create, frames_until};

/// A reply that stops in the middle of its message.
fn script_unfinished(world: &World) -> Exchange {
    let answer = Answer::new(MODEL).message("Once upon a time");
    let until = frames_until(&answer, "response.output_text.delta");
    world.script(Reply::sse(answer.frames()).hang_after(until))
}

fn on_lane(lane: &str, ask: Ask) -> Value {
    create(&ask.field("stream_id", lane))
}

#[tokio::test]
async fn turns_of_one_lane_run_one_after_the_other() {
    let world = World::new().await;
    let mut socket = world.client().socket().await;
    let first = script_unfinished(&world);

    socket.send(&create(&ask("One"))).await;
    socket.until("response.output_text.delta").await;
    socket.send(&create(&ask("Two").model(SIM))).await;
    socket.send(&json!({"type": "nothing"})).await;
    assert_eq!(socket.refused().await.0, 400, "what was sent behind them is read");
    first.release_all();

    let end = socket.until("response.completed").await;
    assert_eq!(end["response"]["output"][0]["content"][0]["text"], "Once upon a time");
    let second = socket.ended().await;
    assert_eq!(second.response["model"], SIM);
}

#[tokio::test]
async fn lanes_run_concurrently_with_named_events() {
    let world = World::new().await;
    let mut socket = world.client().socket().await;
    let slow = script_unfinished(&world);

    socket.send(&on_lane("planner", ask("Plan"))).await;
    let begun = socket.until("response.output_text.delta").await;
    assert_eq!(begun["stream_id"], "planner");
    socket.send(&on_lane("critic", ask("Criticize").model(SIM))).await;
    let critic = socket.ended().await;
    assert!(critic.events.iter().all(|event| event.json["stream_id"] == "critic"));
    slow.release_all();

    assert_eq!(socket.until("response.completed").await["stream_id"], "planner");
    let unnamed = socket.turn(&ask("Hello").model(SIM)).await;
    assert!(unnamed.events.iter().all(|event| event.json.get("stream_id").is_none()));
}

#[tokio::test]
async fn event_with_trailing_space_is_named() {
    let world = World::new().await;
    let mut socket = world.client().socket().await;
    let spaced = |frame: &Frame| match frame.json() {
        Some(event) => Frame::raw(format!("data: {event} \n\n")),
        None => frame.clone(),
    };
    let frames = Answer::new(MODEL).message("Once upon a time").frames();
    world.script(Reply::sse(frames.iter().map(spaced).collect::<Vec<_>>()));

    socket.send(&on_lane("planner", ask("Plan"))).await;

    let turn = socket.ended().await;
    assert!(turn.events.iter().all(|event| event.json["stream_id"] == "planner"));
}

#[tokio::test]
async fn lanes_can_fork_a_response() {
    let world = World::new().await;
    let mut socket = world.client().socket().await;
    let say = |lane: &str, text: &str| ask(text).unstored().field("stream_id", lane);

    let plan = socket.turn(&say("planner", "Plan it")).await;
    let critic = socket.turn(&say("critic", "Find gaps").after(plan.id())).await;
    socket.turn(&say("planner", "Add steps").after(plan.id())).await;
    socket.turn(&say("critic", "More").after(critic.id())).await;

    let views = [world.view(2).await, world.view(3).await];
    let users = |view: &[String]| -> Vec<String> {
        view.iter().filter(|line| line.starts_with("user")).cloned().collect()
    };
    assert_eq!(users(&views[0]), ["user: Plan it", "user: Add steps"]);
    assert_eq!(users(&views[1]), ["user: Plan it", "user: Find gaps", "user: More"]);
}

#[tokio::test]
async fn failed_fork_keeps_the_continued_response() {
    let world = World::new().await;
    let mut socket = world.client().socket().await;
    let plan = socket.turn(&ask("Plan it").unstored()).await;

    let wrong = ask(json!([crate::support::output(&"call_other".into(), "a")])).unstored();
    socket.send(&on_lane("critic", wrong.after(plan.id()))).await;
    assert_eq!(socket.error().await["stream_id"], "critic");

    let next = socket.turn(&ask("Go on").unstored().after(plan.id())).await;
    assert_eq!(next.status(), "completed");
}

#[tokio::test]
async fn invalid_lane_names_are_rejected() {
    let world = World::new().await;
    let mut socket = world.client().socket().await;
    for name in [json!(""), json!("a b"), json!(7), json!("x".repeat(257))] {
        socket.send(&create(&ask("Hello").field("stream_id", name))).await;
        let error = socket.error().await;
        assert_eq!(error["error"]["code"], "invalid_stream_id");
        assert!(error.get("stream_id").is_none(), "{error}");
    }
}

#[tokio::test]
async fn named_lanes_are_limited() {
    let world = World::new().await;
    let mut socket = world.client().socket().await;
    for number in 0..32 {
        socket.turn(&ask("Hello").model(SIM).field("stream_id", format!("lane_{number}"))).await;
    }

    socket.send(&on_lane("one_more", ask("Hello").model(SIM))).await;

    let error = socket.error().await;
    assert_eq!(error["error"]["code"], "websocket_stream_limit_reached");
    assert_eq!(error["stream_id"], "one_more");
    let reused = ask("Hello").model(SIM).field("stream_id", "lane_7");
    assert_eq!(socket.turn(&reused).await.status(), "completed");
}

#[tokio::test]
async fn turn_beyond_the_open_limit_waits() {
    let world = World::new().await;
    let mut socket = world.client().socket().await;
    let exchanges: Vec<Exchange> = (0..16).map(|_| script_unfinished(&world)).collect();
    for number in 0..16 {
        socket.send(&on_lane(&format!("lane_{number}"), ask("Hello"))).await;
    }
    for index in 0..16 {
        world.request(index).await;
    }
    socket.send(&on_lane("late", ask("Hello"))).await;
    socket.send(&json!({"type": "nothing"})).await;
    while socket.event_or_error().await["type"] != "error" {}
    assert_eq!(world.times_asked(), 16);

    exchanges[0].release_all();

    world.request(16).await;
}

#[tokio::test]
async fn waiting_turns_are_limited() {
    let world = World::new().await;
    let mut socket = world.client().socket().await;
    let _held = script_unfinished(&world);
    for _ in 0..=64 {
        socket.send(&create(&ask("Hello"))).await;
    }
    socket.send(&create(&ask("One too many"))).await;

    let error = loop {
        let event = socket.event_or_error().await;
        if event["type"] == "error" {
            break event;
        }
    };
    assert_eq!(
        (&error["status"], &error["error"]["code"]),
        (&json!(429), &json!("rate_limit_exceeded"))
    );
}
