//! `antiphon serve`.

use std::io::{self, Write as _};
use std::net::SocketAddr;

use antiphon_gateway::Server;
use antiphon_gateway::settings::{LocalModel, Settings};
use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use tokio::sync::oneshot;

use crate::failure::Failure;
use crate::greeting::{Credentials, Greeting, base_url, store_name};
use crate::logging::LogFormat;
use crate::platform::{Hangups, Signals, raise_open_file_limit};
use crate::settings::Configuration;
use crate::signals;
use crate::state_owners::StateOwners;

/// Serves until a signal arrives, then waits for open turns to end.
pub(crate) fn serve(configuration: Configuration, format: LogFormat) -> Result<(), Failure> {
    runtime()?.block_on(run(configuration, format))
}

/// The runtime of a gateway.
pub(crate) fn runtime() -> Result<Runtime, Failure> {
    tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::runtime(format!("the runtime cannot be started: {error}")))
}

/// Binds the port before opening the store. A second gateway, started by mistake, fails on the port
/// that the first one holds and does not touch its conversations.
async fn run(configuration: Configuration, format: LogFormat) -> Result<(), Failure> {
    configuration.log_warnings();
    let Configuration { listen, metrics_listen, store, gateway, .. } = configuration;
    let signal_failure =
        |error| Failure::runtime(format!("signal handlers cannot be installed: {error}"));
    let signals = Signals::listen().map_err(signal_failure)?;
    let hangups = Hangups::listen().map_err(signal_failure)?;
    let (listener, address) = bind(listen).await?;
    let metrics = match metrics_listen {
        Some(address) => Some(bind(address).await?),
        None => None,
    };
    let state_owners = StateOwners::from_settings(&gateway);
    let credentials = Credentials::from_settings(&gateway, &state_owners);
    let has_inspector = gateway.inspect.access.is_served_at(address.ip());
    let mut server = prepare(listener, gateway, &store).await?;
    let store = store_name(&store);

    if let Some((listener, address)) = metrics {
        server = server.with_metrics(listener);
        tracing::info!(url = format!("http://{address}/metrics"), "serving metrics");
    }
    state_owners.log();
    announce(&Greeting { address, credentials, state_owners, store, has_inspector }, format);
    let (stop, stopped) = oneshot::channel();
    let shutdown = async {
        // An error means that the sender was dropped without a signal: the process is ending
        // anyway.
        let _ = stopped.await;
    };
    tokio::select! {
        served = server.run(shutdown) => {
            served.map_err(|error| Failure::runtime(format!("serving failed: {error}")))
        }
        failure = stop_on_signal(signals, stop) => Err(failure),
        never = hangups.log_each() => match never {},
    }
}

/// Opens the store, and prepares a gateway on it with the built-in model.
pub(crate) async fn prepare(
    listener: TcpListener,
    mut gateway: Settings,
    store: &str,
) -> Result<Server, Failure> {
    raise_open_file_limit();
    gateway.local_model = Some(BUILT_IN_MODEL);
    let store = antiphon_store::open(store).await;
    let store = store.map_err(|error| Failure::store_not_opened(&error))?;
    Server::prepare(listener, gateway, store)
        .await
        .map_err(|error| Failure::runtime(format!("the gateway cannot start: {error}")))
}

/// Listens on an address. Returns it with the port that port 0 has selected.
pub(crate) async fn bind(address: SocketAddr) -> Result<(TcpListener, SocketAddr), Failure> {
    let failure = |error| Failure::runtime(format!("cannot listen on {address}: {error}"));
    let listener = TcpListener::bind(address).await.map_err(failure)?;
    let address = listener.local_addr().map_err(failure)?;
    Ok((listener, address))
}

/// Asks the server to stop on the first signal. Returns on a second request to stop, without
/// waiting for open turns.
async fn stop_on_signal(mut signals: Signals, stop: oneshot::Sender<()>) -> Failure {
    let signal = signals.next().await;
    tracing::info!(
        signal = signal.as_str(),
        "stopping; a signal after more than a second does not wait for open turns"
    );
    // An error means that the gateway has already ended.
    let _ = stop.send(());
    let signal = signals::second_request(&mut signals).await;
    Failure::runtime(format!("stopped by a second signal, {signal}, before every turn had ended"))
}

/// Announces that the gateway is ready.
///
/// Standard output gets one line, for programs. Standard error gets the greeting, for people,
/// unless the log format is JSON. A failed write does not stop the gateway.
fn announce(greeting: &Greeting, format: LogFormat) {
    let mut out = io::stdout().lock();
    let ready = writeln!(out, "antiphon listening on {}", base_url(greeting.address));
    if let Err(error) = ready.and_then(|()| out.flush()) {
        tracing::warn!(%error, "the readiness line could not be written");
    }
    match format {
        LogFormat::Text => _ = writeln!(io::stderr(), "{greeting}"),
        LogFormat::Json => tracing::info!(base_url = base_url(greeting.address), "listening"),
    }
}

/// The model `sim`, as an upstream of the gateway.
const BUILT_IN_MODEL: LocalModel = LocalModel {
    name: antiphon_sim::NAME,
    context_window: antiphon_sim::CONTEXT_WINDOW,
    respond: antiphon_sim::event_stream,
};
