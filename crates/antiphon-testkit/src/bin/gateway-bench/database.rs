//! A PostgreSQL database, and the counts of a server's use of it.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use anyhow::Context as _;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::AbortHandle;
use tokio_postgres::{Client, NoTls};

/// A proxy in front of a database, which counts round trips. It stops when it is dropped.
pub(crate) struct CountingProxy {
    /// The URL of the database through the proxy.
    pub(crate) url: String,
    round_trips: Arc<AtomicU64>,
    database: Client,
    tasks: [AbortHandle; 2],
}

/// The work of a database so far.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DatabaseWork {
    /// How often a client sent something after the server had answered.
    pub(crate) round_trips: u64,
    /// The length of the write-ahead log.
    pub(crate) wal_bytes: u64,
}

impl CountingProxy {
    pub(crate) async fn start(url: &str) -> anyhow::Result<Self> {
        let (database, connection) = tokio_postgres::connect(url, NoTls).await?;
        let connected = tokio::spawn(async { drop(connection.await) });
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let own = listener.local_addr()?;
        let (before, rest) = url.split_once("@127.0.0.1:").context("the host is the loopback")?;
        let (port, name) = rest.split_once('/').context("the URL has a name")?;
        let server = SocketAddr::new(own.ip(), port.parse()?);
        let round_trips = Arc::new(AtomicU64::new(0));
        let accepting = tokio::spawn(accept(listener, server, Arc::clone(&round_trips)));
        let tasks = [connected.abort_handle(), accepting.abort_handle()];
        Ok(Self { url: format!("{before}@{own}/{name}"), round_trips, database, tasks })
    }

    pub(crate) async fn work(&self) -> anyhow::Result<DatabaseWork> {
        let row = self.database.query_one(WAL_BYTES, &[]).await?;
        let wal_bytes = u64::try_from(row.get::<_, i64>(0))?;
        Ok(DatabaseWork { round_trips: self.round_trips.load(Ordering::Relaxed), wal_bytes })
    }
}

const WAL_BYTES: &str = "SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::bigint";

impl Drop for CountingProxy {
    fn drop(&mut self) {
        self.tasks.iter().for_each(AbortHandle::abort);
    }
}

async fn accept(listener: TcpListener, server: SocketAddr, round_trips: Arc<AtomicU64>) {
    while let Ok((client, _)) = listener.accept().await {
        let Ok(server) = TcpStream::connect(server).await else { continue };
        drop((client.set_nodelay(true), server.set_nodelay(true)));
        let (from_client, to_client) = client.into_split();
        let (from_server, to_server) = server.into_split();
        // The number of answers since the client last sent something.
        let answers = Arc::new(AtomicU64::new(1));
        let (round_trips, seen) = (Arc::clone(&round_trips), Arc::clone(&answers));
        tokio::spawn(copy(from_client, to_server, move || {
            if seen.swap(0, Ordering::Relaxed) > 0 {
                round_trips.fetch_add(1, Ordering::Relaxed);
            }
        }));
        tokio::spawn(copy(from_server, to_client, move || {
            answers.fetch_add(1, Ordering::Relaxed);
        }));
    }
}

/// Copies all bytes, and announces each piece before it is sent.
async fn copy(mut from: OwnedReadHalf, mut to: OwnedWriteHalf, announce: impl Fn()) {
    let mut piece = vec![0; 64 << 10];
    while let Ok(length @ 1..) = from.read(&mut piece).await {
        announce();
        if to.write_all(&piece[..length]).await.is_err() {
            return;
        }
    }
}
