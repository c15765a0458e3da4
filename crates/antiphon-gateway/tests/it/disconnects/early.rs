//! Who leaves before anything was told leaves nothing behind.

use antiphon_mock::{Answer, Reply};
use serde_json::Value;

use crate::support::{MODEL, MODES, Mode, World, ask, soon};

#[tokio::test]
async fn disconnect_before_the_answer_stores_nothing() {
    for mode in MODES {
        let world = World::new().await;
        let client = world.client();
        let conversation = client.new_conversation().await;
        let say = |text: &str| ask(text).within(&conversation);
        let answer = Answer::new(MODEL).message("Hello there");
        let exchange = world.script(Reply::sse(answer.frames()).withhold_head());

        let asking = say("Hello");
        tokio::select! {
            _ = client.create(mode, &asking) => panic!("there is no answer yet"),
            _ = world.request(0) => {}
        }
        world.wait_for_disconnect(&exchange).await;

        assert_eq!(client.turn(mode, &say("My color is purple")).await.text(), "Noted.");
        assert_eq!(world.view(1).await, ["user: My color is purple"]);
        assert_eq!(client.items(&conversation).await.len(), 2);
    }
}

#[tokio::test]
async fn disconnect_from_an_unstreamed_answer() {
    let world = World::new().await;
    let client = world.client();
    let conversation = client.new_conversation().await;
    let say = |text: &str| ask(text).within(&conversation);
    let answer = Answer::new(MODEL).message("Hello there");
    let exchange = world.script(Reply::sse(answer.frames()).hang_after(5));

    let asking = say("Hello");
    tokio::select! {
        _ = client.create(Mode::Whole, &asking) => panic!("there is no answer yet"),
        () = soon("the upstream waits", exchange.wait_for_sent(5)) => {}
    }
    world.wait_for_disconnect(&exchange).await;

    assert_eq!(client.respond(&say("My color is purple")).await.text(), "Noted.");
    assert_eq!(world.view(1).await, ["user: My color is purple"]);
    assert_eq!(client.items(&conversation).await.len(), 2);
}

#[tokio::test]
async fn disconnect_while_waiting_stores_nothing() {
    let world = World::new().await;
    let client = world.client();
    let conversation = client.new_conversation().await;
    let say = |text: &str| ask(text).within(&conversation);
    let answer = Answer::new(MODEL).message("Hello there");
    let exchange = world.script(Reply::sse(answer.frames()).hang_after(3));
    let mut first = client.stream(&say("My color is purple")).await;
    first.response_id().await;

    let impatient = tokio::spawn({
        let (client, asking) = (client.clone(), say("And I am gone"));
        async move { client.create(Mode::Whole, &asking).await }
    });
    impatient.abort();
    assert!(impatient.await.unwrap_err().is_cancelled());
    exchange.release_all();
    first.until("response.completed").await;

    let recalled = client.respond(&say("What is my color?")).await;
    assert_eq!(recalled.text(), "purple");
    let _: Vec<Value> = client.items(&conversation).await;
}
