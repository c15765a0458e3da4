//! One stream, as its caller hears it.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::timeout;

/// A stream that is open.
pub(crate) struct Caller {
    connection: TcpStream,
    heard: Vec<u8>,
}

const BODY: &str = r#"{"model":"fake-model","input":"Tell me a tale","stream":true}"#;
const DELTA: &str = "event: response.output_text.delta\n";
const COMPLETED: &str = "event: response.completed\n";
/// The end of the events, and of the body in its last chunk.
const END: &str = "data: [DONE]\n\n\r\n0\r\n\r\n";

/// How long anything may take; far more than it should.
const PATIENCE: Duration = Duration::from_mins(1);

impl Caller {
    /// Asks, and hears until the first piece of text.
    pub(crate) async fn open(gateway: SocketAddr) -> io::Result<Self> {
        let mut caller = Self { connection: TcpStream::connect(gateway).await?, heard: Vec::new() };
        let length = BODY.len();
        let request = format!(
            "POST /v1/responses HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer token\r\n\
             content-type: application/json\r\ncontent-length: {length}\r\n\r\n{BODY}"
        );
        caller.connection.write_all(request.as_bytes()).await?;
        caller.hear(|heard| count(heard, DELTA) > 0).await?;
        Ok(caller)
    }

    /// Hears the next piece of text.
    pub(crate) async fn go_on(mut self) -> io::Result<Self> {
        let before = count(&self.heard, DELTA);
        self.hear(|heard| count(heard, DELTA) > before).await?;
        Ok(self)
    }

    /// Hears to the end, which has to be a good one.
    pub(crate) async fn end(mut self) -> io::Result<()> {
        self.hear(|heard| heard.ends_with(END.as_bytes())).await?;
        match count(&self.heard, COMPLETED) {
            1 => Ok(()),
            _ => Err(io::Error::other("a stream ended without being completed")),
        }
    }

    async fn hear(&mut self, has_come: impl Fn(&[u8]) -> bool) -> io::Result<()> {
        while !has_come(&self.heard) {
            let read = timeout(PATIENCE, self.connection.read_buf(&mut self.heard)).await;
            if read?? == 0 {
                let heard = String::from_utf8_lossy(&self.heard).into_owned();
                return Err(io::Error::other(format!("a stream broke off behind {heard:?}")));
            }
        }
        Ok(())
    }
}

fn count(heard: &[u8], text: &str) -> usize {
    heard.windows(text.len()).filter(|window| *window == text.as_bytes()).count()
}
