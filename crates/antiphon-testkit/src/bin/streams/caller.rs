//! The client side of one stream.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::timeout;

/// A stream that is open.
pub(crate) struct Caller {
    connection: TcpStream,
    received: Vec<u8>,
}

const BODY: &str = r#"{"model":"fake-model","input":"Tell me a tale","stream":true}"#;
const DELTA: &str = "event: response.output_text.delta\n";
const COMPLETED: &str = "event: response.completed\n";
/// The end of the events and of the body's last chunk.
const END: &str = "data: [DONE]\n\n\r\n0\r\n\r\n";

/// The time limit of each read, far above the expected time.
const TIMEOUT: Duration = Duration::from_mins(1);

impl Caller {
    /// Sends the request and reads until the first piece of text.
    pub(crate) async fn open(gateway: SocketAddr) -> io::Result<Self> {
        let mut caller =
            Self { connection: TcpStream::connect(gateway).await?, received: Vec::new() };
        let length = BODY.len();
        let request = format!(
            "POST /v1/responses HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer token\r\n\
             content-type: application/json\r\ncontent-length: {length}\r\n\r\n{BODY}"
        );
        caller.connection.write_all(request.as_bytes()).await?;
        caller.read_until(|received| count(received, DELTA) > 0).await?;
        Ok(caller)
    }

    /// Reads the next piece of text.
    pub(crate) async fn read_next_delta(mut self) -> io::Result<Self> {
        let before = count(&self.received, DELTA);
        self.read_until(|received| count(received, DELTA) > before).await?;
        Ok(self)
    }

    /// Reads to the end. Fails unless the response completed.
    pub(crate) async fn end(mut self) -> io::Result<()> {
        self.read_until(|received| received.ends_with(END.as_bytes())).await?;
        match count(&self.received, COMPLETED) {
            1 => Ok(()),
            _ => Err(io::Error::other("a stream ended without `response.completed`")),
        }
    }

    async fn read_until(&mut self, has_come: impl Fn(&[u8]) -> bool) -> io::Result<()> {
        while !has_come(&self.received) {
            let read = timeout(TIMEOUT, self.connection.read_buf(&mut self.received)).await;
            if read?? == 0 {
                let received = String::from_utf8_lossy(&self.received).into_owned();
                return Err(io::Error::other(format!("a stream broke after {received:?}")));
            }
        }
        Ok(())
    }
}

fn count(received: &[u8], text: &str) -> usize {
    received.windows(text.len()).filter(|window| *window == text.as_bytes()).count()
}
