//! A caller whose every request reaches another gateway notices nothing of it.

use antiphon_mock::{Answer, Reply};
use serde_json::json;

use crate::support::{MODEL, MODES, Mode, World, ask, lines, not_found, output, user};

#[tokio::test]
async fn conversation_continues_on_any_replica() {
    for replicas in [2, 3] {
        let world = World::replicas(replicas).await;
        let client = world.client();
        for mode in MODES {
            let conversation = client.new_conversation().await;
            let say = |text: &str| ask(text).within(&conversation);
            client.turn(mode, &say("My color is purple")).await;
            let called = client.turn(mode, &say("Echo hello")).await;
            let result = ask(json!([output(called.call_id(), "hello")])).within(&conversation);
            let echoed = client.turn(mode, &result).await;
            assert_eq!(echoed.text(), "echo said: hello");
            assert_eq!(client.turn(mode, &say("What is my color?")).await.text(), "purple");
            assert_eq!(client.items(&conversation).await.len(), 9);
        }
        assert_eq!(world.upstream.refusals(), []);
    }
}

#[tokio::test]
async fn chain_continues_on_any_replica() {
    let world = World::replicas(2).await;
    let client = world.client();
    for mode in MODES {
        let received = client.turn(mode, &ask("My color is purple")).await;
        let on = client.turn(mode, &ask("My dog is Biscuit").after(received.id())).await;
        let question = "What is my color and my dog?";
        for _ in 0..2 {
            let tip = client.turn(mode, &ask(question).after(on.id())).await;
            let fork = client.turn(mode, &ask(question).after(received.id())).await;
            assert_eq!((tip.text(), fork.text()), ("purple, Biscuit", "purple"));
        }
    }
}

#[tokio::test]
async fn replicas_share_all_changes() {
    let world = World::replicas(2).await;
    let (one, other) = (world.client_of(0), world.client_of(1));
    let conversation = one.new_conversation().await;
    let received = one.respond(&ask("My color is purple").within(&conversation)).await;
    assert_eq!(other.stored_response(received.id()).await, received.response);
    assert_eq!(other.report(received.id()).await, one.report(received.id()).await);

    let added = other.add_items(&conversation, &[user("My dog is Biscuit")]).await;
    let recalled = one.respond(&ask("What is my color and my dog?").within(&conversation)).await;
    assert_eq!(recalled.text(), "purple, Biscuit");

    let item = added[0]["id"].as_str().unwrap();
    one.delete(&format!("/v1/conversations/{conversation}/items/{item}")).await.json();
    let held = other.items(&conversation).await;
    assert!(!lines(&held).contains(&"user: My dog is Biscuit".to_owned()));
    let again = [added[0].clone()];
    let resent = ask(json!([again[0], user("Hello")])).within(&conversation);
    let resent = other.respond(&resent).await;
    assert_eq!(resent.status(), "completed");
    let view = world.last_view().await;
    assert!(!view.contains(&"user: My dog is Biscuit".to_owned()), "it was deleted: {view:?}");

    one.delete(&format!("/v1/conversations/{conversation}")).await.json();
    let gone = format!("Conversation with id '{conversation}' not found.");
    let refused = other.refused(Mode::Whole, &ask("Hello").within(&conversation)).await;
    assert_eq!(refused, not_found(None, &gone));
}

#[tokio::test]
async fn replicas_share_the_tenants() {
    let world = World::replicas(2).await;
    let conversation = world.client_of(0).new_conversation().await;
    let stranger = world.caller("token-of-bob");
    for _ in 0..2 {
        let path = format!("/v1/conversations/{conversation}");
        assert_eq!(stranger.get(&path).await.status(), 404);
        assert_eq!(world.client().get(&path).await.status(), 200);
    }
}

#[tokio::test]
async fn retry_on_the_other_replica_is_replayed() {
    let world = World::replicas(2).await;
    let (one, other) = (world.client_of(0), world.client_of(1));
    for mode in MODES {
        let conversation = one.new_conversation().await;
        let question = ask("My color is purple").within(&conversation);
        let asked = world.times_asked();
        let first = one.turn(mode, &question).await;

        let again = other.clone().with_header("x-stainless-retry-count", "1");
        let second = again.turn(mode, &question).await;

        assert_eq!(second.response, first.response);
        assert_eq!(world.times_asked(), asked + 1);
        assert_eq!(one.items(&conversation).await.len(), 2);
    }
}

#[tokio::test]
async fn concurrent_retry_on_the_other_replica_waits() {
    let world = World::replicas(2).await;
    let client = world.client().with_header("idempotency-key", "k");
    for mode in MODES {
        let asked = world.times_asked();
        let answer = Answer::new(MODEL).message("Hi");
        let exchange = world.script(Reply::sse(answer.frames()).gated());
        let question = ask(format!("My color is purple, {mode:?}"));
        let releasing = async {
            world.request(asked).await;
            exchange.release_all();
        };
        let (one, two, ()) =
            tokio::join!(client.turn(mode, &question), client.turn(mode, &question), releasing);
        assert_eq!(one.response, two.response, "{mode:?}");
        assert_eq!(world.times_asked(), asked + 1);
    }
}
