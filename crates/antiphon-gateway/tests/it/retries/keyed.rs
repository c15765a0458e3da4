//! Requests that come under a key of their client's.

use antiphon_mock::{Answer, Reply};

use super::STARTING_POINTS;
use crate::support::{Client, MODEL, MODES, Mode, World, ask, lines};

fn keyed(client: &Client, key: &str) -> Client {
    client.clone().with_header("idempotency-key", key)
}

#[tokio::test]
async fn keyed_retry_is_answered_once() {
    let world = World::new().await;
    let client = world.client();
    for place in STARTING_POINTS {
        for mode in MODES {
            let key = keyed(&client, &format!("{place:?} {mode:?}"));
            let question = place.ask(&client, "My color is purple").await;
            let first = key.turn(mode, &question).await;
            let asked = world.times_asked();
            for _ in 0..2 {
                let again = key.turn(mode, &question).await;
                assert_eq!(again.response, first.response);
            }
            assert_eq!(world.times_asked(), asked);
        }
    }
}

#[tokio::test]
async fn key_is_known_after_later_turns() {
    let world = World::new().await;
    let client = world.client();
    let conversation = client.new_conversation().await;
    let question = ask("My color is purple").within(&conversation);
    let first = keyed(&client, "k").respond(&question).await;
    client.respond(&ask("Something else").within(&conversation)).await;

    let again = keyed(&client, "k").respond(&question).await;

    assert_eq!(again.id(), first.id());
    assert_eq!(client.items(&conversation).await.len(), 4);
}

#[tokio::test]
async fn different_key_or_body_is_a_new_request() {
    let world = World::new().await;
    let client = world.client();
    let conversation = client.new_conversation().await;
    let question = |text: &str| ask(text).within(&conversation);
    keyed(&client, "k").respond(&question("One")).await;
    keyed(&client, "l").respond(&question("One")).await;
    keyed(&client, "k").respond(&question("Two")).await;
    client.respond(&question("One")).await;
    assert_eq!(world.times_asked(), 4);
    assert_eq!(client.items(&conversation).await.len(), 8);
}

#[tokio::test]
async fn concurrent_retries_are_one_turn() {
    let world = World::new().await;
    let client = keyed(&world.client(), "k");
    for place in STARTING_POINTS {
        let question = place.ask(&world.client(), format!("My color is purple, {place:?}")).await;
        let asked = world.times_asked();
        let exchange = world.script(Reply::sse(Answer::new(MODEL).message("Hi").frames()).gated());
        let one = client.respond(&question);
        let two = client.respond(&question);
        let releasing = async {
            world.request(asked).await;
            exchange.release_all();
        };
        let (one, two, ()) = tokio::join!(one, two, releasing);
        assert_eq!(one.response, two.response, "{place:?}");
        assert_eq!(world.times_asked(), asked + 1);
    }
}

#[tokio::test]
async fn keyed_retry_replaces_an_aborted_turn() {
    let world = World::new().await;
    let client = keyed(&world.client(), "k");
    let conversation = client.new_conversation().await;
    let question = ask("My color is purple").within(&conversation);
    let answer = Answer::new(MODEL).message("Once upon a time");
    let exchange = world.script(Reply::sse(answer.frames()).hang_after(5));
    let mut stream = client.stream(&question).await;
    stream.until("response.output_text.delta").await;
    drop(stream);
    world.wait_for_disconnect(&exchange).await;

    client.turn(Mode::Streamed, &question).await;

    assert_eq!(
        lines(&client.items(&conversation).await),
        ["user: My color is purple", "assistant: Noted."]
    );
}

#[tokio::test]
async fn too_long_key_is_rejected() {
    let world = World::new().await;
    let refused = keyed(&world.client(), &"k".repeat(256)).refused(Mode::Whole, &ask("Hi")).await;
    assert_eq!(refused.status, 400);
    assert_eq!(world.times_asked(), 0);
}
