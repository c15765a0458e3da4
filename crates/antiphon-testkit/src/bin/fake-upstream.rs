//! The fake upstream as a program, for clients in other languages.

use std::error::Error;
use std::net::SocketAddr;

use antiphon_testkit::FakeUpstream;
use tokio::signal::unix::{SignalKind, signal};

const USAGE: &str = "usage: fake-upstream [--listen ADDR]";

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut terminated = signal(SignalKind::terminate())?;
    let upstream = FakeUpstream::bind(listen_address(std::env::args().skip(1))?).await?;
    println!("fake upstream listening on {}", upstream.base_url());
    tokio::select! {
        _ = terminated.recv() => Ok(()),
        interrupted = tokio::signal::ctrl_c() => Ok(interrupted?),
    }
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
