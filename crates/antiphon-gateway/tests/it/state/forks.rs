//! Branches.

use crate::support::{MODES, World, ask, lines};

const BOTH: &str = "What is my color and my dog?";

#[tokio::test]
async fn chain_can_branch_at_every_response() {
    for mode in MODES {
        let world = World::new().await;
        let client = world.client();
        let received = client.turn(mode, &ask("My color is purple")).await;
        let biscuit = client.turn(mode, &ask("My dog is Biscuit").after(received.id())).await;
        let waffle = client.turn(mode, &ask("My dog is Waffle").after(received.id())).await;
        let green = client.turn(mode, &ask("My color is green").after(biscuit.id())).await;

        for (end, expected) in [
            (&received, "purple"),
            (&biscuit, "purple, Biscuit"),
            (&waffle, "purple, Waffle"),
            (&green, "green, Biscuit"),
        ] {
            let recalled = client.turn(mode, &ask(BOTH).after(end.id())).await;
            assert_eq!(recalled.text(), expected);
        }
        assert_eq!(world.upstream.refusals(), []);
    }
}

#[tokio::test]
async fn branch_does_not_change_its_conversation() {
    for mode in MODES {
        let world = World::new().await;
        let client = world.client();
        let conversation = client.new_conversation().await;
        let within = |text: &str| ask(text).within(&conversation);
        let first = client.turn(mode, &within("My color is purple")).await;
        let latest = client.turn(mode, &within("My dog is Biscuit")).await;
        let held = client.items(&conversation).await;

        let early = client.turn(mode, &ask("My dog is Waffle").after(first.id())).await;
        let late = client.turn(mode, &ask("My color is green").after(latest.id())).await;

        assert_eq!(client.items(&conversation).await, held);
        for (end, expected) in [(&early, "purple, Waffle"), (&late, "green, Biscuit")] {
            let recalled = client.turn(mode, &ask(BOTH).after(end.id())).await;
            assert_eq!(recalled.text(), expected);
        }
        let recalled = client.turn(mode, &within(BOTH)).await;
        assert_eq!(recalled.text(), "purple, Biscuit");
    }
}

#[tokio::test]
async fn conversation_is_independent_of_a_branch() {
    let world = World::new().await;
    let client = world.client();
    let conversation = client.new_conversation().await;
    let first = client.respond(&ask("My color is purple").within(&conversation)).await;
    let branch = client.respond(&ask("My dog is Waffle").after(first.id())).await;
    client.respond(&ask("My dog is Biscuit").within(&conversation)).await;
    client.respond(&ask("Hello").after(branch.id())).await;
    assert_eq!(
        lines(&client.items(&conversation).await),
        [
            "user: My color is purple",
            "assistant: Noted.",
            "user: My dog is Biscuit",
            "assistant: Noted."
        ]
    );
    assert_eq!(
        world.last_view().await,
        [
            "user: My color is purple",
            "assistant: Noted.",
            "user: My dog is Waffle",
            "assistant: Noted.",
            "user: Hello",
        ]
    );
}

#[tokio::test]
async fn long_chain_of_branches_keeps_its_order() {
    let world = World::new().await;
    let client = world.client();
    let mut previous = client.respond(&ask("Message 0")).await;
    for number in 1..=12 {
        let asking = ask(format!("Message {number}")).after(previous.id());
        let next = client.respond(&asking).await;
        client.respond(&asking).await;
        previous = next;
    }
    client.respond(&ask("Done").after(previous.id())).await;

    let view = world.last_view().await;
    let message: Vec<&String> = view.iter().step_by(2).take(13).collect();
    let expected: Vec<String> = (0..=12).map(|number| format!("user: Message {number}")).collect();
    assert_eq!(message, expected.iter().collect::<Vec<_>>());
    assert_eq!(view.len(), 27);
}
