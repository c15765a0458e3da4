//! However a turn ends, it leaves nothing open that its retry, or who goes on from it, would wait
//! for.

use antiphon_mock::{Answer, Reply};

use super::retrying;
use crate::support::{FragileGateway, MODEL, Mode, ask, lines, soon};

#[tokio::test]
async fn disconnect_while_recording_leaves_no_open_turn() {
    let FragileGateway { upstream, store, client } = FragileGateway::start().await;
    let question = ask("My color is purple").within(&client.new_conversation().await);
    let withheld = Reply::sse(Answer::new(MODEL).message("Hi").frames()).withhold_head();
    let exchange = upstream.script(withheld);
    store.pause_recording();
    {
        let mut asking = Box::pin(client.create(Mode::Streamed, &question));
        tokio::select! {
            _ = &mut asking => panic!("the head is withheld"),
            _ = soon("the upstream is asked", upstream.request(0)) => {}
        }
    }
    soon("the upstream is left", exchange.wait_for_disconnect()).await;
    store.resume_recording();

    let turn = retrying(&client).turn(Mode::Streamed, &question).await;

    assert_eq!(turn.text(), "Noted.");
}

#[tokio::test]
async fn failure_leaves_no_open_turn() {
    let FragileGateway { upstream: _upstream, store, client } = FragileGateway::start().await;
    let conversation = client.new_conversation().await;
    let question = ask("My color is purple").within(&conversation);
    store.break_next_commit();
    let mut stream = client.stream(&question).await;
    let id = stream.response_id().await;

    let turn = retrying(&client).turn(Mode::Streamed, &question).await;
    let behind = client.create(Mode::Whole, &ask("What is my color?").after(&id)).await;

    assert_eq!(turn.text(), "Noted.");
    assert_eq!(behind.status(), 400, "there is no such response");
    let held = lines(&client.items(&conversation).await);
    assert_eq!(held, ["user: My color is purple", "assistant: Noted."]);
}
