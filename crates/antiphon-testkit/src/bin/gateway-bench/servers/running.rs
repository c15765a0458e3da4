//! A running server.

use std::fs;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::path::PathBuf;
use std::process::Stdio;
use std::thread;
use std::time::Duration;

use anyhow::{Context as _, bail};
use tokio::net::TcpStream;
use tokio::process::{Child, Command};
use tokio::time::{Instant, sleep};

use super::antiphon::DATABASE;
use super::wal_index::WalPages;
use super::{Environment, Place, Server, trace};
use crate::client::Client;
use crate::dialogue::Dialogue;
use crate::platform::leave_process_group;
use crate::usage::Usage;

/// A server process. Dropping it ends the process and its descendants.
pub(crate) struct Running {
    process: Child,
    id: u32,
    place: Place,
    server: Server,
}

/// The time limit of a start. A Python server imports for many seconds.
const START: Duration = Duration::from_mins(2);
/// The time limit of a stop.
const STOP: Duration = Duration::from_secs(30);
const POLL: Duration = Duration::from_millis(20);
const LOG_POLL: Duration = Duration::from_millis(1);
const LISTENS: &str = "listening on";

impl Running {
    /// Starts the server, and waits until it accepts connections.
    pub(crate) async fn start(server: Server, place: Place) -> anyhow::Result<Self> {
        fs::create_dir_all(&place.folder)?;
        let (process, id) = spawn(&server, &place)?;
        let mut running = Self { process, id, place, server };
        running.wait_until_ready().await?;
        Ok(running)
    }

    /// Starts another process of the same server, with files of its own and these variables. They
    /// share a database of PostgreSQL.
    pub(crate) async fn start_beside(&self, environment: Environment) -> anyhow::Result<Self> {
        let listen = free_address()?;
        let place = Place {
            listen,
            spare_port: free_address()?.port(),
            upstream: self.place.upstream,
            folder: self.place.folder.join(listen.port().to_string()),
            traced: false,
            stops_in_order: self.place.stops_in_order,
            postgres: self.place.postgres.clone(),
            environment,
        };
        Self::start(self.server.clone(), place).await
    }

    /// Kills the server and its descendants.
    pub(crate) fn kill(&self) {
        kill_group(self.id);
    }

    /// Asks the server to stop, and waits until it has.
    #[expect(clippy::disallowed_methods, reason = "a destructor cannot await")]
    fn stop(&mut self) {
        signal_group("-TERM", self.id);
        let deadline = Instant::now() + STOP;
        while matches!(self.process.try_wait(), Ok(None)) && Instant::now() < deadline {
            thread::sleep(POLL);
        }
        if matches!(self.process.try_wait(), Ok(None)) {
            eprintln!("{} did not stop in {} seconds", self.server.name, STOP.as_secs());
        }
    }

    /// Starts the killed server again with the same files and the same address.
    pub(crate) async fn restart(&mut self) -> anyhow::Result<()> {
        self.process.wait().await?;
        (self.process, self.id) = spawn(&self.server, &self.place)?;
        self.wait_until_ready().await
    }

    /// Starts the killed server again. Returns the time until it has logged its address.
    pub(crate) async fn restart_until_it_listens(&mut self) -> anyhow::Result<Duration> {
        self.process.wait().await?;
        let log = self.place.folder.join("log");
        fs::write(&log, "")?;
        let started = Instant::now();
        (self.process, self.id) = spawn(&self.server, &self.place)?;
        while !fs::read_to_string(&log)?.contains(LISTENS) {
            if started.elapsed() > START || self.process.try_wait()?.is_some() {
                bail!("{} does not listen: see {}", self.server.name, log.display());
            }
            sleep(LOG_POLL).await;
        }
        let took = started.elapsed();
        self.wait_until_ready().await?;
        Ok(took)
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.place.listen
    }

    /// The synced writes so far, if strace counts them.
    pub(crate) fn syncs(&self) -> Option<u64> {
        trace::read(&self.place.folder.join(TRACE))
    }

    /// Whether the server is Antiphon with a SQLite file, which has a write-ahead log.
    pub(crate) fn has_wal(&self) -> bool {
        self.database().exists()
    }

    /// Starts to count the pages of the write-ahead log.
    pub(crate) fn count_wal_pages(&self) -> Option<WalPages> {
        WalPages::count(&self.database())
    }

    fn database(&self) -> PathBuf {
        self.place.folder.join(DATABASE)
    }

    pub(crate) fn usage(&self) -> Usage {
        Usage::of_process(self.id)
    }

    async fn wait_until_ready(&mut self) -> anyhow::Result<()> {
        let deadline = Instant::now() + START;
        let client = Client::new(self.place.listen);
        while !self.answers(&client).await {
            let log = self.place.folder.join("log");
            if let Some(status) = self.process.try_wait()? {
                bail!("{} ended with {status}: see {}", self.server.name, log.display());
            }
            if Instant::now() > deadline {
                bail!("{} does not listen: see {}", self.server.name, log.display());
            }
            sleep(POLL).await;
        }
        Ok(())
    }
}

impl Running {
    /// Whether the server answers a turn. Some accept connections before they know their models.
    async fn answers(&self, client: &Client) -> bool {
        TcpStream::connect(self.place.listen).await.is_ok()
            && client.respond(Dialogue::chain(0).request()).await.is_ok()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if self.place.stops_in_order {
            self.stop();
        }
        kill_group(self.id);
    }
}

fn spawn(server: &Server, place: &Place) -> anyhow::Result<(Child, u32)> {
    let launch = (server.launch)(place);
    for (name, text) in &launch.files {
        fs::write(place.folder.join(name), text)?;
    }
    let log = fs::File::options().create(true).append(true).open(place.folder.join("log"))?;
    let mut process = command(server, place);
    let process = leave_process_group(&mut process)
        .args(&launch.arguments)
        .envs(&launch.environment)
        .envs(&place.environment)
        .current_dir(&place.folder)
        .stdin(Stdio::null())
        .stdout(log.try_clone()?)
        .stderr(log)
        .kill_on_drop(true)
        .spawn()
        .with_context(|| format!("could not start {}", server.program.display()))?;
    let id = process.id().context("the process has ended")?;
    Ok((process, id))
}

/// The command that runs the program, under strace if its synced writes are counted.
fn command(server: &Server, place: &Place) -> Command {
    match trace::program().filter(|_| place.traced) {
        Some(strace) => {
            let mut command = Command::new(strace);
            command.args(trace::arguments(&place.folder.join(TRACE))).arg(&server.program);
            command
        }
        None => Command::new(&server.program),
    }
}

/// The file of strace's output.
const TRACE: &str = "trace";

/// Kills the processes of a group that this benchmark started.
fn kill_group(id: u32) {
    signal_group("-KILL", id);
}

fn signal_group(signal: &str, id: u32) {
    let group = format!("-{id}");
    let kill = std::process::Command::new("kill")
        .args([signal, "--", &group])
        .stderr(Stdio::null())
        .status();
    drop(kill);
}

/// A port of the loopback that nobody uses.
pub(crate) fn free_address() -> io::Result<SocketAddr> {
    TcpListener::bind(("127.0.0.1", 0))?.local_addr()
}
