//! The channel that carries events to a client.

use std::borrow::Cow;
use std::sync::Arc;

use antiphon::stream::Event;
use bytes::Bytes;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};

use crate::chunks::Chunks;

/// How many bytes of events may wait for a slow reader before the upstream has to wait. A longer
/// event waits alone.
const BYTES_IN_FLIGHT: u32 = 64 << 10;

/// An event of a stream, independent of the connection's format.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum OutgoingEvent {
    /// An event of the response.
    Event(Event),
    /// An event as its type and JSON, which shares long texts with other events.
    Long(Cow<'static, str>, Chunks),
    /// The end of the stream. A stream that was cut ends without it.
    Done,
}

impl OutgoingEvent {
    /// Encodes the event for an event stream.
    pub(crate) fn into_sse(self) -> Chunks {
        let (kind, data) = match self {
            Self::Event(event) => (event.kind, event.data.into()),
            Self::Long(kind, data) => (kind, data),
            Self::Done => return Bytes::from_static(b"data: [DONE]\n\n").into(),
        };
        let mut sse = Chunks::from(format!("event: {kind}\ndata: "));
        sse.append(data);
        sse.push(Bytes::from_static(b"\n\n"));
        sse
    }

    /// The event in one piece; `None` for the end of the stream.
    pub(crate) fn into_event(self) -> Option<Event> {
        match self {
            Self::Event(event) => Some(event),
            Self::Long(kind, data) => Some(Event { kind, data: data.to_bytes() }),
            Self::Done => None,
        }
    }

    /// The number of bytes that count against the limit.
    fn weight(&self) -> usize {
        match self {
            Self::Event(event) => event.kind.len() + event.data.len(),
            Self::Long(kind, data) => kind.len() + data.len(),
            Self::Done => 0,
        }
    }
}

/// The sending end of a channel with a limit in bytes, because events differ in size.
pub(super) struct EventSender {
    events: mpsc::UnboundedSender<(OutgoingEvent, OwnedSemaphorePermit)>,
    room: Arc<Semaphore>,
}

/// The client's end of the channel. Dropping it disconnects the client.
#[derive(Debug)]
pub(crate) struct EventReceiver {
    events: mpsc::UnboundedReceiver<(OutgoingEvent, OwnedSemaphorePermit)>,
    room: Arc<Semaphore>,
}

/// The error of a channel whose client has disconnected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Closed;

/// Creates an empty channel.
pub(super) fn channel() -> (EventSender, EventReceiver) {
    let (sender, receiver) = mpsc::unbounded_channel();
    let room = Arc::new(Semaphore::new(BYTES_IN_FLIGHT as usize));
    let events = EventReceiver { events: receiver, room: Arc::clone(&room) };
    (EventSender { events: sender, room }, events)
}

impl EventSender {
    /// Waits for room and sends the event. If the future is dropped before it completes, nothing is
    /// sent.
    pub(super) async fn send(&self, event: OutgoingEvent) -> Result<(), Closed> {
        let length = u32::try_from(event.weight()).unwrap_or(u32::MAX).clamp(1, BYTES_IN_FLIGHT);
        let room = Arc::clone(&self.room).acquire_many_owned(length).await.map_err(|_| Closed)?;
        self.events.send((event, room)).map_err(|_| Closed)
    }

    /// Waits until the client has disconnected.
    pub(super) async fn closed(&self) {
        self.events.closed().await;
    }
}

impl EventReceiver {
    /// Receives the next event; `None` at the end of the channel.
    pub(crate) async fn recv(&mut self) -> Option<OutgoingEvent> {
        self.events.recv().await.map(|(event, _)| event)
    }

    /// Waits for an event and receives all that are in the channel; `None` at its end.
    pub(super) async fn recv_all(&mut self) -> Option<Vec<OutgoingEvent>> {
        let mut events = vec![self.events.recv().await?];
        while let Ok(next) = self.events.try_recv() {
            events.push(next);
        }
        // The permits are released only here, so the returned events are within the channel's
        // limit.
        Some(events.into_iter().map(|(event, _)| event).collect())
    }
}

impl Drop for EventReceiver {
    /// Wakes a sender that waits for room.
    fn drop(&mut self) {
        self.room.close();
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;

    const HALF: usize = BYTES_IN_FLIGHT as usize / 2;

    fn event(length: usize) -> OutgoingEvent {
        OutgoingEvent::Event(Event { kind: "".into(), data: vec![b'x'; length].into() })
    }

    #[test]
    fn sender_waits_while_the_channel_is_full() {
        let (sender, mut receiver) = channel();
        assert_eq!(sender.send(event(HALF)).now_or_never(), Some(Ok(())));
        assert_eq!(sender.send(event(HALF)).now_or_never(), Some(Ok(())));
        assert_eq!(sender.send(event(1)).now_or_never(), None);
        assert_eq!(receiver.recv().now_or_never(), Some(Some(event(HALF))));
        assert_eq!(sender.send(event(1)).now_or_never(), Some(Ok(())));
    }

    #[test]
    fn event_beyond_the_limit_waits_alone() {
        let (sender, mut receiver) = channel();
        assert_eq!(sender.send(event(1)).now_or_never(), Some(Ok(())));
        assert_eq!(sender.send(event(4 * HALF)).now_or_never(), None);
        receiver.recv().now_or_never();
        assert_eq!(sender.send(event(4 * HALF)).now_or_never(), Some(Ok(())));
        assert_eq!(sender.send(event(1)).now_or_never(), None);
    }

    #[test]
    fn waiting_sender_sees_the_disconnect() {
        let (sender, receiver) = channel();
        sender.send(event(2 * HALF)).now_or_never();
        let mut waiting = Box::pin(sender.send(event(1)));
        assert_eq!((&mut waiting).now_or_never(), None);
        drop(receiver);
        assert_eq!(waiting.now_or_never(), Some(Err(Closed)));
    }
}
