//! A server that answers every request with the same bytes.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::mpsc;
use std::thread;

/// A server in a thread of its own. It ends with the process of the test.
pub(crate) struct Canned {
    pub(crate) address: SocketAddr,
    heads: mpsc::Receiver<String>,
}

impl Canned {
    /// Answers with this status line, these headers and this body.
    pub(crate) fn answering(status: &str, headers: &str, body: &str) -> Self {
        let length = body.len();
        let head = format!("HTTP/1.1 {status}\r\nconnection: close\r\n{headers}");
        Self::start(format!("{head}content-length: {length}\r\n\r\n{body}"))
    }

    /// Answers a list of models with these names.
    pub(crate) fn listing(models: &[&str]) -> Self {
        let models: Vec<_> = models.iter().map(|id| serde_json::json!({"id": id})).collect();
        Self::answering("200 OK", "", &serde_json::json!({"data": models}).to_string())
    }

    fn start(answer: String) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (sender, heads) = mpsc::channel();
        thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                let head = read_head(&stream);
                // An error is a client that reads no further, or a test that has ended.
                let _ = stream.write_all(answer.as_bytes());
                let _ = sender.send(head);
            }
        });
        Self { address, heads }
    }

    /// The base URL for a gateway.
    pub(crate) fn url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// The head of the next request, in lower case.
    pub(crate) fn head(&self) -> String {
        self.heads.recv().unwrap().to_lowercase()
    }
}

fn read_head(stream: &TcpStream) -> String {
    let mut head = String::new();
    let mut reader = BufReader::new(stream);
    // The head ends with an empty line.
    while !head.ends_with("\r\n\r\n") && reader.read_line(&mut head).unwrap_or(0) > 0 {}
    head
}
