//! A client makes a request again, because its answer did not come: no turn is doubled.

use antiphon_mock::{Answer, Exchange, OnAbort, Script};

use super::world::World;
use crate::support::{Ask, Client, MODEL, MODES, Mode, ask, frames_until, text, typed_user};

const OUTCOMES: [OnAbort; 3] = [OnAbort::StorePart, OnAbort::StoreWhole, OnAbort::StoreNothing];

fn again(client: &Client) -> Client {
    client.clone().with_header("x-stainless-retry-count", "1")
}

fn answer() -> Answer {
    Answer::new(MODEL).reasoning("Hm.").message("It is Rex.")
}

/// How many frames are delivered before the caller leaves: the reasoning is done, the message is
/// not.
fn until_left() -> usize {
    frames_until(&answer(), "response.output_item.done")
}

/// A caller that leaves before the answer is whole.
async fn leave(world: &World, mode: Mode, asked: &Ask) {
    leave_as(&world.client(), world, mode, asked).await;
}

async fn leave_as(client: &Client, world: &World, mode: Mode, asked: &Ask) {
    let exchange: Exchange = world.provider.script(Script::from(answer()).hang_after(until_left()));
    match mode {
        Mode::Streamed => {
            let mut events = client.stream(asked).await;
            events.until("response.output_item.done").await;
        }
        Mode::Whole => {
            let mut waiting = std::pin::pin!(client.respond(asked));
            tokio::select! {
                _ = waiting.as_mut() => panic!("it is not answered"),
                () = exchange.wait_for_sent(until_left()) => {}
            }
        }
    }
    world.wait_for_disconnect(&exchange).await;
}

#[tokio::test]
async fn completed_answer_is_replayed_without_the_model() {
    for mode in MODES {
        let world = World::new().await;
        let client = world.client();
        let first = client.turn(mode, &ask([typed_user("My dog is Rex.")])).await;
        let conversation = world.conversation().await;
        let question = ask([typed_user("What is my dog?")]);
        for asked in
            [question.clone().within(&conversation), question.clone().after(first.id()), question]
        {
            world.provider.script(answer());
            let first = client.turn(mode, &asked).await;
            let turns = world.provider.turns().len();

            let second = again(&client).turn(mode, &asked).await;

            assert_eq!(second.id(), first.id());
            assert_eq!(second.output(), first.output());
            assert_eq!(second.header("antiphon-answered-again"), Some("true"));
            assert_eq!(world.provider.turns().len(), turns, "the model is not asked again");
        }
    }
}

#[tokio::test]
async fn conversation_continues_from_the_providers_state() {
    for (outcome, mode) in every_way() {
        let world = World::new().await;
        world.provider.set_on_abort(outcome);
        let conversation = world.conversation().await;
        let asked = ask([typed_user("What is my dog?")]).within(&conversation);
        leave(&world, mode, &asked).await;
        let turns = world.provider.turns().len();
        world.provider.set_on_abort(OnAbort::StoreWhole);

        let received = again(&world.client()).turn(mode, &asked).await;

        assert_eq!(received.status(), "completed", "{outcome:?} {mode:?}");
        let held = world.holds(&conversation);
        let users = held.iter().filter(|line| line.starts_with("user")).count();
        assert_eq!(users, 1, "{outcome:?} {mode:?}: {held:?}");
        let asked_again = world.provider.turns().len() - turns;
        match (outcome, mode) {
            (OnAbort::StoreWhole, Mode::Streamed) => {
                assert_eq!(asked_again, 0);
                assert_eq!(received.text(), "It is Rex.");
            }
            // Who waits for the whole may leave before the gateway has heard of the response: then
            // it is not known which one it was.
            (OnAbort::StoreWhole, Mode::Whole) if asked_again == 0 => {}
            (OnAbort::StorePart | OnAbort::StoreWhole, _) => {
                assert_eq!(world.sent(), [""; 0]);
                let report = world.client().report(received.id()).await;
                assert_eq!(report["resent"][0]["rule"], "same_request");
            }
            (OnAbort::StoreNothing, _) => assert_eq!(world.sent(), ["user: What is my dog?"]),
        }
        assert_eq!(world.refused_turns(), 0, "{outcome:?} {mode:?}");
    }
}

#[tokio::test]
async fn keyed_retry_after_another_turn_is_stored_once() {
    for (outcome, mode) in every_way() {
        let world = World::new().await;
        world.provider.set_on_abort(outcome);
        let client = world.client();
        let keyed = client.clone().with_header("idempotency-key", "k");
        let conversation = world.conversation().await;
        let asked = ask([typed_user("What is my dog?")]).within(&conversation);
        leave_as(&keyed, &world, mode, &asked).await;
        client.respond(&ask([typed_user("My cat is Mia.")]).within(&conversation)).await;

        let received = keyed.turn(mode, &asked).await;

        assert_eq!(received.status(), "completed", "{outcome:?} {mode:?}");
        let held = world.holds(&conversation);
        let count = held.iter().filter(|line| *line == "user: What is my dog?").count();
        assert_eq!(count, 1, "{outcome:?} {mode:?}: {held:?}");
        assert_eq!(world.refused_turns(), 0, "{outcome:?} {mode:?}");
    }
}

#[tokio::test]
async fn retried_chain_continues_the_same_response() {
    for (outcome, mode) in every_way() {
        let world = World::new().await;
        let client = world.client();
        let first = client.turn(mode, &ask([typed_user("My dog is Rex.")])).await;
        world.provider.set_on_abort(outcome);
        let asked = ask([typed_user("What is my dog?")]).after(first.id());
        leave(&world, mode, &asked).await;
        let turns = world.provider.turns().len();

        let received = again(&client).turn(mode, &asked).await;

        let given = ["user: My dog is Rex.", "assistant: Noted.", "user: What is my dog?"];
        assert_eq!(world.given(), given);
        let asked_again = world.provider.turns().len() - turns;
        if (outcome, mode) != (OnAbort::StoreWhole, Mode::Whole) {
            assert_eq!(asked_again, usize::from(outcome != OnAbort::StoreWhole), "{outcome:?}");
        }
        client.turn(mode, &ask([typed_user("Sure?")]).after(received.id())).await;
        assert_eq!(world.refused_turns(), 0);
    }
}

#[tokio::test]
async fn retry_after_a_gateway_crash_is_not_doubled() {
    for (outcome, mode) in every_way() {
        let mut world = World::new().await;
        world.provider.set_on_abort(outcome);
        let conversation = world.conversation().await;
        let asked = ask([typed_user("What is my dog?")]).within(&conversation);
        let exchange = world.provider.script(Script::from(answer()).hang_after(until_left()));
        let client = world.client();
        {
            let mut waiting = std::pin::pin!(client.try_create(mode, &asked));
            tokio::select! {
                _ = waiting.as_mut() => panic!("it is not answered"),
                () = exchange.wait_for_sent(until_left()) => {}
            }
            world.kill_and_start().await;
        }
        world.wait_for_disconnect(&exchange).await;

        again(&world.client()).turn(mode, &asked).await;

        let held = world.holds(&conversation);
        let users = held.iter().filter(|line| line.starts_with("user")).count();
        assert_eq!(users, 1, "{outcome:?} {mode:?}: {held:?}");
        assert_eq!(world.refused_turns(), 0, "{outcome:?} {mode:?}");
    }
}

#[tokio::test]
async fn keyed_answer_is_known_after_later_turns() {
    for mode in MODES {
        let world = World::new().await;
        let (client, conversation) = (world.client(), world.conversation().await);
        let keyed = client.clone().with_header("idempotency-key", "k");
        let asked = ask([typed_user("My dog is Rex.")]).within(&conversation);
        let first = keyed.turn(mode, &asked).await;
        client.turn(mode, &ask([typed_user("Fine.")]).within(&conversation)).await;
        assert_eq!(keyed.turn(mode, &asked).await.id(), first.id());
        assert_eq!(world.provider.turns().len(), 2);
    }
}

#[tokio::test]
async fn equal_requests_are_not_retries() {
    for mode in MODES {
        let world = World::new().await;
        let client = world.client();
        let asked = ask([typed_user("Choose a number.")]);
        let (one, two) = (client.turn(mode, &asked).await, client.turn(mode, &asked).await);
        let three = again(&client).turn(mode, &asked).await;
        assert_ne!(three.id(), one.id());
        assert_ne!(three.id(), two.id());
        assert_eq!(three.header("antiphon-answered-again"), None);
    }
}

#[tokio::test]
async fn deleted_response_is_not_replayed() {
    for mode in MODES {
        let world = World::new().await;
        let client = world.client();
        let asked = ask([typed_user("Choose a number.")]);
        let first = client.turn(mode, &asked).await;
        world.provider.delete_response(first.id());
        assert_ne!(again(&client).turn(mode, &asked).await.id(), first.id());
    }
}

#[tokio::test]
async fn retried_background_response_is_replayed() {
    let world = World::new().await;
    let (client, conversation) = (world.client(), world.conversation().await);
    let asked = ask([typed_user("My dog is Rex.")]).within(&conversation);
    let asked = asked.field("background", true);
    let first = client.create(Mode::Whole, &asked).await.json();
    client.wait_until_ended(text(&first["id"])).await;

    let second = again(&client).create(Mode::Whole, &asked).await.json();

    assert_eq!(second["id"], first["id"]);
    assert_eq!(world.provider.turns().len(), 1);
}

fn every_way() -> impl Iterator<Item = (OnAbort, Mode)> {
    OUTCOMES.into_iter().flat_map(|outcome| MODES.map(|mode| (outcome, mode)))
}
