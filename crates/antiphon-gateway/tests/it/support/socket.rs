//! A caller's WebSocket.

use bytes::Bytes;
use futures_util::{SinkExt, StreamExt};
use http::{HeaderValue, header};
use serde_json::Value;
use tokio::net::{TcpSocket, TcpStream};
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use tokio_tungstenite::tungstenite::{Error, Message};
use tokio_tungstenite::{WebSocketStream, client_async};

use super::answer::Turn;
use super::ask::Ask;
use super::events::Event;
use super::schema::assert_event_shape;
use super::watchdog::soon;

/// A WebSocket; who drops it leaves.
pub(crate) struct Socket(WebSocketStream<TcpStream>);

/// Room for little, so that what is not read fills the connection soon.
const RECEIVED_AHEAD: u32 = 256 << 10;

/// The client's event that asks for a turn.
pub(crate) fn create(ask: &Ask) -> Value {
    let mut event = ask.body().clone();
    event["type"] = "response.create".into();
    event
}

impl Socket {
    pub(super) async fn open(root: &str, token: Option<&str>) -> Self {
        let address = root.strip_prefix("http://").expect("it is a URL");
        let socket = TcpSocket::new_v4().expect("a socket can be had");
        socket.set_recv_buffer_size(RECEIVED_AHEAD).expect("a buffer may be small");
        let stream = socket.connect(address.parse().expect("it is an address")).await;
        let url = format!("ws://{address}/v1/responses");
        let mut request = url.into_client_request().expect("it is a URL");
        if let Some(token) = token {
            let value = HeaderValue::try_from(format!("Bearer {token}")).expect("it is text");
            request.headers_mut().insert(header::AUTHORIZATION, value);
        }
        let opening = client_async(request, stream.expect("the gateway listens"));
        let (link, _) = soon("the WebSocket opens", opening).await.expect("it is let in");
        Self(link)
    }

    /// Sends an event.
    pub(crate) async fn send(&mut self, event: &Value) {
        self.send_message(Message::text(event.to_string())).await;
    }

    pub(crate) async fn send_message(&mut self, message: Message) {
        soon("the gateway reads", self.0.send(message)).await.expect("the WebSocket is open");
    }

    /// Sends a message; whether the WebSocket was open.
    pub(crate) async fn try_send_message(&mut self, message: Message) -> bool {
        soon("the gateway reads", self.0.send(message)).await.is_ok()
    }

    /// Takes a turn; it must be well-formed.
    pub(crate) async fn turn(&mut self, ask: &Ask) -> Turn {
        self.send(&create(ask)).await;
        self.ended().await
    }

    /// Reads a turn to its end; it must be well-formed.
    pub(crate) async fn ended(&mut self) -> Turn {
        let mut events = Vec::new();
        loop {
            let event = self.event().await;
            let is_last = is_terminal(&event.name);
            events.push(event);
            if is_last {
                return Turn::from_events(events);
            }
        }
    }

    /// Reads on until an event of this name, which is given.
    pub(crate) async fn until(&mut self, name: &str) -> Value {
        loop {
            let event = self.event().await;
            if event.name == name {
                return event.json;
            }
            assert!(!is_terminal(&event.name), "{name} comes before {}", event.name);
        }
    }

    /// The next event, which is no error. It has the shape that the specification gives it.
    pub(crate) async fn event(&mut self) -> Event {
        let data = self.text().await;
        let json: Value = serde_json::from_slice(&data).expect("an event is JSON");
        let name = json["type"].as_str().expect("an event has a type").to_owned();
        assert_ne!(name, "error", "{json}");
        assert_event_shape(&json);
        Event { name, json, data }
    }

    /// The next event, which must be an error: its status and the error.
    pub(crate) async fn refused(&mut self) -> (u64, Value) {
        let event = self.error().await;
        (event["status"].as_u64().expect("a status is a number"), event["error"].clone())
    }

    /// The whole of the next event, which must be an error of the specification's shape.
    pub(crate) async fn error(&mut self) -> Value {
        let event: Value = serde_json::from_slice(&self.text().await).expect("an event is JSON");
        assert_eq!(event["type"], "error", "{event}");
        assert!(event["status"].is_u64(), "{event}");
        for member in ["type", "code", "message", "param"] {
            assert!(event["error"][member].is_string(), "{event}");
        }
        event
    }

    /// The next event, whatever it is.
    pub(crate) async fn event_or_error(&mut self) -> Value {
        serde_json::from_slice(&self.text().await).expect("an event is JSON")
    }

    /// Reads, and so answers, the next ping.
    pub(crate) async fn ping(&mut self) {
        match soon("the gateway pings", self.0.next()).await {
            Some(Ok(Message::Ping(_))) => {}
            other => panic!("the next message is a ping: {other:?}"),
        }
    }

    /// The next text.
    async fn text(&mut self) -> Bytes {
        match self.message().await {
            Some(Ok(Message::Text(text))) => text.into(),
            other => panic!("the next message is a text: {other:?}"),
        }
    }

    /// Waits until the gateway closes it; the code that it gives.
    pub(crate) async fn closed(&mut self) -> CloseCode {
        match self.message().await {
            Some(Ok(Message::Close(Some(frame)))) => {
                assert!(!matches!(self.message().await, Some(Ok(_))), "nothing follows the end");
                frame.code
            }
            other => panic!("the WebSocket is closed: {other:?}"),
        }
    }

    /// The next message but pings and pongs.
    async fn message(&mut self) -> Option<Result<Message, Error>> {
        loop {
            match soon("the gateway goes on", self.0.next()).await {
                Some(Ok(Message::Ping(_) | Message::Pong(_))) => {}
                message => return message,
            }
        }
    }
}

fn is_terminal(name: &str) -> bool {
    ["response.completed", "response.incomplete", "response.failed"].contains(&name)
}
