//! A request that is made again.

use super::{create_queued, id_of, in_background, script_silence};
use crate::support::{Client, MODES, Mode, World};

fn retrying_clients(client: &Client) -> [Client; 2] {
    let keyed = client.clone().with_header("idempotency-key", "k");
    let counted = client.clone().with_header("x-stainless-retry-count", "1");
    [keyed, counted]
}

#[tokio::test]
async fn retry_of_open_response_shows_its_state() {
    for (way, mode) in [(0, Mode::Whole), (1, Mode::Whole), (0, Mode::Streamed)] {
        let world = World::new().await;
        let client = world.client();
        let again = &retrying_clients(&client)[way];
        let first = if way == 0 { again } else { &client };
        let asking = in_background("A tale");
        let exchange = script_silence(&world);
        let (id, asking) = match mode {
            Mode::Whole => (create_queued(first, &asking).await, asking),
            Mode::Streamed => {
                let mut events = first.stream(&asking).await;
                (events.response_id().await, asking)
            }
        };
        client.wait_until_in_progress(&id).await;

        if mode == Mode::Whole {
            let known = again.create(mode, &asking).await;
            assert_eq!(known.header("antiphon-answered-again"), Some("true"));
            let known = known.json();
            assert_eq!((&known["status"], id_of(&known)), (&"in_progress".into(), id.clone()));
            exchange.release_all();
        } else {
            let events = again.stream(&asking).await;
            exchange.release_all();
            assert_eq!(events.ended().await.id(), id);
        }

        client.wait_until_ended(&id).await;
        assert_eq!(world.times_asked(), 1);
    }
}

#[tokio::test]
async fn retry_of_ended_response_shows_all_of_it() {
    let world = World::new().await;
    let client = world.client().with_header("idempotency-key", "k");
    for mode in MODES {
        let asking = in_background(&format!("Hello, {mode:?}"));
        let asked = world.times_asked();
        let id = match mode {
            Mode::Whole => create_queued(&client, &asking).await,
            Mode::Streamed => client.turn(mode, &asking).await.id().to_owned(),
        };
        let ended = client.wait_until_ended(&id).await;

        let again = client.turn(mode, &asking).await;

        assert_eq!(again.response, ended);
        assert_eq!(world.times_asked(), asked + 1);
    }
}
