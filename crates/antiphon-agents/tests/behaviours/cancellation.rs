//! Cancelled runs, and requests that fail.

use std::time::Duration;

use antiphon_agents::machine::End;
use antiphon_agents::roster::Limits;
use antiphon_agents::rules::{CancelMode, RetryVerdict};
use antiphon_agents::{Run, RunEvent};
use antiphon_mock::{OnAbort, Reply, Script};
use http::{Method, StatusCode};
use serde_json::json;

use super::world::{
    CLIENTS, Effects, OWNERS, Owner, SERVERS, World, calls, drain, forms, limits, says,
};

/// Continues a run until the first event of this kind.
async fn until(run: &mut Run<Effects>, is_it: impl Fn(&RunEvent) -> bool) {
    while let Some(event) = run.next().await {
        if is_it(&event) {
            return;
        }
    }
    panic!("the run has no such event");
}

#[tokio::test]
async fn b45_cancelled_after_the_turn_its_outputs_are_saved() {
    for owner in OWNERS {
        let world = World::new().await;
        world.script([calls("c1", "look_up", "Bonn")]);
        let mut run = world.start(world.state(owner), "go");
        until(&mut run, |event| matches!(event, RunEvent::Asked { .. })).await;
        run.cancel(CancelMode::AfterTurn);
        let result = run.into_result().await.unwrap();
        assert_eq!(result.end(), &End::Cancelled, "{owner:?}");
        assert_eq!(world.effects.all(), ["look_up Bonn"], "{owner:?}");
        assert_eq!(world.turns().len(), 1, "{owner:?}");
        let saved = ["user: go", "function_call c1", "function_call_output c1"];
        match owner {
            Owner::Replay => assert_eq!(forms(&result.next_input()), saved),
            Owner::Session => assert_eq!(forms(&world.session_items().await), saved),
            Owner::Conversation => assert_eq!(forms(&world.conversation_items()), saved),
            Owner::Chain => {}
        }
        world.run(result.next_state(), "more").await;
        assert_eq!(world.last_model_input(), [&saved[..], &["user: more"]].concat(), "{owner:?}");
        world.assert_clean(owner);
    }
}

#[tokio::test]
async fn b46_immediate_cancellation_wakes_the_waiting_consumer() {
    for owner in OWNERS {
        let world = World::on_abort(OnAbort::StoreNothing).await;
        let exchange = world.provider.script(Script::from(says("Never.")).hang_after(1));
        let mut run = world.start(world.state(owner), "go");
        let canceller = run.canceller();
        let consumer = tokio::spawn(async move { (drain(&mut run).await, run) });
        exchange.wait_for_sent(1).await;
        canceller.cancel(CancelMode::Immediate);
        let (events, run) = consumer.await.unwrap();
        assert!(matches!(events.last(), Some(RunEvent::Ended(End::Cancelled))), "{owner:?}");
        exchange.wait_for_disconnect().await;
        world.provider.wait_until_idle().await;
        let result = run.into_result().await.unwrap();
        canceller.cancel(CancelMode::Immediate);
        world.run(result.next_state(), "again").await;
        let count = world.last_model_input().iter().filter(|form| *form == "user: go").count();
        assert_eq!(count, 1, "{owner:?}");
        world.assert_clean(owner);
    }
}

fn locked() -> Reply {
    let error = json!({
        "type": "invalid_request_error",
        "code": "conversation_locked",
        "message": "Another process is currently operating on this conversation.",
    });
    Reply::json(StatusCode::BAD_REQUEST, &json!({"error": error}))
}

#[tokio::test]
async fn b47_locked_conversation_is_tried_three_times_again() {
    let seconds = [1, 2, 4].map(Duration::from_secs);
    assert_eq!(Limits::default().locked_delays, seconds);
    let delays = [1, 2, 4].map(Duration::from_micros);
    for locks in [3, 4] {
        let world = World::new().await;
        for _ in 0..locks {
            world.provider.reply_instead(Method::POST, "/responses", locked());
        }
        let run = world.start(world.state(Owner::Conversation), "go");
        let mut run = run.limits(Limits { locked_delays: delays.into(), ..limits() });
        let events = drain(&mut run).await;
        let waited: Vec<_> = events
            .iter()
            .filter_map(|event| match event {
                RunEvent::Retrying { delay, .. } => Some(*delay),
                _ => None,
            })
            .collect();
        assert_eq!(waited, delays);
        assert_eq!(world.turns().len(), 4);
        let result = run.into_result().await.unwrap();
        if locks == 3 {
            assert_eq!(result.end(), &End::Answered { agent: "first".into() });
        } else {
            assert!(matches!(result.end(), End::Failed { .. }));
            world.run(result.next_state(), "again").await;
            assert_eq!(world.last_model_input(), ["user: go", "user: again"]);
        }
    }
}

/// The reference gives up. A run lists the items of the conversation, and repeats the request only
/// if the server does not have it.
#[tokio::test]
async fn b48_request_with_an_unknown_effect_is_looked_up_first() {
    for (on_abort, requests) in [(OnAbort::StoreWhole, 1), (OnAbort::StoreNothing, 2)] {
        let world = World::on_abort(on_abort).await;
        world.provider.script(Script::from(says("Hello.")).break_after(1));
        world.script([says("Hello again.")]);
        let result = world.run(world.state(Owner::Conversation), "go").await;
        assert_eq!(result.end(), &End::Answered { agent: "first".into() }, "{on_abort:?}");
        assert_eq!(world.turns().len(), requests, "{on_abort:?}");
        assert_eq!(world.conversation_items().len(), 2, "{on_abort:?}");
        world.assert_clean(on_abort);
    }
}

#[tokio::test]
async fn b48_request_with_an_unknown_effect_is_not_repeated_blindly() {
    let world = World::on_abort(OnAbort::StoreWhole).await;
    // The list that a run begins with, and the one after the failure.
    let unavailable = Reply::json(StatusCode::FORBIDDEN, &json!({"error": {"message": "No."}}));
    let mut run = world.start(world.state(Owner::Conversation), "go");
    world.provider.script(Script::from(says("Hello.")).break_after(1));
    until(&mut run, |event| matches!(event, RunEvent::Asked { .. })).await;
    world.provider.reply_instead(Method::GET, "/items", unavailable);
    let result = run.into_result().await.unwrap();
    assert!(matches!(result.end(), End::Failed { .. }), "{:?}", result.end());
    assert_eq!(world.turns().len(), 1);
    world.run(result.next_state(), "again").await;
    let count = world.last_model_input().iter().filter(|form| *form == "user: go").count();
    assert_eq!(count, 1);
    world.assert_clean("");
}

/// The number of events before the answer's first output: `response.created` and
/// `response.in_progress`.
const BEFORE_OUTPUT: usize = 2;

#[tokio::test]
async fn b49_failure_after_output_is_not_retried() {
    for owner in OWNERS {
        for (events, requests) in [(BEFORE_OUTPUT, 2), (BEFORE_OUTPUT + 1, 1)] {
            let case = (owner, events);
            let world = World::on_abort(OnAbort::StoreNothing).await;
            world.provider.script(Script::from(says("Lost.")).break_after(events));
            world.script([says("Hello.")]);
            let result = world.run(world.state(owner), "go").await;
            assert_eq!(world.turns().len(), requests, "{case:?}");
            let has_answered = matches!(result.end(), End::Answered { .. });
            assert_eq!(has_answered, requests == 2, "{case:?}");
            world.assert_clean(case);
        }
    }
}

#[tokio::test]
async fn b49_application_can_say_that_a_retry_is_safe() {
    for owner in OWNERS {
        let world = World::on_abort(OnAbort::StoreNothing).await;
        world.provider.script(Script::from(says("Lost.")).break_after(BEFORE_OUTPUT + 1));
        world.script([says("Hello.")]);
        let run = world.start(world.state(owner), "go");
        let run = run.retry_policy(|error| match error.has_emitted_output() {
            true => RetryVerdict::Safe,
            false => RetryVerdict::ByRules,
        });
        assert_eq!(run.finish().await.unwrap().text(), "Hello.", "{owner:?}");
        assert_eq!(world.last_model_input(), ["user: go"], "{owner:?}");
        world.assert_clean(owner);
    }
}

#[tokio::test]
async fn b49_application_can_forbid_retries() {
    for owner in CLIENTS.into_iter().chain(SERVERS) {
        let world = World::new().await;
        world.fail_next_turn(503);
        let run = world.start(world.state(owner), "go");
        let result = run.retry_policy(|_| RetryVerdict::Never).into_result().await.unwrap();
        assert!(matches!(result.end(), End::Failed { .. }), "{owner:?}");
        assert_eq!(world.turns().len(), 1, "{owner:?}");
    }
}

/// Reasoning that the server kept of an answer that broke off would make it refuse every later
/// request: a run removes it.
#[tokio::test]
async fn b49_reasoning_of_a_broken_answer_is_removed() {
    let world = World::on_abort(OnAbort::StorePart).await;
    let answer = super::world::answer().reasoning("Hm.").message("Lost.");
    let frames = answer.frames();
    let is_done = |frame: &antiphon_mock::Frame| frame.name() == Some("response.output_item.done");
    let done = frames.iter().position(is_done).unwrap() + 1;
    world.provider.script(Script::from(answer).break_after(done));
    let result = world.run(world.state(Owner::Conversation), "go").await;
    assert!(matches!(result.end(), End::Failed { .. }), "{:?}", result.end());
    world.run(result.next_state(), "again").await;
    assert_eq!(world.last_model_input(), ["user: go", "user: again"]);
    world.assert_clean("");
}
