//! Performs turns through a gateway in this process, on one thread: `turn json|stream COUNT`.
//!
//! `cargo xtask instructions` counts the instructions of two runs under valgrind. Their difference
//! is the cost of the turns, without that of the start. It contains the client and the upstream,
//! which copy bytes and do little else.

mod client;
mod upstream;
mod wire;

use antiphon_gateway::Server;
use antiphon_gateway::settings::{Settings, UpstreamSettings};
use tokio::net::TcpListener;
use tokio::runtime;

use self::client::Client;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (streams, count) = match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["json", count] => (false, count.parse()),
        ["stream", count] => (true, count.parse()),
        // Cargo runs benchmarks with arguments of its own.
        _ => return println!("usage: turn json|stream COUNT"),
    };
    let count = count.expect("the count is a number");
    let runtime = runtime::Builder::new_current_thread().enable_all().build();
    runtime.expect("a runtime starts").block_on(perform(streams, count));
}

async fn perform(streams: bool, count: usize) {
    let upstream = listen().await;
    let url = format!("http://{}/v1", upstream.local_addr().expect("it is bound"));
    let url = UpstreamSettings::new(url.parse().expect("it is a URL"), None);
    tokio::spawn(upstream::serve(upstream));

    let settings = Settings { upstreams: vec![url], ..Settings::default() };
    let store = antiphon_store::open("sqlite::memory:").await.expect("the store opens");
    let listener = listen().await;
    let address = listener.local_addr().expect("it is bound");
    let server = Server::prepare(listener, settings, store).await.expect("it is prepared");
    tokio::spawn(server.run(std::future::pending()));

    let mut client = Client::connect(address).await;
    for turn in 0..count {
        client.turn(turn, streams).await;
    }
}

async fn listen() -> TcpListener {
    TcpListener::bind("127.0.0.1:0").await.expect("a loopback port is free")
}
