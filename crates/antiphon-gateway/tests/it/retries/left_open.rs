//! However a turn ends, it leaves nothing open that its retry, or who goes on from it, would wait for.

use std::future;
use std::sync::Arc;

use antiphon_gateway::serve;
use antiphon_gateway::settings::{Retries, Settings, UpstreamSettings};
use antiphon_store::Store;
use antiphon_testkit::{Answer, FakeUpstream, Reply};
use tokio::net::TcpListener;

use super::again;
use crate::support::{Client, Faulty, MODEL, Mode, ask, lines, soon};

/// A gateway on a store that can be made to fail.
struct Gateway {
    upstream: FakeUpstream,
    store: Faulty,
    client: Client,
}

impl Gateway {
    async fn start() -> Self {
        let upstream = FakeUpstream::start().await;
        let url = upstream.base_url().parse().expect("it is a URL");
        let asked_once =
            UpstreamSettings { retries: Retries::none(), ..UpstreamSettings::new(url, None) };
        let settings = Settings { upstreams: vec![asked_once], ..Settings::default() };
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a loopback port is free");
        let client = Client::at(&format!("http://{}", listener.local_addr().expect("it is bound")));
        let store = Faulty::new();
        let served: Arc<dyn Store> = Arc::new(store.clone());
        tokio::spawn(serve(listener, settings, served, future::pending()));
        Self { upstream, store, client }
    }
}

#[tokio::test]
async fn not_where_its_caller_leaves_while_it_is_recorded() {
    let Gateway { upstream, store, client } = Gateway::start().await;
    let question = ask("My color is purple").within(&client.new_conversation().await);
    let withheld = Reply::sse(Answer::new(MODEL).message("Hi").frames()).withhold_head();
    let exchange = upstream.script(withheld);
    store.stop_recording();
    {
        let mut asking = Box::pin(client.create(Mode::Streamed, &question));
        tokio::select! {
            _ = &mut asking => panic!("the head is withheld"),
            _ = soon("the upstream is asked", upstream.request(0)) => {}
        }
    }
    soon("the upstream is left", exchange.disconnected()).await;
    store.go_on_recording();

    let turn = again(&client).turn(Mode::Streamed, &question).await;

    assert_eq!(turn.text(), "Noted.");
}

#[tokio::test]
async fn not_where_it_breaks() {
    let Gateway { upstream: _upstream, store, client } = Gateway::start().await;
    let conversation = client.new_conversation().await;
    let question = ask("My color is purple").within(&conversation);
    store.break_next_commit();
    let mut stream = client.stream(&question).await;
    let id = stream.announced().await;

    let turn = again(&client).turn(Mode::Streamed, &question).await;
    let behind = client.create(Mode::Whole, &ask("What is my color?").after(&id)).await;

    assert_eq!(turn.text(), "Noted.");
    assert_eq!(behind.status(), 400, "there is no such response");
    let held = lines(&client.items(&conversation).await);
    assert_eq!(held, ["user: My color is purple", "assistant: Noted."]);
}
