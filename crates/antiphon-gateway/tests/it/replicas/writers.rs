//! Many who write into one conversation, wherever their requests come in.

use std::time::Duration;

use antiphon_mock::{Answer, Reply};

use crate::support::{MODEL, MODES, Mode, World, ask, ids, invalid, lines, terminal};

#[tokio::test]
async fn turns_of_two_replicas_are_serialized() {
    const TURNS: usize = 24;
    for replicas in [2, 3] {
        let world = World::replicas(replicas).await;
        let client = world.client();
        let conversation = client.new_conversation().await;
        let turns: Vec<_> = (0..TURNS)
            .map(|number| {
                let client = client.clone();
                let asking = ask(format!("Message {number}")).within(&conversation);
                tokio::spawn(async move { client.turn(MODES[number % 2], &asking).await })
            })
            .collect();
        for turn in turns {
            assert_eq!(turn.await.unwrap().text(), "Noted.");
        }

        let items = client.items(&conversation).await;
        let held = lines(&items);
        assert_eq!(held.len(), 2 * TURNS);
        let mut reply: Vec<_> = held.iter().step_by(2).cloned().collect();
        reply.sort();
        let mut all: Vec<_> = (0..TURNS).map(|number| format!("user: Message {number}")).collect();
        all.sort();
        assert_eq!(reply, all);
        let mut unique = ids(&items);
        unique.sort_unstable();
        unique.dedup();
        assert_eq!(unique.len(), items.len());
        for index in 0..TURNS {
            let view = world.view(index).await;
            assert_eq!(view[..], held[..=2 * index]);
        }
    }
}

#[tokio::test]
async fn busy_replica_does_not_starve_a_writer() {
    const BUSY: usize = 12;
    let world = World::replicas(2).await;
    let (busy, lone) = (world.client_of(0), world.client_of(1));
    let conversation = busy.new_conversation().await;
    let answer = Answer::new(MODEL).message("Noted.");
    let first = world.script(Reply::sse(answer.frames()).hang_after(terminal(&answer)));
    let asked: Vec<_> = (0..BUSY)
        .map(|number| {
            let (busy, asking) =
                (busy.clone(), ask(format!("Busy {number}")).within(&conversation));
            tokio::spawn(async move { busy.respond(&asking).await })
        })
        .collect();
    world.request(0).await;
    let waiting = {
        let (lone, asking) = (lone.clone(), ask("Lone").within(&conversation));
        tokio::spawn(async move { lone.respond(&asking).await })
    };
    // The lone writer stands in line, behind the one open turn of the busy replica.
    world.wait_for_queue_length(2).await;
    first.release_all();
    waiting.await.unwrap();
    for turn in asked {
        turn.await.unwrap();
    }

    let reply: Vec<_> = lines(&lone.items(&conversation).await).into_iter().step_by(2).collect();
    assert_eq!(reply.len(), BUSY + 1);
    assert_eq!(reply[1], "user: Lone", "it was next: {reply:?}");
}

#[tokio::test]
async fn turn_waits_for_the_other_replica() {
    let world = World::replicas(2).await;
    let (one, other) = (world.client_of(0), world.client_of(1));
    for mode in MODES {
        let asked = world.times_asked();
        let conversation = one.new_conversation().await;
        let say = |text: &str| ask(text).within(&conversation);
        let answer = Answer::new(MODEL).message("Noted.");
        let exchange = world.script(Reply::sse(answer.frames()).hang_after(terminal(&answer)));
        let mut first = one.stream(&say("My color is purple")).await;
        first.until("response.output_item.done").await;

        let (other, asking) = (other.clone(), say("What is my color?"));
        let second = tokio::spawn(async move { other.turn(mode, &asking).await });
        world.wait_for_queue_length(2).await;
        assert_eq!(world.times_asked(), asked + 1);
        exchange.release_all();
        first.ended().await;

        assert_eq!(second.await.unwrap().text(), "purple");
        let view = world.view(asked + 1).await;
        let expected = ["user: My color is purple", "assistant: Noted.", "user: What is my color?"];
        assert_eq!(view, expected);
    }
}

#[tokio::test]
async fn conversation_is_locked_on_the_other_replica() {
    let world = World::replicas_with(2, |settings| settings.turn_wait = Duration::ZERO).await;
    let (one, other) = (world.client_of(0), world.client_of(1));
    let conversation = one.new_conversation().await;
    let say = |text: &str| ask(text).within(&conversation);
    let answer = Answer::new(MODEL).message("Noted.");
    let exchange = world.script(Reply::sse(answer.frames()).hang_after(terminal(&answer)));
    let mut first = one.stream(&say("My color is purple")).await;
    first.until("response.output_item.done").await;

    let refused = other.refused(Mode::Whole, &say("Hello")).await;

    let message = "Another process is currently operating on this conversation. Please retry in a \
                   few seconds.";
    assert_eq!(refused, invalid(Some("conversation"), Some("conversation_locked"), message));
    exchange.release_all();
    first.ended().await;
    world.wait_for_queue_length(0).await;
    assert_eq!(other.respond(&say("What is my color?")).await.text(), "purple");
}
