//! Rate limits of the provider: the run waits as long as the provider asks, up to a limit.

use std::time::Duration;

use antiphon_agents::machine::End;
use antiphon_agents::roster::Limits;
use antiphon_agents::{Run, RunEvent};
use antiphon_mock::Reply;
use http::{Method, StatusCode};
use serde_json::json;
use tokio::time::Instant;

use crate::world::{Effects, OWNERS, World, calls, drain, says};

/// Refuses the next turn, which may be repeated after so many seconds.
fn refuse_next_turn(world: &World, seconds: &'static str) {
    let error = json!({
        "type": "requests",
        "code": "rate_limit_exceeded",
        "message": "Rate limit reached for requests.",
    });
    let reply = Reply::json(StatusCode::TOO_MANY_REQUESTS, &json!({"error": error}));
    let reply = reply.header("retry-after", seconds);
    world.provider.reply_instead(Method::POST, "/responses", reply);
}

/// Continues a run to its end, and returns its delays in seconds, with the time that passed.
async fn wait_for_end(run: &mut Run<Effects>) -> (Vec<u64>, u64) {
    let start = Instant::now();
    let events = drain(run).await;
    let delay = |event: &RunEvent| match event {
        RunEvent::Retrying { delay, .. } => Some(delay.as_secs()),
        _ => None,
    };
    (events.iter().filter_map(delay).collect(), start.elapsed().as_secs())
}

#[tokio::test(start_paused = true)]
async fn run_waits_as_long_as_the_provider_asks() {
    for owner in OWNERS {
        let world = World::new().await;
        world.script([calls("c1", "look_up", "Rome"), says("Done."), says("More.")]);
        let mut run = world.start(world.state(owner), "go").limits(Limits::default());
        refuse_next_turn(&world, "7");
        refuse_next_turn(&world, "2");
        assert_eq!(wait_for_end(&mut run).await, (vec![7, 2], 9), "{owner:?}");
        let result = run.finish().await.unwrap();
        assert_eq!(result.text(), "Done.", "{owner:?}");
        assert_eq!(world.effects.all(), ["look_up Rome"], "{owner:?}");

        // The next run is refused too, with the whole dialogue at the owner.
        let mut run = world.start(result.next_state(), "and?").limits(Limits::default());
        refuse_next_turn(&world, "30");
        assert_eq!(wait_for_end(&mut run).await, (vec![30], 30), "{owner:?}");
        assert_eq!(run.finish().await.unwrap().text(), "More.", "{owner:?}");
        let input = world.last_model_input();
        let whole = ["user: go", "function_call c1", "function_call_output c1", "assistant: Done."];
        assert_eq!(input[..4], whole, "{owner:?}");
        assert_eq!(input[4..], ["user: and?"], "{owner:?}");
        world.assert_clean(owner);
    }
}

#[tokio::test(start_paused = true)]
async fn run_gives_up_after_its_retries() {
    for owner in OWNERS {
        let world = World::new().await;
        world.script([says("Hello again.")]);
        let delays = vec![Duration::from_secs(1); 2];
        let mut run = world.start(world.state(owner), "go");
        run = run.limits(Limits { retry_delays: delays, ..Limits::default() });
        for _ in 0..3 {
            refuse_next_turn(&world, "5");
        }
        assert_eq!(wait_for_end(&mut run).await, (vec![5, 5], 10), "{owner:?}");
        let result = run.into_result().await.unwrap();
        let End::Failed { error } = result.end() else { panic!("{:?}", result.end()) };
        assert!(error.contains("Rate limit reached for requests."), "{error}");
        assert!(error.ends_with("(the request failed after 2 retries)"), "{error}");
        assert_eq!(world.turns().len(), 3, "{owner:?}");

        // The input is not lost, and the model reads it once.
        assert_eq!(world.run(result.next_state(), "again").await.text(), "Hello again.");
        assert_eq!(world.last_model_input(), ["user: go", "user: again"], "{owner:?}");
        world.assert_clean(owner);
    }
}

#[tokio::test(start_paused = true)]
async fn run_does_not_wait_for_an_hour() {
    for owner in OWNERS {
        let world = World::new().await;
        let mut run = world.start(world.state(owner), "go").limits(Limits::default());
        refuse_next_turn(&world, "3600");
        assert_eq!(wait_for_end(&mut run).await, (vec![], 0), "{owner:?}");
        let result = run.into_result().await.unwrap();
        let End::Failed { error } = result.end() else { panic!("{:?}", result.end()) };
        let reason = "(the server asks for a delay of 3600 seconds, but the limit is 60)";
        assert!(error.ends_with(reason), "{error}");
        assert_eq!(world.turns().len(), 1, "{owner:?}");
    }
}
