//! A way to the server on which a connection is lost at its worst moment, and on which round trips
//! are counted.

use std::net::Ipv4Addr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

/// When a connection is cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cut {
    /// The server never hears of the commit.
    BeforeTheCommit,
    /// The server commits, and its answer is lost.
    AfterTheCommit,
    /// The client loses the connection. The server reads the last bytes of it just before another
    /// connection begins a transaction.
    Delayed,
}

/// The bytes of a lost connection that the server has not read.
type Delayed = Arc<Mutex<Option<(TcpStream, Vec<u8>)>>>;

/// Forwards connections to a server of the loopback; cuts one when told to.
pub(crate) struct Proxy {
    /// The database's URL, by way of here.
    pub(crate) url: String,
    next: Arc<Mutex<Option<Cut>>>,
    /// The count for connections that are opened from now on.
    counter: Arc<Mutex<RoundTrips>>,
}

/// Counts how often clients send something after the server has answered.
#[derive(Clone, Default)]
pub(crate) struct RoundTrips(Arc<AtomicUsize>);

impl RoundTrips {
    /// The number since the last call.
    pub(crate) fn take(&self) -> usize {
        self.0.swap(0, Ordering::Relaxed)
    }
}

impl Proxy {
    /// A way to the database of this URL.
    pub(crate) async fn to(url: &str) -> Self {
        let port: u16 = url.rsplit([':', '/']).nth(1).unwrap().parse().unwrap();
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let own = listener.local_addr().unwrap().port();
        let next = Arc::<Mutex<Option<Cut>>>::default();
        let counter = Arc::<Mutex<RoundTrips>>::default();
        let (cuts, counters) = (Arc::clone(&next), Arc::clone(&counter));
        let delayed = Delayed::default();
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let round_trips = counters.lock().unwrap().clone();
                let cuts = (Arc::clone(&cuts), Arc::clone(&delayed));
                tokio::spawn(forward(client, port, cuts, round_trips));
            }
        });
        Self { url: url.replace(&format!(":{port}/"), &format!(":{own}/")), next, counter }
    }

    /// Counts the round trips of connections that are opened from now on.
    pub(crate) fn count_round_trips(&self) -> RoundTrips {
        let fresh = RoundTrips::default();
        *self.counter.lock().unwrap() = fresh.clone();
        fresh
    }

    /// Cuts the next connection that commits.
    pub(crate) fn cut(&self, cut: Cut) {
        *self.next.lock().unwrap() = Some(cut);
    }

    /// Whether a connection was cut since.
    pub(crate) fn has_cut(&self) -> bool {
        self.next.lock().unwrap().is_none()
    }
}

async fn forward(
    mut client: TcpStream,
    port: u16,
    (next, delayed): (Arc<Mutex<Option<Cut>>>, Delayed),
    round_trips: RoundTrips,
) {
    let mut server = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).await.unwrap();
    let (mut asked, mut answered) = ([0; 16 * 1024], [0; 16 * 1024]);
    let mut has_answered = true;
    loop {
        tokio::select! {
            read = client.read(&mut asked) => {
                let Ok(length @ 1..) = read else { return };
                round_trips.0.fetch_add(usize::from(has_answered), Ordering::Relaxed);
                has_answered = false;
                if contains(&asked[..length], b"BEGIN ") {
                    let lost = delayed.lock().unwrap().take();
                    if let Some((server, asked)) = lost {
                        deliver(server, &asked).await;
                    }
                }
                let cut = commits(&asked[..length]).then(|| next.lock().unwrap().take()).flatten();
                if cut == Some(Cut::BeforeTheCommit) {
                    return;
                }
                if cut == Some(Cut::Delayed) {
                    *delayed.lock().unwrap() = Some((server, asked[..length].to_vec()));
                    return;
                }
                server.write_all(&asked[..length]).await.unwrap();
                if cut == Some(Cut::AfterTheCommit) {
                    while !commits(&answered) {
                        let Ok(1..) = server.read(&mut answered).await else { return };
                    }
                    return;
                }
            }
            read = server.read(&mut answered) => {
                let Ok(length @ 1..) = read else { return };
                has_answered = true;
                if client.write_all(&answered[..length]).await.is_err() {
                    return;
                }
            }
        }
    }
}

/// Lets the server read the bytes, and waits until it has committed or rolled back.
async fn deliver(mut server: TcpStream, asked: &[u8]) {
    server.write_all(asked).await.unwrap();
    let (mut answered, mut buffer) = (Vec::new(), vec![0; 16 * 1024]);
    while !commits(&answered) && !contains(&answered, b"ROLLBACK\0") {
        let Ok(length @ 1..) = server.read(&mut buffer).await else { return };
        answered.extend_from_slice(&buffer[..length]);
    }
}

/// Whether the bytes contain the command, or the server's answer to it.
fn commits(bytes: &[u8]) -> bool {
    contains(bytes, b"COMMIT\0")
}

fn contains(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|bytes| bytes == part)
}
