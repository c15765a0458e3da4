//! The fake upstream as a program, for clients in other languages.

use std::error::Error;
use std::io;
use std::net::SocketAddr;

use antiphon_testkit::FakeUpstream;

const USAGE: &str = "usage: fake-upstream [--listen ADDR]";

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let terminated = terminated()?;
    let upstream = FakeUpstream::bind(listen_address(std::env::args().skip(1))?).await?;
    println!("fake upstream listening on {}", upstream.base_url());
    tokio::select! {
        () = terminated => Ok(()),
        interrupted = tokio::signal::ctrl_c() => Ok(interrupted?),
    }
}

/// Listens for SIGTERM, and waits for it.
#[cfg(unix)]
fn terminated() -> io::Result<impl Future<Output = ()>> {
    use tokio::signal::unix::{SignalKind, signal};

    let mut signal = signal(SignalKind::terminate())?;
    Ok(async move { _ = signal.recv().await })
}

/// Windows has no SIGTERM.
#[cfg(windows)]
#[expect(clippy::unnecessary_wraps, reason = "it can fail on other systems")]
fn terminated() -> io::Result<impl Future<Output = ()>> {
    Ok(std::future::pending())
}

fn listen_address(
    mut arguments: impl Iterator<Item = String>,
) -> Result<SocketAddr, Box<dyn Error>> {
    match (arguments.next().as_deref(), arguments.next(), arguments.next()) {
        (None, ..) => Ok(SocketAddr::from(([127, 0, 0, 1], 0))),
        (Some("--listen"), Some(address), None) => Ok(address.parse()?),
        _ => Err(USAGE.into()),
    }
}
