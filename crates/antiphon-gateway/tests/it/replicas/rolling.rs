//! A rolling restart under load: one gateway after the other stops and starts.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use super::start_tale;
use crate::support::{Client, MODES, World, ask, lines, soon};

/// Callers who talk until they are told to stop, each in a conversation of its own.
struct Load {
    stop: Arc<AtomicBool>,
    turns: Arc<AtomicUsize>,
    callers: Vec<tokio::task::JoinHandle<(String, usize)>>,
}

impl Load {
    async fn begin(world: &World, callers: usize) -> Self {
        let stop = Arc::<AtomicBool>::default();
        let turns = Arc::<AtomicUsize>::default();
        let mut begun = Vec::new();
        for _ in 0..callers {
            let client = world.client().with_retries();
            let conversation = client.new_conversation().await;
            let talk = talk(client, conversation, Arc::clone(&stop), Arc::clone(&turns));
            begun.push(tokio::spawn(talk));
        }
        Self { stop, turns, callers: begun }
    }

    /// Waits until every caller may have had an answer more.
    async fn wait_for_progress(&self) {
        let enough = self.turns.load(Ordering::SeqCst) + 2 * self.callers.len();
        let going = async {
            while self.turns.load(Ordering::SeqCst) < enough {
                tokio::task::yield_now().await;
            }
        };
        soon("turns are answered", going).await;
    }

    /// Each conversation, and how many turns of it were answered.
    async fn ended(self) -> Vec<(String, usize)> {
        self.stop.store(true, Ordering::SeqCst);
        let mut talks = Vec::new();
        for caller in self.callers {
            talks.push(soon("a caller ends", caller).await.expect("it does not panic"));
        }
        talks
    }
}

async fn talk(
    client: Client,
    conversation: String,
    stop: Arc<AtomicBool>,
    turns: Arc<AtomicUsize>,
) -> (String, usize) {
    let mut message = 0;
    while !stop.load(Ordering::SeqCst) {
        let asking = ask(format!("Message {message}")).within(&conversation);
        let turn = client.turn(MODES[message % 2], &asking).await;
        assert_eq!(turn.text(), "Noted.");
        message += 1;
        turns.fetch_add(1, Ordering::SeqCst);
    }
    (conversation, message)
}

#[tokio::test]
async fn nothing_is_lost_or_doubled() {
    let mut world = World::replicas(2).await;
    let load = Load::begin(&world, 4).await;
    load.wait_for_progress().await;
    for index in [0, 1] {
        world.stop_replica(index).ended().await;
        load.wait_for_progress().await;
        world.start_replica(index).await;
        load.wait_for_progress().await;
    }

    let client = world.client();
    for (conversation, turns) in load.ended().await {
        let path = format!("/v1/conversations/{conversation}/items?order=asc&limit=100");
        let page = client.get(&path).await.json();
        let held = lines(page["data"].as_array().unwrap());
        let expected: Vec<_> = (0..turns)
            .flat_map(|number| [format!("user: Message {number}"), "assistant: Noted.".into()])
            .take(held.len())
            .collect();
        assert_eq!(held, expected);
        assert_eq!(page["has_more"], 2 * turns > 100, "{turns} turns");
    }
    assert_eq!(world.upstream.refusals(), []);
}

#[tokio::test]
async fn open_turn_ends_on_the_stopping_gateway() {
    let mut world = World::replicas(2).await;
    let (one, other) = (world.client_of(0), world.client_of(1));
    let conversation = one.new_conversation().await;
    let asking = ask("Tell me a tale").within(&conversation);
    let (events, id, exchange) = start_tale(&world, &one, &asking).await;

    let stopping = world.stop_replica(0);
    let waiting = {
        let (other, asking) = (other.clone(), ask("Go on").within(&conversation));
        tokio::spawn(async move { other.respond(&asking).await })
    };
    world.wait_for_queue_length(2).await;
    exchange.release_all();

    let turn = events.ended().await;
    assert_eq!((turn.status(), turn.id()), ("completed", &*id));
    stopping.ended().await;
    waiting.await.unwrap();
    assert_eq!(
        world.last_view().await,
        ["user: Tell me a tale", "assistant: Once upon a time", "user: Go on"]
    );
}
