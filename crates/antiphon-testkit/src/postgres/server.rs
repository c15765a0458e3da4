//! A server and its databases.

use std::io;
use std::net::{Ipv4Addr, TcpListener};
use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};

use tempfile::TempDir;
use tokio::sync::OnceCell;
use tokio_postgres::NoTls;

use super::account::Account;
use super::cluster::{self, PASSWORD, USER};
use super::programs::Programs;
use super::watchdog::{Phase, Signal, Watchdog};

/// A PostgreSQL server. Dropped, it is shut down at once and its files are removed.
///
/// A test whose server cannot be started fails with the reason; where no PostgreSQL is to be found,
/// with the command that installs it.
#[derive(Debug)]
pub struct Server {
    // In this order: what runs ends before its files go.
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
    /// It does not: it survives the server, not the machine. For speed.
    Relaxed,
    /// It does, as a server does that is not for tests.
    Synced,
}

/// How it starts and ends.
impl Server {
    /// The server that all tests of this process share. It ends with the process.
    pub async fn shared() -> &'static Self {
        static SHARED: OnceCell<Server> = OnceCell::const_new();
        SHARED.get_or_init(Self::start).await
    }

    /// A server of its own, for a test that stops or restarts it.
    pub async fn start() -> Self {
        Self::with(Durability::Relaxed).await
    }

    /// A server of its own, whose commits wait for the disk, or do not.
    pub async fn with(durability: Durability) -> Self {
        let server = Self::try_start(durability).await;
        server.unwrap_or_else(|error| panic!("PostgreSQL cannot be started: {error}"))
    }

    async fn try_start(durability: Durability) -> io::Result<Self> {
        let folder = tempfile::Builder::new().prefix("antiphon-postgres-").tempdir()?;
        let account = Account::of(folder.path())?;
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

    /// A port that is free now may be taken before the server listens; then another will do.
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

    /// Shuts it down: sessions are ended, what they have not committed is rolled back.
    pub async fn stop(&mut self) {
        self.end(Signal::FastShutdown).await;
    }

    /// Shuts it down at once, as a crash would: its next start recovers what was committed.
    pub async fn kill(&mut self) {
        self.end(Signal::ImmediateShutdown).await;
    }

    /// Starts it again, on its port and its files, after it was stopped or killed.
    pub async fn start_again(&mut self) {
        assert!(self.running.is_none(), "it is to be stopped before it starts");
        self.run().await.unwrap_or_else(|error| panic!("PostgreSQL starts again: {error}"));
    }

    /// Stops it and starts it again.
    pub async fn restart(&mut self) {
        self.stop().await;
        self.start_again().await;
    }

    /// Halts all its processes: connections stay, and nothing answers until [`Self::resume`].
    pub async fn pause(&mut self) {
        self.tell(Signal::Pause, Phase::Paused).await;
    }

    /// Lets it go on.
    pub async fn resume(&mut self) {
        self.tell(Signal::Resume, Phase::Ready).await;
    }

    async fn end(&mut self, signal: Signal) {
        self.tell(signal, Phase::Ended).await;
        // Nothing is left to be ended, so that its files stay.
        self.running = None;
    }

    async fn tell(&mut self, signal: Signal, phase: Phase) {
        let running = self.running.as_mut().expect("the server runs");
        running.signal(signal).expect("the server runs");
        running.reached(phase).await.unwrap_or_else(|error| panic!("{phase:?}: {error}"));
    }

    async fn run(&mut self) -> io::Result<()> {
        let running = Watchdog::start(self.account, self.folder.path(), &self.command())?;
        running.reached(Phase::Ready).await?;
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

/// Where it is.
impl Server {
    /// Makes an empty database; its URL, `postgres://USER:PASSWORD@127.0.0.1:PORT/NAME`.
    pub async fn database(&self) -> String {
        self.create_database("template1").await
    }

    /// Makes a copy of a database of this server, which nobody may be connected to; its URL. It is
    /// made sooner than many tables are.
    pub async fn copy_of(&self, url: &str) -> String {
        let (_, name) = url.rsplit_once('/').expect("it is the URL of a database");
        self.create_database(name).await
    }

    async fn create_database(&self, template: &str) -> String {
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

    /// The URL of a database that is always there, for what is done to the server itself.
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

/// Enough connections for as many tests at a time as a large machine runs.
const SETTINGS: [&str; 4] =
    ["max_connections=1000", "shared_buffers=32MB", "log_line_prefix=", "log_checkpoints=off"];
