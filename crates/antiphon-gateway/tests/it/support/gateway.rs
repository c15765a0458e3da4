//! A gateway in a runtime of its own, so that it can be stopped, and killed, as a process is.

use std::io;
use std::thread;

use antiphon_gateway::Server;
use antiphon_gateway::settings::Settings;
use tokio::net::TcpListener;
use tokio::runtime;
use tokio::sync::oneshot;

use super::watchdog::soon;

/// On how many threads a gateway runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Threads {
    /// On one: where it is killed, nothing of it runs any further, as with a process.
    One,
    /// On several, which run turns in parallel.
    Several,
}

/// A gateway that serves on a free loopback port.
pub(crate) struct Gateway {
    root: String,
    stop: oneshot::Sender<()>,
    kill: oneshot::Sender<()>,
    served: oneshot::Receiver<io::Result<()>>,
    thread: thread::JoinHandle<()>,
}

impl Gateway {
    /// Starts it on the store of this URL.
    pub(crate) async fn start(settings: Settings, store: String, threads: Threads) -> Self {
        let (stop, stopped) = oneshot::channel();
        let (kill, killed) = oneshot::channel();
        let (listening, address) = oneshot::channel();
        let (ended, served) = oneshot::channel();
        let thread = thread::spawn(move || {
            let runtime = runtime(threads).expect("a runtime starts");
            runtime.block_on(async move {
                let store = antiphon_store::open(&store).await.expect("the store opens");
                let listener =
                    TcpListener::bind("127.0.0.1:0").await.expect("a loopback port is free");
                let address = listener.local_addr().expect("it is bound");
                let server = Server::prepare(listener, settings, store).await;
                let server = server.expect("the gateway is prepared");
                listening.send(address).expect("the test awaits it");
                let shutdown = async { stopped.await.unwrap_or_default() };
                tokio::select! {
                    result = server.run(shutdown) => drop(ended.send(result)),
                    _ = killed => {}
                }
            });
        });
        let address = soon("the gateway listens", address).await;
        let address = address.expect("it starts");
        Self { root: format!("http://{address}"), stop, kill, served, thread }
    }

    /// Where it listens: `http://127.0.0.1:PORT`.
    pub(crate) fn root(&self) -> &str {
        &self.root
    }

    /// Asks it to stop; what `serve` returned can be awaited.
    pub(crate) fn stop(self) -> Stopping {
        self.stop.send(()).expect("the gateway runs");
        Stopping { served: self.served, thread: self.thread, _alive: self.kill }
    }

    /// Ends it in the middle of whatever it does, and waits until nothing of it runs any more.
    pub(crate) fn kill(self) {
        self.kill.send(()).expect("the gateway runs");
        self.thread.join().expect("it does not panic");
    }
}

/// A gateway that was asked to stop.
pub(crate) struct Stopping {
    served: oneshot::Receiver<io::Result<()>>,
    thread: thread::JoinHandle<()>,
    _alive: oneshot::Sender<()>,
}

impl Stopping {
    /// Waits until `serve` has returned.
    pub(crate) async fn ended(self) {
        let result = soon("the gateway stops", self.served).await;
        result.expect("it was not killed").expect("it stops well");
        self.thread.join().expect("it does not panic");
    }
}

fn runtime(threads: Threads) -> io::Result<runtime::Runtime> {
    let mut builder = match threads {
        Threads::One => runtime::Builder::new_current_thread(),
        Threads::Several => runtime::Builder::new_multi_thread(),
    };
    builder.worker_threads(2).enable_all().build()
}
