//! A gateway that hears the model out although the caller has left.

use antiphon_gateway::settings::OnDisconnect;
use antiphon_mock::{Answer, Reply};

use crate::support::{MODEL, Mode, World, ask, frames_until, soon};

async fn finishing_world() -> World {
    World::with(|settings| settings.on_disconnect = OnDisconnect::Finish).await
}

#[tokio::test]
async fn abandoned_stream_is_finished_and_stored() {
    let world = finishing_world().await;
    let client = world.client();
    let conversation = client.new_conversation().await;
    let say = |text: &str| ask(text).within(&conversation);
    let answer = Answer::new(MODEL).message("Once upon a time");
    let begun = frames_until(&answer, "response.output_text.delta");
    let exchange = world.script(Reply::sse(answer.frames()).hang_after(begun));
    let mut events = client.stream(&say("Tell me a tale")).await;
    let id = events.response_id().await;
    events.until("response.output_text.delta").await;

    drop(events);
    exchange.release_all();
    world.wait_until_read(&exchange).await;

    client.respond(&say("Go on")).await;
    assert_eq!(
        world.view(1).await,
        ["user: Tell me a tale", "assistant: Once upon a time", "user: Go on"]
    );
    let kept = client.wait_until_settled(&id).await;
    assert_eq!(kept["status"], "completed");
}

#[tokio::test]
async fn unawaited_answer_is_stored() {
    let world = finishing_world().await;
    let client = world.client();
    let conversation = client.new_conversation().await;
    let say = |text: &str| ask(text).within(&conversation);
    let answer = Answer::new(MODEL).message("Once upon a time");
    let exchange = world.script(Reply::sse(answer.frames()).hang_after(4));
    let asking = say("Tell me a tale");
    tokio::select! {
        _ = client.create(Mode::Whole, &asking) => panic!("there is no answer yet"),
        () = soon("the upstream waits", exchange.wait_for_sent(4)) => {}
    }

    exchange.release_all();
    world.wait_until_read(&exchange).await;

    client.respond(&say("Go on")).await;
    assert_eq!(world.view(1).await[1], "assistant: Once upon a time");
}
