//! A caller that controls how much it reads.

use std::io;
use std::net::SocketAddr;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

/// A caller that has sent one request.
pub(crate) struct Caller {
    connection: TcpStream,
}

impl Caller {
    /// Sends a request and reads nothing.
    pub(crate) async fn send(
        gateway: SocketAddr,
        (method, path): (&str, &str),
        body: &[u8],
    ) -> io::Result<Self> {
        let mut connection = TcpStream::connect(gateway).await?;
        let length = body.len();
        let head = format!(
            "{method} {path} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer token\r\n\
             content-type: application/json\r\ncontent-length: {length}\r\n\
             connection: close\r\n\r\n"
        );
        connection.write_all(head.as_bytes()).await?;
        connection.write_all(body).await?;
        Ok(Self { connection })
    }

    /// Reads the head and possibly some of the body. Fails if the status is not 200.
    pub(crate) async fn read_head(&mut self) -> io::Result<Vec<u8>> {
        let mut read = Vec::with_capacity(4096);
        while !read.windows(4).any(|bytes| bytes == b"\r\n\r\n") {
            if self.connection.read_buf(&mut read).await? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
        match read.starts_with(b"HTTP/1.1 200 ") {
            true => Ok(read),
            false => Err(io::Error::other(String::from_utf8_lossy(&read).into_owned())),
        }
    }

    /// Reads the whole answer. Returns its length and its last bytes.
    pub(crate) async fn read_to_end(mut self) -> io::Result<(u64, String)> {
        let mut last = self.read_head().await?;
        let mut length = last.len() as u64;
        let mut piece = vec![0; 256 << 10];
        loop {
            let read = self.connection.read(&mut piece).await?;
            if read == 0 {
                return Ok((length, String::from_utf8_lossy(&last).into_owned()));
            }
            length += read as u64;
            last.extend_from_slice(&piece[..read]);
            last.drain(..last.len().saturating_sub(1024));
        }
    }
}
