//! A WebSocket connection, from its first message to its end.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::stream::SelectAll;
use futures_util::{SinkExt, StreamExt};
use hyper::upgrade::Upgraded;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncReadExt, copy, sink};
use tokio::time::{Instant, sleep_until, timeout};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::error::CapacityError;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use tokio_tungstenite::tungstenite::protocol::{CloseFrame, Role, WebSocketConfig};
use tokio_tungstenite::tungstenite::{Error as LinkError, Message, Utf8Bytes};

use super::client_event::{ClientEvent, CreateEvent, RejectedEvent};
use super::control_frames::ControlFrames;
use super::frame;
use super::keepalive::{Keepalive, KeepaliveAction};
use super::lane_events::{LaneEvent, LaneEvents, lane_events};
use super::lanes::Lanes;
use crate::caller::Caller;
use crate::entropy::from_now;
use crate::error::ApiError;
use crate::gateway::Gateway;
use crate::lane::{Memory, StreamId};
use crate::metrics::Counted;
use crate::request_id::RequestId;
use crate::settings::Limits;
use crate::trace::ConnectionTrace;
use crate::turn;

/// A WebSocket of one caller.
///
/// The gateway writes its messages before it reads the next one. A client that reads slowly slows
/// down its own turns. A client that reads nothing for the client timeout loses its connection,
/// which counts as a disconnect from its turns.
///
/// ```text
/// Open ── the gateway stops, or the connection is old ──> Draining ── no turn is open ──> closed
///   └──── the client closes, is gone, or breaks the protocol ──┴────────────────────────────^
/// ```
pub(crate) struct Socket {
    gateway: Arc<Gateway>,
    caller: Caller,
    trace: ConnectionTrace,
    link: Link,
    phase: Phase,
    max_age_at: Instant,
    keepalive: Keepalive,
    control_frames: ControlFrames,
    memory: Arc<Memory>,
    lanes: Lanes,
    open: SelectAll<LaneEvents>,
    _counted: Counted,
}

type Link = WebSocketStream<TokioIo<Upgraded>>;

enum Phase {
    /// Accepts turns.
    Open,
    /// Accepts no more turns.
    Draining(DrainReason),
}

/// The reason to end a connection whose client stays.
#[derive(Clone, Copy)]
enum DrainReason {
    /// The gateway stops.
    Stop,
    /// The connection has reached its maximum age.
    Age,
}

/// The end of a connection.
enum ConnectionEnd {
    /// The client has closed it or is gone. This is a disconnect from every open turn.
    Left,
    /// The gateway closes it, with this code and reason.
    Closed(CloseCode, &'static str),
    /// A message exceeded the size limit. The rest of it is not parsed.
    TooLong,
}

/// The time limit for the client's answer to a close frame.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(2);
/// The size of the read buffer. Most messages are short, except the first one of a long history.
const READ_BUFFER: usize = 8 << 10;

impl Socket {
    /// Creates the socket of a connection that was just upgraded.
    pub(crate) async fn new(gateway: Arc<Gateway>, mut caller: Caller, upgraded: Upgraded) -> Self {
        let limits = &gateway.settings.limits;
        let max_bytes = limits.max_body_bytes;
        let io = TokioIo::new(upgraded);
        Self {
            link: Link::from_raw_socket(io, Role::Server, Some(config(limits))).await,
            phase: Phase::Open,
            max_age_at: from_now(limits.max_websocket_age),
            keepalive: Keepalive::new(limits.client_timeout),
            control_frames: ControlFrames::new(Instant::now()),
            memory: Arc::new(Memory::new(max_bytes)),
            lanes: Lanes::new(max_bytes),
            open: SelectAll::new(),
            trace: ConnectionTrace::new(&mut caller),
            _counted: gateway.metrics.open.websockets.count(),
            caller,
            gateway,
        }
    }

    /// Serves the connection to its end.
    pub(crate) async fn serve(mut self) {
        let end = loop {
            if let Err(end) = self.step().await {
                break end;
            }
            if let (Phase::Draining(reason), true) = (&self.phase, self.lanes.is_idle()) {
                break self.drained(*reason).await;
            }
        };
        self.close(end).await;
    }

    /// Waits for the next event and handles it.
    async fn step(&mut self) -> Result<(), ConnectionEnd> {
        let is_open = matches!(self.phase, Phase::Open);
        tokio::select! {
            message = self.link.next() => self.handle_message(message).await,
            Some((stream, event)) = self.open.next() => self.send_lane_event(stream, event).await,
            action = self.keepalive.next() => match action {
                KeepaliveAction::Ping(ping) => self.send(Message::Ping(ping)).await,
                KeepaliveAction::Gone => Err(ConnectionEnd::Left),
            },
            () = self.gateway.stopping.cancelled(), if is_open => {
                self.drain(DrainReason::Stop).await
            }
            () = sleep_until(self.max_age_at), if is_open => self.drain(DrainReason::Age).await,
        }
    }

    async fn handle_message(
        &mut self,
        message: Option<Result<Message, LinkError>>,
    ) -> Result<(), ConnectionEnd> {
        self.keepalive.record_activity();
        match message {
            Some(Ok(Message::Text(text))) => self.handle_event(text.into()).await,
            Some(Ok(Message::Binary(_))) => {
                let error = ApiError::BinaryMessage;
                self.send_error(None, &error).await
            }
            Some(Ok(Message::Ping(_) | Message::Pong(_) | Message::Frame(_))) => {
                self.handle_control_frame().await
            }
            Some(Err(LinkError::Capacity(CapacityError::MessageTooLong { max_size, .. }))) => {
                self.send_error(None, &ApiError::MessageTooLarge { maximum: max_size }).await?;
                Err(ConnectionEnd::TooLong)
            }
            Some(Err(LinkError::Utf8(_))) => {
                Err(ConnectionEnd::Closed(CloseCode::Invalid, "no UTF-8"))
            }
            Some(Err(LinkError::Protocol(_))) => {
                Err(ConnectionEnd::Closed(CloseCode::Protocol, "no WebSocket"))
            }
            Some(Ok(Message::Close(_)) | Err(_)) | None => Err(ConnectionEnd::Left),
        }
    }

    /// Writes the pending pong before the next read. Pongs cannot pile up for a client that does
    /// not read them.
    async fn handle_control_frame(&mut self) -> Result<(), ConnectionEnd> {
        if !self.control_frames.admit(Instant::now()) {
            return Err(ConnectionEnd::Closed(CloseCode::Policy, "too many pings"));
        }
        self.link.flush().await.map_err(|_| ConnectionEnd::Left)
    }

    async fn handle_event(&mut self, text: Bytes) -> Result<(), ConnectionEnd> {
        match ClientEvent::parse(&text, &self.gateway, &self.memory) {
            Ok(ClientEvent::Create(create)) => self.enqueue(create).await,
            Ok(ClientEvent::Steer { response, input }) => {
                self.send(Message::Text(frame::steer_failed(&response, &input))).await
            }
            Err(RejectedEvent { stream, error }) => {
                turn::publish_unreadable(&self.gateway, &self.caller, &error);
                self.send_error(stream.as_ref(), &error).await
            }
        }
    }

    /// Queues a turn and starts it when its lane is free.
    async fn enqueue(&mut self, create: CreateEvent) -> Result<(), ConnectionEnd> {
        let stream = create.stream.clone();
        match self.admit(create) {
            Ok(()) => self.start_turns(),
            Err(error) => self.send_error(stream.as_ref(), &error).await?,
        }
        Ok(())
    }

    fn admit(&mut self, create: CreateEvent) -> Result<(), ApiError> {
        if let Phase::Draining(reason) = &self.phase {
            return Err(reason.error(&self.gateway.settings.limits));
        }
        let allowance = self.gateway.limiter.request(&self.caller.tenant);
        match allowance.and_then(crate::limits::Allowance::refusal) {
            Some(error) => Err(error),
            None => self.lanes.admit(create),
        }
    }

    /// Starts the turns whose lanes are free.
    fn start_turns(&mut self) {
        while let Some(create) = self.lanes.next() {
            self.open.push(lane_events(&self.gateway, (&self.caller, &self.trace), create));
        }
    }

    async fn send_lane_event(
        &mut self,
        stream: Option<StreamId>,
        event: LaneEvent,
    ) -> Result<(), ConnectionEnd> {
        match event {
            LaneEvent::Event(event) => {
                self.send(Message::Text(frame::event(stream.as_ref(), event))).await
            }
            LaneEvent::Refused(id, error) => {
                self.send_request_error(stream.as_ref(), &id, &error).await
            }
            LaneEvent::Ended => {
                self.lanes.free_lane(stream.as_ref());
                self.start_turns();
                Ok(())
            }
        }
    }

    /// Stops accepting turns, and rejects the waiting ones.
    async fn drain(&mut self, reason: DrainReason) -> Result<(), ConnectionEnd> {
        self.phase = Phase::Draining(reason);
        let error = reason.error(&self.gateway.settings.limits);
        for create in self.lanes.take_waiting() {
            self.send_error(create.stream.as_ref(), &error).await?;
        }
        Ok(())
    }

    async fn drained(&mut self, reason: DrainReason) -> ConnectionEnd {
        match reason {
            DrainReason::Stop => ConnectionEnd::Closed(CloseCode::Away, "the gateway stops"),
            DrainReason::Age => {
                let error = reason.error(&self.gateway.settings.limits);
                match self.send_error(None, &error).await {
                    Ok(()) => ConnectionEnd::Closed(CloseCode::Normal, "the connection is too old"),
                    Err(end) => end,
                }
            }
        }
    }

    /// Rejects an event that started no turn. The error has the id of the connection's own request.
    async fn send_error(
        &mut self,
        stream: Option<&StreamId>,
        error: &ApiError,
    ) -> Result<(), ConnectionEnd> {
        let id = self.caller.request_id.clone();
        self.send_request_error(stream, &id, error).await
    }

    async fn send_request_error(
        &mut self,
        stream: Option<&StreamId>,
        id: &RequestId,
        error: &ApiError,
    ) -> Result<(), ConnectionEnd> {
        self.send(Message::Text(frame::error(stream, id, error))).await
    }

    async fn send(&mut self, message: Message) -> Result<(), ConnectionEnd> {
        self.link.send(message).await.map_err(|_| ConnectionEnd::Left)
    }

    /// Disconnects from the open turns and sends a close frame.
    async fn close(mut self, end: ConnectionEnd) {
        drop(self.open);
        let frame = match end {
            ConnectionEnd::Left => None,
            ConnectionEnd::Closed(code, reason) => {
                Some(CloseFrame { code, reason: Utf8Bytes::from_static(reason) })
            }
            ConnectionEnd::TooLong => Some(CloseFrame {
                code: CloseCode::Size,
                reason: Utf8Bytes::from_static("the message is too long"),
            }),
        };
        let closing = async {
            if self.link.close(frame).await.is_err() {
                return;
            }
            match end {
                ConnectionEnd::TooLong => {
                    discard_rest(self.link.get_mut(), &self.gateway.settings.limits).await;
                }
                _ => while let Some(Ok(_)) = self.link.next().await {},
            }
        };
        // The amount of data that was read does not matter.
        drop(timeout(CLOSE_TIMEOUT, closing).await);
    }
}

impl DrainReason {
    /// The error for a turn that is not accepted.
    fn error(self, limits: &Limits) -> ApiError {
        match self {
            Self::Stop => ApiError::Stopping,
            Self::Age => {
                let minutes = limits.max_websocket_age.as_secs() / 60;
                ApiError::ConnectionTooOld { minutes }
            }
        }
    }
}

/// Reads and drops the rest of a message that is too long. Most clients read the answer only after
/// they have sent the whole message.
async fn discard_rest(io: &mut TokioIo<Upgraded>, limits: &Limits) {
    let most = u64::try_from(limits.max_body_bytes).unwrap_or(u64::MAX);
    drop(copy(&mut io.take(most), &mut sink()).await);
}

fn config(limits: &Limits) -> WebSocketConfig {
    WebSocketConfig::default()
        .read_buffer_size(READ_BUFFER)
        .write_buffer_size(0)
        .max_message_size(Some(limits.max_body_bytes))
        .max_frame_size(Some(limits.max_body_bytes))
}
