//! Performs turns through a gateway in this process, on one thread:
//! `turn json|stream COUNT [RATIO]`. With a ratio, the gateway exports that share of its traces.
//!
//! `cargo xtask instructions` counts the instructions of two runs under valgrind. Their difference
//! is the cost of the turns, without that of the start. It contains the client and the upstream,
//! which copy bytes and do little else.

mod client;
mod receiver;
mod upstream;
mod wire;

use antiphon_gateway::Server;
use antiphon_gateway::settings::{
    OtlpExporter, Settings, Telemetry, TraceExport, TraceSampler, UpstreamSettings,
};
use tokio::net::TcpListener;
use tokio::runtime;
use tokio::sync::oneshot;

use self::client::Client;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<_> = arguments.iter().map(String::as_str).collect();
    let (form, count, ratio) = match arguments[..] {
        [form @ ("json" | "stream"), count] => (form, count, None),
        [form @ ("json" | "stream"), count, ratio] => (form, count, Some(ratio)),
        // Cargo runs benchmarks with arguments of its own.
        _ => return println!("usage: turn json|stream COUNT [RATIO]"),
    };
    let count = count.parse().expect("the count is a number");
    let ratio = ratio.map(|ratio| ratio.parse().expect("the ratio is a number"));
    let runtime = runtime::Builder::new_current_thread().enable_all().build();
    runtime.expect("a runtime starts").block_on(perform(form == "stream", count, ratio));
}

async fn perform(streams: bool, count: usize, ratio: Option<f64>) {
    let upstream = listen().await;
    let url = format!("http://{}/v1", upstream.local_addr().expect("it is bound"));
    let url = UpstreamSettings::new(url.parse().expect("it is a URL"), None);
    tokio::spawn(upstream::serve(upstream));

    let telemetry = match ratio {
        Some(ratio) => exporting(ratio).await,
        None => Telemetry::default(),
    };
    let settings = Settings { upstreams: vec![url], telemetry, ..Settings::default() };
    let store = antiphon_store::open("sqlite::memory:").await.expect("the store opens");
    let listener = listen().await;
    let address = listener.local_addr().expect("it is bound");
    let server = Server::prepare(listener, settings, store).await.expect("it is prepared");
    let (stop, stopped) = oneshot::channel::<()>();
    let serving = tokio::spawn(server.run(async { drop(stopped.await) }));

    let mut client = Client::connect(address).await;
    for turn in 0..count {
        client.turn(turn, streams).await;
    }
    drop(client);
    drop(stop);
    // The end exports the last spans.
    serving.await.expect("it does not panic").expect("it stops");
}

/// The export of this share of the traces to a receiver in this process.
async fn exporting(ratio: f64) -> Telemetry {
    let receiver = listen().await;
    let endpoint = format!("http://{}/v1/traces", receiver.local_addr().expect("it is bound"));
    tokio::spawn(receiver::serve(receiver));
    let endpoint = endpoint.parse().expect("it is a URL");
    let exporter = OtlpExporter { endpoint, ..OtlpExporter::default() };
    let sampler = TraceSampler { follows_parent: true, ratio };
    let traces = TraceExport { exporter, sampler, ..TraceExport::default() };
    Telemetry { traces: Some(traces), ..Telemetry::default() }
}

async fn listen() -> TcpListener {
    TcpListener::bind("127.0.0.1:0").await.expect("a loopback port is free")
}
