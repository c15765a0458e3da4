//! A test's handle for the delivery of one reply.

use tokio::sync::watch;

/// The delivery of one scripted reply. It releases withheld chunks and reports the outcome.
///
/// Tests wait for transitions of the delivery itself, so nothing depends on timing.
#[derive(Clone, Debug)]
pub struct Exchange(watch::Sender<Progress>);

/// The outcome of a delivery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The whole reply was sent.
    Delivered,
    /// The test broke the connection.
    Aborted,
    /// The peer closed the connection before the whole reply was sent.
    Disconnected,
}

#[derive(Clone, Copy, Debug)]
struct Progress {
    /// The total number of chunks that may be sent.
    permits: usize,
    head_released: bool,
    abort_asked: bool,
    sent: usize,
    outcome: Option<Outcome>,
}

/// The test's side.
impl Exchange {
    /// Releases `count` more chunks; 0 releases only a withheld head.
    pub fn release(&self, count: usize) {
        self.0.send_modify(|progress| {
            progress.head_released = true;
            progress.permits = progress.permits.saturating_add(count);
        });
    }

    /// Releases everything.
    pub fn release_all(&self) {
        self.release(usize::MAX);
    }

    /// Breaks the connection now, in place of the withheld chunks.
    pub fn abort(&self) {
        self.0.send_modify(|progress| {
            progress.head_released = true;
            progress.abort_asked = true;
        });
    }

    /// Waits until `count` chunks have been sent.
    pub async fn wait_for_sent(&self, count: usize) {
        self.until(|progress| progress.sent >= count).await;
    }

    /// Waits for the end of the delivery and returns its outcome.
    pub async fn wait_for_outcome(&self) -> Outcome {
        let progress = self.until(|progress| progress.outcome.is_some()).await;
        progress.outcome.expect("it was waited for")
    }

    /// Waits until the peer closes the connection.
    ///
    /// # Panics
    /// If the delivery ends in another way, because the peer can then no longer be observed.
    pub async fn wait_for_disconnect(&self) {
        assert_eq!(self.wait_for_outcome().await, Outcome::Disconnected, "how the delivery ended");
    }
}

/// The server's side.
impl Exchange {
    pub(super) fn new(permits: usize) -> Self {
        let progress =
            Progress { permits, head_released: false, abort_asked: false, sent: 0, outcome: None };
        Self(watch::Sender::new(progress))
    }

    pub(super) async fn wait_for_head(&self) {
        self.until(|progress| progress.head_released).await;
    }

    /// Waits until the next chunk may be sent (true) or the test breaks the connection (false).
    pub(super) async fn wait_for_permit(&self) -> bool {
        let next = |progress: &Progress| progress.abort_asked || progress.permits > progress.sent;
        !self.until(next).await.abort_asked
    }

    pub(super) fn count_sent(&self) {
        self.0.send_modify(|progress| progress.sent += 1);
    }

    /// Sets the outcome. Only the first call has an effect.
    pub(super) fn settle(&self, outcome: Outcome) {
        self.0.send_modify(|progress| {
            progress.outcome.get_or_insert(outcome);
        });
    }

    async fn until(&self, reached: impl FnMut(&Progress) -> bool) -> Progress {
        *self.0.subscribe().wait_for(reached).await.expect("this handle holds a sender")
    }
}
