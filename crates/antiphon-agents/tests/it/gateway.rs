//! A gateway in this process, with its built-in model and its store in memory.

use antiphon_gateway::settings::{LocalModel, Settings};
use tokio::net::TcpListener;

/// Starts a gateway. Returns its base URL.
pub(crate) async fn start() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port is free");
    let url = format!("http://{}/v1", listener.local_addr().expect("it is bound"));
    let store = antiphon_store::open("sqlite::memory:").await.expect("the store opens");
    let sim = LocalModel {
        name: antiphon_sim::NAME,
        context_window: antiphon_sim::CONTEXT_WINDOW,
        respond: antiphon_sim::event_stream,
    };
    let settings = Settings { local_model: Some(sim), ..Settings::default() };
    tokio::spawn(antiphon_gateway::serve(listener, settings, store, std::future::pending()));
    url
}
