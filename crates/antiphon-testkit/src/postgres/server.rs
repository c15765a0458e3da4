//! A server and its databases.

use std::io;
use std::net::{Ipv4Addr, TcpListener};
use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tempfile::TempDir;
use tokio::sync::OnceCell;
use tokio::time::timeout;
use tokio_postgres::NoTls;

use super::account::Account;
use super::cluster::{self, PASSWORD, USER};
use super::programs::Programs;
use super::watchdog::{Phase, Signal, Watchdog};

/// A PostgreSQL server. Dropping it shuts it down immediately and deletes its files.
///
/// A test whose server cannot start fails with the reason. If PostgreSQL is not installed, the
/// message has the command that installs it.
#[derive(Debug)]
pub struct Server {
    // The order matters: the process ends before its files are deleted.
    running: Option<Watchdog>,
    folder: TempDir,
    files: PathBuf,
    account: Account,
    programs: Programs,
    port: u16,
    durability: Durability,
    databases: AtomicU64,
}

/// Whether a commit waits for the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Durability {
    /// Commits do not wait: they survive a crash of the server, but not of the machine. Faster.
    Relaxed,
    /// Commits wait for the disk, as on a production server.
    Synced,
}

/// Starting and stopping.
impl Server {
    /// The server that all tests of this process share. It ends with the process.
    pub async fn shared() -> &'static Self {
        static SHARED: OnceCell<Server> = OnceCell::const_new();
        SHARED.get_or_init(Self::start).await
    }

    /// Starts a separate server, for a test that stops or restarts it.
    pub async fn start() -> Self {
        Self::with_durability(Durability::Relaxed).await
    }

    /// Starts a separate server with this durability.
    pub async fn with_durability(durability: Durability) -> Self {
        let server = Self::try_start(durability).await;
        server.unwrap_or_else(|error| panic!("PostgreSQL cannot be started: {error}"))
    }

    /// Starts a separate server with this durability, or returns the reason why it cannot start.
    pub async fn try_start(durability: Durability) -> io::Result<Self> {
        let folder = tempfile::Builder::new().prefix("antiphon-postgres-").tempdir()?;
        let account = Account::for_folder(folder.path())?;
        let programs = Programs::find(account, folder.path()).await?;
        let files = cluster::create(&programs, account, folder.path()).await?;
        let databases = AtomicU64::new(0);
        let mut server = Self {
            running: None,
            folder,
            files,
            account,
            programs,
            port: 0,
            durability,
            databases,
        };
        server.start_on_a_free_port().await?;
        Ok(server)
    }

    /// Another process may take the free port before the server listens, so this retries.
    async fn start_on_a_free_port(&mut self) -> io::Result<()> {
        for _ in 1..PORTS_TRIED {
            self.port = free_port()?;
            if self.run().await.is_ok() {
                return Ok(());
            }
        }
        self.port = free_port()?;
        self.run().await
    }

    /// Shuts the server down. Sessions end, and uncommitted transactions are rolled back.
    pub async fn stop(&mut self) {
        self.end(Signal::FastShutdown).await;
    }

    /// Shuts the server down immediately, as a crash would. The next start runs recovery.
    pub async fn kill(&mut self) {
        self.end(Signal::ImmediateShutdown).await;
    }

    /// Starts a stopped server again, with the same port and files.
    pub async fn start_again(&mut self) {
        assert!(self.running.is_none(), "stop the server before you start it again");
        self.run().await.unwrap_or_else(|error| panic!("PostgreSQL cannot start again: {error}"));
    }

    /// Stops the server and starts it again.
    pub async fn restart(&mut self) {
        self.stop().await;
        self.start_again().await;
    }

    /// Suspends all processes. Connections stay open, but nothing answers until [`Self::resume`].
    pub async fn pause(&mut self) {
        self.signal(Signal::Pause, Phase::Paused).await;
    }

    /// Resumes the suspended processes.
    pub async fn resume(&mut self) {
        self.signal(Signal::Resume, Phase::Ready).await;
    }

    async fn end(&mut self, signal: Signal) {
        self.signal(signal, Phase::Ended).await;
        // Nothing is left to end, so the files stay.
        self.running = None;
    }

    async fn signal(&mut self, signal: Signal, phase: Phase) {
        let running = self.running.as_mut().expect("the server runs");
        running.signal(signal).expect("the server runs");
        running.wait_for_phase(phase).await.unwrap_or_else(|error| panic!("{phase:?}: {error}"));
    }

    async fn run(&mut self) -> io::Result<()> {
        let running = Watchdog::start(self.account, self.folder.path(), &self.command())?;
        running.wait_for_phase(Phase::Ready).await?;
        self.running = Some(running);
        Ok(())
    }

    fn command(&self) -> Command {
        let mut command = Command::new(self.programs.path("postgres"));
        command.arg("-D").arg(&self.files).arg("-k").arg(self.folder.path());
        command.args(["-h", "127.0.0.1", "-p"]).arg(self.port.to_string());
        let fsync = match self.durability {
            Durability::Relaxed => ["fsync=off", "full_page_writes=off"],
            Durability::Synced => ["fsync=on", "full_page_writes=on"],
        };
        for setting in SETTINGS.iter().chain(&fsync) {
            command.arg("-c").arg(setting);
        }
        command
    }
}

/// Addresses and databases.
impl Server {
    /// Creates an empty database and returns its URL,
    /// `postgres://USER:PASSWORD@127.0.0.1:PORT/NAME`.
    pub async fn create_database(&self) -> String {
        self.create_from_template("template1").await
    }

    /// Copies a database of this server and returns the URL of the copy. No client may be connected
    /// to the original. Copying is faster than creating many tables.
    pub async fn copy_database(&self, url: &str) -> String {
        let (_, name) = url.rsplit_once('/').expect("it is the URL of a database");
        self.create_from_template(name).await
    }

    /// Waits until no client is connected to a database. Connections end later than their clients.
    pub async fn wait_for_disconnection(&self, url: &str) {
        let (_, name) = url.rsplit_once('/').expect("it is the URL of a database");
        let (client, connection) =
            tokio_postgres::connect(&self.admin_url(), NoTls).await.expect("the server is there");
        let connection = tokio::spawn(connection);
        let connected = "SELECT FROM pg_stat_activity WHERE datname = $1";
        let is_connected = async || {
            let rows = client.query(connected, &[&name]).await.expect("the statement is right");
            !rows.is_empty()
        };
        let wait = async { while is_connected().await {} };
        timeout(DISCONNECTION_TIMEOUT, wait).await.expect("the clients disconnect");
        drop(client);
        connection.await.expect("it does not panic").expect("the connection ends well");
    }

    async fn create_from_template(&self, template: &str) -> String {
        let name = format!("test_{}", self.databases.fetch_add(1, Ordering::Relaxed));
        let (client, connection) =
            tokio_postgres::connect(&self.admin_url(), NoTls).await.expect("the server is there");
        let connection = tokio::spawn(connection);
        let create = format!("CREATE DATABASE {name} TEMPLATE {template} STRATEGY file_copy");
        client.batch_execute(&create).await.expect("a database can be made");
        drop(client);
        connection.await.expect("it does not panic").expect("the connection ends well");
        self.url(&name)
    }

    /// The URL of a database that always exists, for commands about the server itself.
    pub fn admin_url(&self) -> String {
        self.url("postgres")
    }

    /// The folder of its Unix socket.
    pub fn socket_folder(&self) -> &std::path::Path {
        self.folder.path()
    }

    fn url(&self, database: &str) -> String {
        format!("postgres://{USER}:{PASSWORD}@127.0.0.1:{}/{database}", self.port)
    }
}

fn free_port() -> io::Result<u16> {
    Ok(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port())
}

const PORTS_TRIED: usize = 3;

const DISCONNECTION_TIMEOUT: Duration = Duration::from_mins(1);

/// Enough connections for the parallel tests of a large machine.
const SETTINGS: [&str; 4] =
    ["max_connections=1000", "shared_buffers=32MB", "log_line_prefix=", "log_checkpoints=off"];
