//! The client: one connection, one request at a time.

use std::net::SocketAddr;

use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;

use crate::wire::read_message;

pub(crate) struct Client {
    connection: TcpStream,
    received: Vec<u8>,
}

impl Client {
    pub(crate) async fn connect(gateway: SocketAddr) -> Self {
        let connection = TcpStream::connect(gateway).await.expect("the gateway listens");
        Self { connection, received: Vec::with_capacity(1 << 20) }
    }

    /// Sends a turn of a new dialogue and reads the whole answer, which must have completed.
    pub(crate) async fn turn(&mut self, number: usize, streams: bool) {
        let input = format!("Tell me about harbour number {number:06}");
        let body = format!(r#"{{"model":"m","stream":{streams},"input":"{input}"}}"#);
        let length = body.len();
        let request = format!(
            "POST /v1/responses HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer token\r\n\
             content-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}"
        );
        self.connection.write_all(request.as_bytes()).await.expect("the gateway reads");
        let read = read_message(&mut self.connection, &mut self.received).await;
        assert!(read.expect("the gateway answers"), "the gateway closed the connection");
        let answer = String::from_utf8_lossy(&self.received);
        assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
        let marks = if streams { "event: response.completed\n" } else { r#""status":"completed""# };
        assert!(answer.contains(marks), "{answer}");
    }
}
