//! A turn is not known for ever: long after it, an equal request is a turn of its own.

use antiphon_mock::{Answer, Reply};

use super::retrying;
use crate::support::{Ask, Client, MODEL, Mode, World, ask, soon};

/// Puts the clocks forward, as all that was answered so far sees it.
async fn advance_clock(world: &World, seconds: u32) {
    let sql = format!("UPDATE segments SET created_at = created_at - {seconds}");
    world.database().sql(&sql).await;
}

/// A turn of this conversation that was cut short, and is kept.
async fn abort_turn(world: &World, client: &Client, question: &Ask) {
    let answer = Answer::new(MODEL).message("I do.");
    let exchange = world.script(Reply::sse(answer.frames()).hang_after(3));
    let mut stream = client.stream(question).await;
    stream.response_id().await;
    drop(stream);
    world.wait_for_disconnect(&exchange).await;
    let kept = async { while world.database().sql("SELECT id FROM segments").await.is_empty() {} };
    soon("the turn is settled", kept).await;
}

#[tokio::test]
async fn forgotten_complete_turn_keeps_its_position() {
    let world = World::replicas(1).await;
    for (client, seconds) in [
        (retrying(&world.client()), 16 * 60),
        (world.client().with_header("idempotency-key", "k"), 25 * 60 * 60),
    ] {
        let conversation = client.new_conversation().await;
        let question = ask("Go on").within(&conversation);
        let first = client.respond(&question).await;
        let held = client.items(&conversation).await;

        advance_clock(&world, seconds).await;
        let second = client.respond(&question).await;

        assert_ne!(second.id(), first.id());
        assert_eq!(second.header("antiphon-superseding"), None);
        let now = client.items(&conversation).await;
        assert_eq!((now.len(), &now[..2]), (4, &held[..]));
    }
}

#[tokio::test]
async fn forgotten_aborted_turn_keeps_its_position() {
    let world = World::replicas(1).await;
    let client = world.client();
    let conversation = client.new_conversation().await;
    let question = ask("Go on").within(&conversation);
    abort_turn(&world, &client, &question).await;
    let held = client.items(&conversation).await;

    advance_clock(&world, 16 * 60).await;
    let second = retrying(&client).turn(Mode::Streamed, &question).await;

    assert_eq!(second.header("antiphon-superseding"), None);
    let now = client.items(&conversation).await;
    assert_eq!(now[..held.len()], held);
}
