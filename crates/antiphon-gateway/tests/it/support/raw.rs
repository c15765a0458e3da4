//! A connection of which the test says every byte.

use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};
use tokio::time::interval;

use super::watchdog::soon;

/// A connection to the gateway that takes little at a time.
pub(crate) struct Raw(TcpStream);

/// So that what is not read fills the connection soon. Windows of less than a loopback's packet
/// would have systems wait for longer and longer before they send again.
const RECEIVED_AHEAD: u32 = 256 << 10;

impl Raw {
    pub(super) async fn connect(root: &str) -> Self {
        let address = root.strip_prefix("http://").expect("it is a URL");
        let socket = TcpSocket::new_v4().expect("a socket can be had");
        socket.set_recv_buffer_size(RECEIVED_AHEAD).expect("a buffer may be small");
        let stream = socket.connect(address.parse().expect("it is an address")).await;
        Self(stream.expect("the gateway listens"))
    }

    /// Sends these bytes.
    pub(crate) async fn send(&mut self, bytes: &str) {
        soon("the gateway reads", self.0.write_all(bytes.as_bytes())).await.expect("it is open");
    }

    /// Sends bytes again and again until the connection breaks or so many have been taken; how many
    /// were.
    pub(crate) async fn flood(&mut self, bytes: &[u8], most: usize) -> usize {
        let mut taken = 0;
        while taken < most {
            match soon("the gateway reads, or closes the connection", self.0.write(bytes)).await {
                Ok(written) => taken += written,
                Err(_) => break,
            }
        }
        taken
    }

    /// A request with this body, whole or not: `length` is what the head announces.
    pub(crate) async fn post(&mut self, path: &str, length: usize, body: &str) {
        self.send(&format!(
            "POST {path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n\
             content-length: {length}\r\n\r\n{body}"
        ))
        .await;
    }

    /// Sends a byte at a time, at this pace, until the gateway says something; all that it says.
    pub(crate) async fn drip(mut self, pace: Duration) -> String {
        let (mut reader, mut writer) = self.0.split();
        let (mut pace, mut heard) = (interval(pace), Vec::new());
        let dripping = async {
            loop {
                tokio::select! {
                    read = reader.read_buf(&mut heard) => if !matches!(read, Ok(1..)) { break },
                    _ = pace.tick(), if heard.is_empty() => drop(writer.write_all(b"x").await),
                }
            }
        };
        soon("the gateway closes the connection", dripping).await;
        String::from_utf8(heard).expect("it is text")
    }

    /// Reads until the gateway closes the connection; all of it, as text.
    pub(crate) async fn read_to_end(mut self) -> String {
        let mut heard = Vec::new();
        soon("the gateway closes the connection", self.0.read_to_end(&mut heard))
            .await
            .expect("the connection ends well");
        String::from_utf8(heard).expect("it is text")
    }

    /// Reads until the gateway closes the connection, or breaks it, and forgets what came.
    pub(crate) async fn discard_to_end(mut self) {
        let mut forgotten = vec![0; 1 << 10];
        let ended = async { while matches!(self.0.read(&mut forgotten).await, Ok(1..)) {} };
        soon("the gateway closes the connection", ended).await;
    }

    /// Reads until these bytes have come; all that came, as text.
    pub(crate) async fn read_until(&mut self, text: &str) -> String {
        let mut heard = Vec::new();
        while !heard.ends_with(text.as_bytes()) {
            let byte = soon("the gateway goes on", self.0.read_u8()).await;
            heard.push(byte.expect("the connection is open"));
        }
        String::from_utf8(heard).expect("it is text")
    }

    /// Reads, and forgets, until these bytes have come and nothing after them; how many came in
    /// all.
    pub(crate) async fn discard_until(&mut self, text: &str) -> usize {
        let (mut piece, mut end, mut count) = (vec![0; 1 << 20], Vec::new(), 0);
        while !end.ends_with(text.as_bytes()) {
            let read = soon("the gateway goes on", self.0.read(&mut piece)).await;
            let read = read.expect("the connection is open");
            assert!(read > 0, "the connection is open");
            count += read;
            end.extend_from_slice(&piece[..read]);
            end.drain(..end.len().saturating_sub(text.len()));
        }
        count
    }

    /// Whether anything has come that is not yet read.
    pub(crate) fn has_unread(&self) -> bool {
        self.0.try_read(&mut [0]).is_ok()
    }
}
