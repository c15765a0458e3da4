//! `antiphon serve`.

use std::io::{self, Write as _};
use std::net::SocketAddr;

use antiphon_gateway::Server;
use tokio::net::TcpListener;
use tokio::sync::oneshot;

use crate::failure::Failure;
use crate::greeting::{Greeting, Shown, base_url};
use crate::keepers::Keepers;
use crate::logging::Format;
use crate::settings::Configuration;
use crate::signals::{Hangups, Signals};

/// Serves until a signal asks for the end, then lets open turns end.
pub(crate) fn serve(configuration: Configuration, format: Format) -> Result<(), Failure> {
    tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::runtime(format!("the runtime cannot be started: {error}")))?
        .block_on(run(configuration, format))
}

/// Binds before it opens the store: a second gateway, started by mistake, ends at the port that the
/// first one holds and does not touch its conversations.
async fn run(configuration: Configuration, format: Format) -> Result<(), Failure> {
    configuration.log_warnings();
    let Configuration { listen, store, gateway, warnings: _ } = configuration;
    make_room_for_connections();
    let unheard = |error| Failure::runtime(format!("signals cannot be heard: {error}"));
    let signals = Signals::listen().map_err(unheard)?;
    let hangups = Hangups::listen().map_err(unheard)?;
    let (listener, address) = bind(listen).await?;
    let store = antiphon_store::open(&store)
        .await
        .map_err(|error| Failure::runtime(format!("the store cannot be opened: {error}")))?;

    let keepers = Keepers::of(&gateway);
    let shown = Shown::of(&gateway, &keepers);
    let server = Server::prepare(listener, gateway, store)
        .await
        .map_err(|error| Failure::runtime(format!("the gateway cannot start: {error}")))?;

    keepers.log();
    announce(&Greeting { address, shown, keepers }, format);
    let (stop, stopped) = oneshot::channel();
    let shutdown = async {
        // An error is the sender's end without a signal: the process is ending all the same.
        let _ = stopped.await;
    };
    tokio::select! {
        served = server.run(shutdown) => {
            served.map_err(|error| Failure::runtime(format!("serving failed: {error}")))
        }
        failure = relay(signals, stop) => Err(failure),
        never = hangups.log_each() => match never {},
    }
}

/// Every open stream takes two files, the caller's connection and the upstream's. Systems let a
/// process have few at first, and more when it asks.
pub(crate) fn make_room_for_connections() {
    match rlimit::increase_nofile_limit(u64::MAX) {
        Ok(files) => tracing::debug!(files, "files that may be open at once"),
        Err(error) => tracing::warn!(%error, "the limit on open files stays as it is"),
    }
}

async fn bind(address: SocketAddr) -> Result<(TcpListener, SocketAddr), Failure> {
    let failure = |error| Failure::runtime(format!("cannot listen on {address}: {error}"));
    let listener = TcpListener::bind(address).await.map_err(failure)?;
    let address = listener.local_addr().map_err(failure)?;
    Ok((listener, address))
}

/// The first signal asks for the end; this returns at the second, which does not wait for it.
async fn relay(mut signals: Signals, stop: oneshot::Sender<()>) -> Failure {
    let signal = signals.next().await;
    tracing::info!(signal, "stopping; a second signal does not wait for open turns");
    // An error is a gateway that has ended already.
    let _ = stop.send(());
    let signal = signals.next().await;
    Failure::runtime(format!("stopped by a second signal, {signal}, before every turn had ended"))
}

/// Standard output gets one line, for programs; people read the rest on standard error, unless that is
/// for programs too. Neither being read is no reason not to serve.
fn announce(greeting: &Greeting, format: Format) {
    let mut out = io::stdout().lock();
    let ready = writeln!(out, "antiphon listening on {}", base_url(greeting.address));
    if let Err(error) = ready.and_then(|()| out.flush()) {
        tracing::warn!(%error, "the readiness line could not be written");
    }
    match format {
        Format::Text => _ = writeln!(io::stderr(), "{greeting}"),
        Format::Json => tracing::info!(base_url = base_url(greeting.address), "listening"),
    }
}
