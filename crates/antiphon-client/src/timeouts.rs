//! The time limits of a request.

use std::time::Duration;

use tokio::time::{Instant, timeout_at};

use crate::{Error, ErrorKind};

/// The time limits of a request and its answer.
///
/// Any bytes count as progress, including comments of an event stream, which servers send as
/// keep-alive while a model thinks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timeouts {
    /// For a connection.
    pub connect: Duration,
    /// From the request to the first byte of the answer.
    pub first_byte: Duration,
    /// Between two pieces of the answer.
    pub idle: Duration,
    /// For the whole answer.
    pub total: Duration,
}

impl Default for Timeouts {
    /// 10 seconds for a connection, 10 minutes without a byte, one hour in all.
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(10),
            first_byte: Duration::from_mins(10),
            idle: Duration::from_mins(10),
            total: Duration::from_hours(1),
        }
    }
}

/// The time limits of one answer that is awaited.
///
/// ```text
///   AwaitingFirstByte ── bytes ──> Receiving ── bytes ──> Receiving
/// ```
#[derive(Clone, Copy, Debug)]
pub(crate) struct Deadlines {
    timeouts: Timeouts,
    end: Instant,
    /// Until when the next bytes have to arrive, and the limit that it comes from.
    next: (Instant, Limit),
}

#[derive(Clone, Copy, Debug)]
enum Limit {
    FirstByte,
    Idle,
}

/// A later time cannot be added to the clock on every system.
const LONGEST: Duration = Duration::from_hours(24 * 365);

fn after(now: Instant, limit: Duration) -> Instant {
    now + limit.min(LONGEST)
}

impl Deadlines {
    /// Starts the limits of a request that is sent now.
    pub(crate) fn new(timeouts: Timeouts) -> Self {
        let now = Instant::now();
        let next = (after(now, timeouts.first_byte), Limit::FirstByte);
        Self { timeouts, end: after(now, timeouts.total), next }
    }

    /// Waits until the nearest limit.
    pub(crate) async fn wait<T>(&self, future: impl Future<Output = T>) -> Result<T, Error> {
        let until = self.end.min(self.next.0);
        timeout_at(until, future).await.map_err(|_| ErrorKind::BrokeOff(self.reason()).into())
    }

    /// Records that bytes of the answer arrived.
    pub(crate) fn record_progress(&mut self) {
        self.next = (after(Instant::now(), self.timeouts.idle), Limit::Idle);
    }

    fn reason(&self) -> String {
        let Timeouts { first_byte, idle, total, .. } = self.timeouts;
        match self.next {
            (next, _) if self.end <= next => format!("it was not complete within {total:?}"),
            (_, Limit::FirstByte) => format!("it did not begin within {first_byte:?}"),
            (_, Limit::Idle) => format!("nothing arrived for {idle:?}"),
        }
    }
}
