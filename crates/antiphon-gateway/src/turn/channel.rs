//! The channel that carries events to a client.

use std::borrow::Cow;
use std::iter::Peekable;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::vec;

use antiphon::stream::Event;
use bytes::Bytes;
use futures_util::{Stream, StreamExt, stream};
use tokio::sync::Notify;

use crate::chunks::Chunks;

/// How many bytes of events may wait for a slow reader before the upstream has to wait. A longer
/// event waits alone.
const BYTES_IN_FLIGHT: usize = 64 << 10;

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
            Self::Event(event) => return event.to_sse().into(),
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
pub(super) struct EventSender(Arc<Shared>);

/// The client's end of the channel. Dropping it disconnects the client.
#[derive(Debug)]
pub(crate) struct EventReceiver(Arc<Shared>);

/// The channel. One task waits at each end.
#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    /// Wakes the receiver after a change by the sender.
    sent: Notify,
    /// Wakes the sender after a change by the receiver.
    received: Notify,
}

#[derive(Debug, Default)]
struct State {
    /// The events that were sent and not received.
    events: Vec<OutgoingEvent>,
    /// The sum of their weights.
    weight: usize,
    /// Whether the sender waits for room.
    awaits_room: bool,
    /// Whether no more events will be sent.
    has_ended: bool,
    /// Whether the client has disconnected.
    is_closed: bool,
}

/// The error of a channel whose client has disconnected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Closed;

/// Creates an empty channel.
pub(super) fn channel() -> (EventSender, EventReceiver) {
    let shared = Arc::<Shared>::default();
    (EventSender(Arc::clone(&shared)), EventReceiver(shared))
}

impl Shared {
    /// Each change is one step, so a panic elsewhere cannot leave it inconsistent.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Takes the leading events that fit. The first one fits into an empty channel.
    fn accept(&mut self, events: &mut Peekable<vec::IntoIter<OutgoingEvent>>) {
        while let Some(event) = events.next_if(|event| {
            self.events.is_empty() || self.weight + event.weight() <= BYTES_IN_FLIGHT
        }) {
            self.weight += event.weight();
            self.events.push(event);
        }
    }
}

impl EventSender {
    /// Sends events in order, as many at once as there is room for. Waits for room. If the future
    /// is dropped before it completes, the events after some point are not sent.
    pub(super) async fn send(&self, events: Vec<OutgoingEvent>) -> Result<(), Closed> {
        let mut rest = events.into_iter().peekable();
        while rest.peek().is_some() {
            {
                let mut state = self.0.lock();
                if state.is_closed {
                    return Err(Closed);
                }
                state.accept(&mut rest);
                state.awaits_room = rest.peek().is_some();
            }
            self.0.sent.notify_one();
            if rest.peek().is_some() {
                self.0.received.notified().await;
            }
        }
        Ok(())
    }

    /// Waits until the client has disconnected.
    pub(super) async fn closed(&self) {
        while !self.0.lock().is_closed {
            self.0.received.notified().await;
        }
    }
}

impl Drop for EventSender {
    fn drop(&mut self) {
        self.0.lock().has_ended = true;
        self.0.sent.notify_one();
    }
}

impl EventReceiver {
    /// Waits for events and receives all that are in the channel; `None` at its end.
    pub(super) async fn recv(&mut self) -> Option<Vec<OutgoingEvent>> {
        loop {
            let (events, awaits_room, has_ended) = {
                let mut state = self.0.lock();
                state.weight = 0;
                let awaits_room = std::mem::take(&mut state.awaits_room);
                (std::mem::take(&mut state.events), awaits_room, state.has_ended)
            };
            if awaits_room {
                self.0.received.notify_one();
            }
            if !events.is_empty() {
                return Some(events);
            }
            if has_ended {
                return None;
            }
            self.0.sent.notified().await;
        }
    }

    /// The events one by one.
    pub(crate) fn into_stream(self) -> impl Stream<Item = OutgoingEvent> + Send + 'static {
        let batches = stream::unfold(self, async |mut this| Some((this.recv().await?, this)));
        batches.flat_map(stream::iter)
    }
}

impl Drop for EventReceiver {
    fn drop(&mut self) {
        let mut state = self.0.lock();
        state.is_closed = true;
        state.events = Vec::new();
        drop(state);
        self.0.received.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;

    const HALF: usize = BYTES_IN_FLIGHT / 2;

    fn event(length: usize) -> OutgoingEvent {
        OutgoingEvent::Event(Event { kind: "".into(), data: vec![b'x'; length].into() })
    }

    /// Sends events; `None` if it has to wait.
    fn send(sender: &EventSender, lengths: &[usize]) -> Option<Result<(), Closed>> {
        sender.send(lengths.iter().map(|length| event(*length)).collect()).now_or_never()
    }

    /// The lengths of the events that are received at once.
    fn recv(receiver: &mut EventReceiver) -> Vec<usize> {
        let events = receiver.recv().now_or_never().unwrap().unwrap();
        events.iter().map(OutgoingEvent::weight).collect()
    }

    #[test]
    fn sender_waits_while_the_channel_is_full() {
        let (sender, mut receiver) = channel();
        assert_eq!(send(&sender, &[HALF]), Some(Ok(())));
        assert_eq!(send(&sender, &[HALF]), Some(Ok(())));
        assert_eq!(send(&sender, &[1]), None);
        assert_eq!(recv(&mut receiver), [HALF, HALF]);
        assert_eq!(send(&sender, &[1]), Some(Ok(())));
    }

    #[test]
    fn events_within_the_limit_arrive_together() {
        let (sender, mut receiver) = channel();
        let mut sending = Box::pin(sender.send([1, HALF, HALF, 1].map(event).into()));
        assert_eq!((&mut sending).now_or_never(), None);
        assert_eq!(recv(&mut receiver), [1, HALF]);
        assert_eq!(sending.now_or_never(), Some(Ok(())));
        assert_eq!(recv(&mut receiver), [HALF, 1]);
    }

    #[test]
    fn event_beyond_the_limit_waits_alone() {
        let (sender, mut receiver) = channel();
        assert_eq!(send(&sender, &[1]), Some(Ok(())));
        assert_eq!(send(&sender, &[4 * HALF]), None);
        assert_eq!(recv(&mut receiver), [1]);
        assert_eq!(send(&sender, &[4 * HALF]), Some(Ok(())));
        assert_eq!(send(&sender, &[1]), None);
    }

    #[test]
    fn waiting_receiver_sees_events() {
        let (sender, mut receiver) = channel();
        let mut waiting = Box::pin(receiver.recv());
        assert_eq!((&mut waiting).now_or_never(), None);
        send(&sender, &[1]);
        assert!(waiting.now_or_never().is_some());
    }

    #[test]
    fn waiting_receiver_sees_the_end() {
        let (sender, mut receiver) = channel();
        let mut waiting = Box::pin(receiver.recv());
        assert_eq!((&mut waiting).now_or_never(), None);
        drop(sender);
        assert_eq!(waiting.now_or_never(), Some(None));
    }

    #[test]
    fn received_events_do_not_wake_a_sender_that_has_room() {
        let (sender, mut receiver) = channel();
        send(&sender, &[1]);
        recv(&mut receiver);
        assert_eq!(sender.0.received.notified().now_or_never(), None);
    }

    #[test]
    fn receiver_sees_the_end_after_the_last_events() {
        let (sender, mut receiver) = channel();
        send(&sender, &[1]);
        drop(sender);
        assert_eq!(recv(&mut receiver), [1]);
        assert_eq!(receiver.recv().now_or_never(), Some(None));
    }

    #[test]
    fn sender_sees_the_disconnect() {
        let (sender, receiver) = channel();
        send(&sender, &[1]);
        assert_eq!(sender.closed().now_or_never(), None);
        let mut closed = Box::pin(sender.closed());
        assert_eq!((&mut closed).now_or_never(), None);
        drop(receiver);
        assert_eq!(closed.now_or_never(), Some(()));
        assert_eq!(send(&sender, &[1]), Some(Err(Closed)));
    }

    #[test]
    fn waiting_sender_sees_the_disconnect() {
        let (sender, receiver) = channel();
        send(&sender, &[2 * HALF]);
        let mut waiting = Box::pin(sender.send(vec![event(1)]));
        assert_eq!((&mut waiting).now_or_never(), None);
        drop(receiver);
        assert_eq!(waiting.now_or_never(), Some(Err(Closed)));
    }
}
