use std::convert::Infallible;

use futures_util::stream::pending;
use futures_util::{FutureExt as _, poll};
use http::Version;
use http_body_util::StreamBody;
use hyper::server;
use hyper::service::service_fn;
use hyper_rustls::MaybeHttpsStream;
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;

use super::*;
use crate::upstream::connector;
use crate::upstream::http::request_body;

/// A pool and the server of its connections.
struct World {
    pool: Pool,
    server: TcpListener,
}

impl World {
    async fn new() -> Self {
        let pool = Pool::new(connector::new(Duration::from_secs(5), None));
        Self { pool, server: TcpListener::bind("127.0.0.1:0").await.unwrap() }
    }

    async fn send(&self) -> Response<AnswerFrames> {
        let url = format!("http://{}/v1/responses", self.server.local_addr().unwrap());
        let request = Request::post(url).body(request_body(Bytes::from_static(b"{}"))).unwrap();
        self.pool.send(request).await.unwrap()
    }

    async fn accept(&self) -> TcpStream {
        self.server.accept().await.unwrap().0
    }

    /// Sends a request that the server answers on a connection that it accepts.
    async fn first_answer(&self, answer: &str) -> (Response<AnswerFrames>, TcpStream) {
        tokio::join!(self.send(), async {
            let mut connection = self.accept().await;
            serve(&mut connection, answer).await;
            connection
        })
    }
}

/// Reads a request and answers it.
async fn serve(connection: &mut TcpStream, answer: &str) -> String {
    let mut request = Vec::new();
    while !request.ends_with(b"{}") {
        connection.read_buf(&mut request).await.unwrap();
    }
    connection.write_all(answer.as_bytes()).await.unwrap();
    String::from_utf8(request).unwrap()
}

/// The text of a body.
async fn read(body: &mut AnswerFrames) -> Vec<u8> {
    let mut text = Vec::new();
    while let Some(frame) = body.frame().await {
        text.extend_from_slice(&frame.unwrap().into_data().unwrap());
    }
    text
}

const CHUNKED: &str = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";
const ANSWER: &str =
    "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\none\r\n3\r\ntwo\r\n0\r\n\r\n";

#[tokio::test]
async fn connection_serves_the_next_request() {
    let world = World::new().await;
    let (mut answer, mut connection) = world.first_answer(ANSWER).await;
    assert_eq!(read(answer.body_mut()).await, b"onetwo");

    let (mut again, request) = tokio::join!(world.send(), serve(&mut connection, ANSWER));
    assert_eq!(read(again.body_mut()).await, b"onetwo");
    assert!(request.starts_with("POST /v1/responses HTTP/1.1\r\n"), "{request}");
    let host = format!("\r\nhost: {}\r\n", world.server.local_addr().unwrap());
    assert!(request.contains(&host), "{request}");
}

#[tokio::test]
async fn requests_at_the_same_time_use_connections_of_their_own() {
    let world = World::new().await;
    let (mut one, first) = world.first_answer(CHUNKED).await;
    let (mut two, _second) = world.first_answer(ANSWER).await;

    assert_eq!(read(two.body_mut()).await, b"onetwo");
    drop(first);
    assert!(one.body_mut().frame().await.unwrap().is_err(), "the first answer has no end");
}

#[tokio::test]
async fn closed_connection_is_replaced() {
    let world = World::new().await;
    let (mut answer, connection) = world.first_answer(ANSWER).await;
    read(answer.body_mut()).await;
    drop(connection);
    // The runtime asks the system for events, and so learns of the end.
    tokio::task::yield_now().await;

    let (mut again, _connection) = world.first_answer(ANSWER).await;
    assert_eq!(read(again.body_mut()).await, b"onetwo");
}

#[tokio::test]
async fn dropped_answer_closes_its_connection() {
    let world = World::new().await;
    let (answer, mut connection) = world.first_answer(CHUNKED).await;
    drop(answer);
    assert_eq!(connection.read(&mut [0; 1]).await.unwrap(), 0);
}

#[tokio::test]
async fn unused_connection_is_closed() {
    let world = World::new().await;
    let (mut answer, mut connection) = world.first_answer(ANSWER).await;
    read(answer.body_mut()).await;

    {
        let mut state = world.pool.idle.lock();
        state.close_unused(Instant::now());
        assert!(state.is_tended);
        state.close_unused(Instant::now() + IDLE);
        assert!(!state.is_tended);
    }
    assert_eq!(connection.read(&mut [0; 1]).await.unwrap(), 0);
}

/// A server of HTTP/2 with this limit of streams, on a connection of the pool. It answers each
/// request at once, with a body that does not end.
async fn share_connection(world: &World, limit: u32) {
    let address = world.server.local_addr().unwrap();
    let (client, server) = tokio::join!(TcpStream::connect(address), world.accept());
    let answer = service_fn(|_: Request<Incoming>| async {
        Ok::<_, Infallible>(Response::new(StreamBody::new(pending::<
            Result<Frame<Bytes>, Infallible>,
        >())))
    });
    let mut http = server::conn::http2::Builder::new(TokioExecutor::new());
    http.max_concurrent_streams(limit);
    tokio::spawn(http.serve_connection(TokioIo::new(server), answer).map(drop));
    let io = MaybeHttpsStream::Http(TokioIo::new(client.unwrap()));
    drop(world.pool.idle.share(Shared::handshake(io).await.unwrap()));
}

#[tokio::test]
async fn connection_has_no_more_streams_than_its_server_allows() {
    let world = World::new().await;
    share_connection(&world, 2).await;
    let first = world.send().await;
    let second = world.send().await;

    let (mut third, _connection) = world.first_answer(ANSWER).await;
    assert_eq!(read(third.body_mut()).await, b"onetwo");

    drop(second);
    world.pool.idle.lock().free.clear();
    let again = world.send().await;
    assert_eq!((first.version(), again.version()), (Version::HTTP_2, Version::HTTP_2));
}

#[tokio::test]
async fn requests_at_once_do_not_exceed_the_limit() {
    let world = World::new().await;
    share_connection(&world, 2).await;
    let over_http1 = async {
        let mut connection = world.accept().await;
        serve(&mut connection, ANSWER).await;
        connection
    };
    // Only one of them can use the connection until its server has named the limit.
    let (first, second, _connection) = tokio::join!(world.send(), world.send(), over_http1);
    assert_eq!((first.version(), second.version()), (Version::HTTP_2, Version::HTTP_11));
    assert_eq!(world.send().await.version(), Version::HTTP_2);
}

#[tokio::test]
async fn requests_share_the_connection_that_one_of_them_opens() {
    let world = World::new().await;
    share_connection(&world, 1).await;
    world.pool.idle.lock().has_http2 = true;
    let opening = world.pool.opening.lock().await;
    let first = world.send().await;
    let mut second = pin!(timeout(Duration::from_secs(5), world.send()));
    assert!(poll!(second.as_mut()).is_pending());

    drop(first);
    drop(opening);
    assert_eq!(second.await.unwrap().version(), Version::HTTP_2);
}
