//! Several gateways in front of one provider: what one knows of a conversation, all know.

use antiphon_mock::{Answer, OnAbort, Script};

use super::world::World;
use crate::support::{MODEL, MODES, Mode, ask, frames_until, typed_user};

#[tokio::test]
async fn conversation_continues_on_every_replica() {
    for mode in MODES {
        let world = World::replicas(2).await;
        let conversation = world.conversation().await;
        let message = ["One.", "Two.", "Three.", "Four."];
        for until in 1..=message.len() {
            let replay: Vec<_> = message[..until].iter().map(|text| typed_user(text)).collect();
            world.client().named_ai_sdk().turn(mode, &ask(replay).within(&conversation)).await;
            assert_eq!(world.sent(), [format!("user: {}", message[until - 1])]);
        }
        assert_eq!(world.times_learnt(), 1);
    }
}

#[tokio::test]
async fn concurrent_turns_on_replicas_are_serialized() {
    let world = World::replicas(2).await;
    let conversation = world.conversation().await;
    let turn = |number: usize| {
        let (client, conversation) = (world.client(), conversation.clone());
        async move {
            let message = typed_user(&format!("Number {number}."));
            client.respond(&ask([message]).within(&conversation)).await
        }
    };
    futures_util::future::join_all((0..8).map(turn)).await;
    assert_eq!(world.provider.refusals(), []);
    assert_eq!(world.items(&conversation).len(), 16);
    assert_eq!(world.times_learnt(), 1);
}

#[tokio::test]
async fn concurrent_branches_sync_once() {
    let world = World::replicas(2).await;
    let root = world.past_gateway().respond(&ask([typed_user("My dog is Rex.")])).await;
    let branch = |number: usize| {
        let (client, root) = (world.client_of(number % 2), root.id().to_owned());
        async move {
            let message = typed_user(&format!("Number {number}: what is my dog?"));
            client.respond(&ask([message]).after(&root)).await
        }
    };
    let branches = futures_util::future::join_all((0..8).map(branch)).await;
    for branch in branches {
        assert_eq!(branch.text(), "Rex");
        world.client().respond(&ask([typed_user("Thanks.")]).after(branch.id())).await;
    }
    assert_eq!(world.times_learnt(), 2, "the response and its input");
}

#[tokio::test]
async fn replica_syncs_after_another_died() {
    for outcome in [OnAbort::StorePart, OnAbort::StoreWhole, OnAbort::StoreNothing] {
        let mut world = World::replicas(2).await;
        world.provider.set_on_abort(outcome);
        let conversation = world.conversation().await;
        let answer = Answer::new(MODEL).call("call_1", "echo", r#"{"text":"hi"}"#);
        let until_call = frames_until(&answer, "response.output_item.done");
        let exchange = world.provider.script(Script::from(answer).hang_after(until_call));
        let asked = ask([typed_user("Echo hi.")]).within(&conversation);
        let mut events = world.client_of(0).stream(&asked).await;
        events.until("response.output_item.done").await;
        world.kill(0).await;
        drop(events);
        world.wait_for_disconnect(&exchange).await;

        let again = ask([typed_user("Echo hi."), typed_user("Please.")]).within(&conversation);
        world.client_of(1).turn(Mode::Streamed, &again).await;
        assert_eq!(world.provider.refusals(), [], "{outcome:?}");
        let holds = world.holds(&conversation);
        let users: Vec<_> = holds.iter().filter(|line| line.starts_with("user")).collect();
        assert_eq!(users, ["user: Echo hi.", "user: Please."], "{outcome:?}");
    }
}
