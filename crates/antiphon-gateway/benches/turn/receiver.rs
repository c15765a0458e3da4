//! A receiver of traces, which reads them and does no more.

use std::io;

use tokio::io::AsyncWriteExt as _;
use tokio::net::{TcpListener, TcpStream};

use crate::wire::read_message;

pub(crate) async fn serve(listener: TcpListener) {
    while let Ok((connection, _)) = listener.accept().await {
        tokio::spawn(answer_all(connection));
    }
}

async fn answer_all(mut connection: TcpStream) -> io::Result<()> {
    let mut received = Vec::with_capacity(1 << 16);
    while read_message(&mut connection, &mut received).await? {
        connection.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").await?;
    }
    Ok(())
}
