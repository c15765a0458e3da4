//! Turns side by side.

use std::time::Duration;

use antiphon_mock::{Answer, Reply};
use serde_json::{Value, json};

use crate::support::{MODEL, MODES, Mode, Turn, World, ask, ids, invalid, lines, terminal, user};

#[tokio::test]
async fn second_turn_waits_and_sees_the_first() {
    let world = World::parallel().await;
    let client = world.client();
    let conversation = client.new_conversation().await;
    let say = |text: &str| ask(text).within(&conversation);
    let answer = Answer::new(MODEL).message("Noted.");
    let exchange = world.script(Reply::sse(answer.frames()).hang_after(terminal(&answer)));
    let mut first = client.stream(&say("My color is purple")).await;
    first.until("response.output_item.done").await;

    let second = tokio::spawn({
        let (client, asking) = (client.clone(), say("What is my color?"));
        async move { client.turn(Mode::Whole, &asking).await }
    });
    assert_eq!(world.times_asked(), 1);
    exchange.release_all();
    first.all().await;

    assert_eq!(second.await.unwrap().text(), "purple");
    assert_eq!(
        world.view(1).await,
        ["user: My color is purple", "assistant: Noted.", "user: What is my color?"]
    );
}

#[tokio::test]
async fn busy_conversation_is_locked_without_waiting() {
    let world = World::with(|settings| settings.turn_wait = Duration::ZERO).await;
    let client = world.client();
    let conversation = client.new_conversation().await;
    let say = |text: &str| ask(text).within(&conversation);
    let answer = Answer::new(MODEL).message("Noted.");
    let exchange = world.script(Reply::sse(answer.frames()).hang_after(3));
    let mut first = client.stream(&say("My color is purple")).await;
    first.until("response.output_item.added").await;
    let locked = invalid(
        Some("conversation"),
        Some("conversation_locked"),
        "Another process is currently operating on this conversation. Please retry in a few \
         seconds.",
    );

    for mode in MODES {
        assert_eq!(client.refused(mode, &say("Hello")).await, locked);
    }
    let other = client.new_conversation().await;
    assert_eq!(client.respond(&ask("Hello").within(&other)).await.text(), "Noted.");
    exchange.release_all();
    first.until("response.completed").await;

    assert_eq!(client.respond(&say("What is my color?")).await.text(), "purple");
}

#[tokio::test]
async fn parallel_conversations_do_not_mix() {
    let world = World::parallel().await;
    let turns = (0..16).map(|number| {
        let client = world.client();
        tokio::spawn(async move {
            let conversation = client.new_conversation().await;
            let say = |text: &str| ask(text).within(&conversation);
            let mode = MODES[number % 2];
            client.turn(mode, &say(&format!("My color is shade-{number}"))).await;
            client.turn(mode, &say("Hello")).await;
            client.turn(mode, &say("What is my color?")).await.text().to_owned()
        })
    });
    let turns: Vec<_> = turns.collect();
    for (number, turn) in turns.into_iter().enumerate() {
        assert_eq!(turn.await.unwrap(), format!("shade-{number}"));
    }
    assert_eq!(world.upstream.refusals(), []);
}

#[tokio::test]
async fn concurrent_turns_are_stored_once_and_whole() {
    const TURNS: usize = 32;
    let world = World::parallel().await;
    let client = world.client();
    let conversation = client.new_conversation().await;
    let turns = (0..TURNS).map(|number| {
        let client = client.clone();
        let asking = ask(format!("Message {number}")).within(&conversation);
        tokio::spawn(async move { client.turn(MODES[number % 2], &asking).await })
    });
    let turns: Vec<_> = turns.collect();
    for turn in turns {
        assert_eq!(turn.await.unwrap().text(), "Noted.");
    }

    let items = client.items(&conversation).await;
    let held = lines(&items);
    assert_eq!(held.len(), 2 * TURNS);
    let mut reply: Vec<&String> = held.iter().step_by(2).collect();
    reply.sort();
    let mut expected: Vec<String> =
        (0..TURNS).map(|number| format!("user: Message {number}")).collect();
    expected.sort();
    assert_eq!(reply, expected.iter().collect::<Vec<_>>());
    assert!(held.iter().skip(1).step_by(2).all(|line| line == "assistant: Noted."));
    let mut unique = ids(&items);
    unique.sort_unstable();
    unique.dedup();
    assert_eq!(unique.len(), items.len());
    for index in 0..TURNS {
        let view = world.view(index).await;
        assert_eq!(view.len(), 2 * index + 1);
        assert_eq!(view[..], held[..view.len()]);
    }
}

#[tokio::test]
async fn parallel_branches_of_a_response_do_not_mix() {
    let world = World::parallel().await;
    let client = world.client();
    let received = client.respond(&ask("My color is purple")).await;
    let branches = (0..8).map(|number| {
        let client = client.clone();
        let asking = ask(format!("My dog is dog-{number}")).after(received.id());
        tokio::spawn(async move {
            let branch = client.turn(MODES[number % 2], &asking).await;
            let question = ask("What is my color and my dog?").after(branch.id());
            client.respond(&question).await.text().to_owned()
        })
    });
    let branches: Vec<_> = branches.collect();
    for (number, branch) in branches.into_iter().enumerate() {
        assert_eq!(branch.await.unwrap(), format!("purple, dog-{number}"));
    }
    assert_eq!(world.upstream.refusals(), []);
}

#[tokio::test]
async fn added_items_never_split_a_turn() {
    let world = World::parallel().await;
    let client = world.client();
    let conversation = client.new_conversation().await;
    let turns = (0..8).map(|number| {
        let client = client.clone();
        let conversation = conversation.clone();
        tokio::spawn(async move {
            let asking = ask(format!("Turn {number}")).within(&conversation);
            let added = json!([user(&format!("Added {number}")), user(&format!("With {number}"))]);
            let added = added.as_array().unwrap().clone();
            let (turn, _): (Turn, Vec<Value>) = tokio::join!(
                client.turn(MODES[number % 2], &asking),
                client.add_items(&conversation, &added)
            );
            turn
        })
    });
    let turns: Vec<_> = turns.collect();
    for turn in turns {
        assert_eq!(turn.await.unwrap().status(), "completed");
    }

    let held = lines(&client.items(&conversation).await);
    assert_eq!(held.len(), 32);
    for pair in held.chunks(2) {
        let (first, second) = (&pair[0], &pair[1]);
        match first.strip_prefix("user: Added ") {
            Some(number) => assert_eq!(*second, format!("user: With {number}")),
            None => assert_eq!(second, "assistant: Noted.", "behind {first}"),
        }
    }
}
