//! The channel that carries events to a client.

use std::borrow::Cow;
use std::sync::Arc;

use antiphon::stream::Event;
use bytes::Bytes;
use futures_util::{Stream, StreamExt, stream};
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

/// Events that cross the channel together, and the room that they take.
type Batch = (Vec<OutgoingEvent>, OwnedSemaphorePermit);

/// The sending end of a channel with a limit in bytes, because events differ in size.
pub(super) struct EventSender {
    batches: mpsc::UnboundedSender<Batch>,
    room: Arc<Semaphore>,
}

/// The client's end of the channel. Dropping it disconnects the client.
#[derive(Debug)]
pub(crate) struct EventReceiver {
    batches: mpsc::UnboundedReceiver<Batch>,
    room: Arc<Semaphore>,
}

/// The error of a channel whose client has disconnected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Closed;

/// Creates an empty channel.
pub(super) fn channel() -> (EventSender, EventReceiver) {
    let (sender, receiver) = mpsc::unbounded_channel();
    let room = Arc::new(Semaphore::new(BYTES_IN_FLIGHT as usize));
    let events = EventReceiver { batches: receiver, room: Arc::clone(&room) };
    (EventSender { batches: sender, room }, events)
}

impl EventSender {
    /// Sends events in order, as many at once as there can be room for. Waits for room. If the
    /// future is dropped before it completes, the events after some point are not sent.
    pub(super) async fn send(&self, events: Vec<OutgoingEvent>) -> Result<(), Closed> {
        let mut rest = events;
        while !rest.is_empty() {
            let (count, weight) = first_batch(&rest);
            let later = rest.split_off(count);
            let room = Arc::clone(&self.room).acquire_many_owned(weight).await;
            let batch = (rest, room.map_err(|_| Closed)?);
            self.batches.send(batch).map_err(|_| Closed)?;
            rest = later;
        }
        Ok(())
    }

    /// Waits until the client has disconnected.
    pub(super) async fn closed(&self) {
        self.batches.closed().await;
    }
}

/// The number of leading events that fit into an empty channel, at least one, and their weight.
fn first_batch(events: &[OutgoingEvent]) -> (usize, u32) {
    let (mut count, mut weight) = (0, 0);
    for event in events {
        let sum = u32::try_from(event.weight()).unwrap_or(u32::MAX).saturating_add(weight);
        if count > 0 && sum > BYTES_IN_FLIGHT {
            break;
        }
        (count, weight) = (count + 1, sum);
    }
    (count, weight.clamp(1, BYTES_IN_FLIGHT))
}

impl EventReceiver {
    /// Waits for events and receives all that are in the channel; `None` at its end.
    pub(super) async fn recv(&mut self) -> Option<Vec<OutgoingEvent>> {
        // The permits are released only at the end, so the returned events are within the channel's
        // limit.
        let (mut events, mut room) = self.batches.recv().await?;
        while let Ok((more, more_room)) = self.batches.try_recv() {
            events.extend(more);
            room.merge(more_room);
        }
        Some(events)
    }

    /// The events one by one.
    pub(crate) fn into_stream(self) -> impl Stream<Item = OutgoingEvent> + Send + 'static {
        let batches = stream::unfold(self, async |mut this| Some((this.recv().await?, this)));
        batches.flat_map(stream::iter)
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
    fn waiting_sender_sees_the_disconnect() {
        let (sender, receiver) = channel();
        send(&sender, &[2 * HALF]);
        let mut waiting = Box::pin(sender.send(vec![event(1)]));
        assert_eq!((&mut waiting).now_or_never(), None);
        drop(receiver);
        assert_eq!(waiting.now_or_never(), Some(Err(Closed)));
    }
}
