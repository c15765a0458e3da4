//! Messages of HTTP/1.1 on a connection, read with as little work as possible.

use std::io;

use tokio::io::AsyncReadExt as _;
use tokio::net::TcpStream;

/// The end of a chunked body.
const LAST_CHUNK: &[u8] = b"\r\n0\r\n\r\n";

/// Reads a message into `received` and returns `false` if the peer has closed the connection.
pub(crate) async fn read_message(
    connection: &mut TcpStream,
    received: &mut Vec<u8>,
) -> io::Result<bool> {
    received.clear();
    while !is_complete(received) {
        if connection.read_buf(received).await? == 0 {
            return Ok(false);
        }
    }
    Ok(true)
}

fn is_complete(received: &[u8]) -> bool {
    let Some(head) = received.windows(4).take(HEAD).position(|four| four == b"\r\n\r\n") else {
        return false;
    };
    match content_length(&received[..head]) {
        Some(length) => received.len() >= head + 4 + length,
        None => received.ends_with(LAST_CHUNK),
    }
}

/// The maximum length of a head.
const HEAD: usize = 4096;

fn content_length(head: &[u8]) -> Option<usize> {
    let head = std::str::from_utf8(head).ok()?;
    let mut headers = head.lines().filter_map(|line| line.split_once(": "));
    let (_, length) = headers.find(|(name, _)| name.eq_ignore_ascii_case("content-length"))?;
    length.parse().ok()
}
