//! A way to the server on which a connection is lost at its worst moment.

use std::net::Ipv4Addr;
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
}

/// Forwards connections to a server of the loopback; cuts one when told to.
pub(crate) struct Proxy {
    /// The database's URL, by way of here.
    pub(crate) url: String,
    next: Arc<Mutex<Option<Cut>>>,
}

impl Proxy {
    /// A way to the database of this URL.
    pub(crate) async fn to(url: &str) -> Self {
        let port: u16 = url.rsplit([':', '/']).nth(1).unwrap().parse().unwrap();
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let own = listener.local_addr().unwrap().port();
        let next = Arc::<Mutex<Option<Cut>>>::default();
        let cuts = Arc::clone(&next);
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                tokio::spawn(forward(client, port, Arc::clone(&cuts)));
            }
        });
        Self { url: url.replace(&format!(":{port}/"), &format!(":{own}/")), next }
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

async fn forward(mut client: TcpStream, port: u16, next: Arc<Mutex<Option<Cut>>>) {
    let mut server = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).await.unwrap();
    let (mut asked, mut answered) = ([0; 16 * 1024], [0; 16 * 1024]);
    loop {
        tokio::select! {
            read = client.read(&mut asked) => {
                let Ok(length @ 1..) = read else { return };
                let cut = commits(&asked[..length]).then(|| next.lock().unwrap().take()).flatten();
                if cut == Some(Cut::BeforeTheCommit) {
                    return;
                }
                server.write_all(&asked[..length]).await.unwrap();
                if cut == Some(Cut::AfterTheCommit) {
                    server.read_u8().await.unwrap();
                    return;
                }
            }
            read = server.read(&mut answered) => {
                let Ok(length @ 1..) = read else { return };
                if client.write_all(&answered[..length]).await.is_err() {
                    return;
                }
            }
        }
    }
}

fn commits(asked: &[u8]) -> bool {
    asked.windows(7).any(|bytes| bytes == b"COMMIT\0")
}
