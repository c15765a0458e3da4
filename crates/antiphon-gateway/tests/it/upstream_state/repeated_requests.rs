//! A client repeats a request whose response the gateway never received: no turn is doubled, and
//! different turns stay different.

use antiphon_mock::{Answer as Scripted, OnAbort, Script};
use futures_util::future::{join, join_all};
use http::Method;
use serde_json::json;

use super::world::World;
use crate::support::{
    Answer, Ask, Client, MODEL, MODES, Mode, ask, frames_until, output, soon, typed_user,
};

fn again(client: &Client) -> Client {
    client.clone().with_header("x-stainless-retry-count", "1")
}

fn users(world: &World, conversation: &str) -> usize {
    world.holds(conversation).iter().filter(|line| line.starts_with("user")).count()
}

/// A caller that leaves before the provider has said anything.
async fn leave_at_once(world: &World, mode: Mode, asked: &Ask) {
    let exchange = world.provider.script(Script::from(Scripted::new(MODEL).message("A.")).gated());
    let (client, known) = (world.client(), world.provider.requests().len());
    {
        let mut waiting = std::pin::pin!(client.try_create(mode, asked));
        tokio::select! {
            _ = waiting.as_mut() => panic!("it is not answered"),
            () = asked_behind(world, known) => {}
        }
    }
    world.wait_for_disconnect(&exchange).await;
}

/// Waits until a turn has come to the provider behind so many requests.
async fn asked_behind(world: &World, known: usize) {
    let mut index = known;
    while !world.provider.request(index).await.is_turn() {
        index += 1;
    }
}

#[tokio::test]
async fn waiting_retry_does_not_resend_input() {
    for mode in MODES {
        // Given a caller that has left, and a provider that goes on with its turn all the same.
        let world = World::new().await;
        let conversation = world.conversation().await;
        let asked = ask([typed_user("What is my dog?")]).within(&conversation);
        world.provider.set_on_abort(OnAbort::StoreNothing);
        leave_at_once(&world, mode, &asked).await;
        let answer = Scripted::new(MODEL).message("It is Rex.");
        let until_text = frames_until(&answer, "response.output_text.delta");
        let exchange = world.provider.script(Script::from(answer).hang_after(until_text));
        let body = asked.clone().field("stream", true).body().to_string();
        let begun = world.past_gateway().send(Method::POST, "/v1/responses", body).await;
        soon("its message begins", exchange.wait_for_sent(until_text)).await;

        // When the request is made again, and the turn ends meanwhile.
        let client = again(&world.client());
        let retry = client.turn(mode, &asked);
        let ends = async {
            soon("the gateway is told of the lock", world.refused_once()).await;
            exchange.release_all();
            Answer::read(begun).await;
        };
        let (received, ()) = join(retry, ends).await;

        // Then the input is there once.
        assert_eq!(received.status(), "completed");
        assert_eq!(users(&world, &conversation), 1, "{:?}", world.holds(&conversation));
    }
}

#[tokio::test]
async fn input_of_a_broken_attempt_is_not_resent() {
    for mode in MODES {
        let world = World::new().await;
        let conversation = world.conversation().await;
        let asked = ask([typed_user("What is my dog?")]).within(&conversation);
        world.provider.set_on_abort(OnAbort::StoreWhole);
        let answer = Scripted::new(MODEL).message("It is Rex.");
        world.provider.script(Script::from(answer).break_after(0));
        assert!(world.client().create(mode, &asked).await.status() >= 500);
        assert_eq!(users(&world, &conversation), 1, "the provider has it");

        let received = again(&world.client()).turn(mode, &asked).await;

        assert_eq!(received.status(), "completed");
        assert_eq!(users(&world, &conversation), 1, "{:?}", world.holds(&conversation));
    }
}

#[tokio::test]
async fn equal_earlier_turn_is_not_the_retried_one() {
    for mode in MODES {
        let mut world = World::new().await;
        world.repeats = true;
        let conversation = world.conversation().await;
        let asked = ask([typed_user("Go on.")]).within(&conversation);
        let first = world.client().turn(mode, &asked).await;
        world.provider.set_on_abort(OnAbort::StoreNothing);
        leave_at_once(&world, mode, &asked).await;

        let second = again(&world.client()).turn(mode, &asked).await;

        assert_ne!(second.id(), first.id());
        assert_eq!(world.sent(), ["user: Go on."]);
        assert_eq!(users(&world, &conversation), 2, "{:?}", world.holds(&conversation));
    }
}

#[tokio::test]
async fn concurrent_branches_sync_their_response_once() {
    for mode in MODES {
        let world = World::new().await;
        world.provider.script(Scripted::new(MODEL).call("call_1", "echo", r#"{"text":"hi"}"#));
        let root = world.past_gateway().respond(&ask([typed_user("Echo hi.")])).await;
        let client = world.client();
        let asked = ask([output(&json!("call_1"), "hi")]).after(root.id());

        let branches = join_all((0..6).map(|_| client.turn(mode, &asked))).await;

        assert!(branches.iter().all(|branch| branch.status() == "completed"));
        assert_eq!(world.times_learnt(), 2);
        assert_eq!(world.refused_turns(), 0);
    }
}
