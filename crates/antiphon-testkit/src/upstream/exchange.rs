//! A test's handle on the delivery of one reply.

use tokio::sync::watch;

/// The delivery of one scripted reply: releases what it withholds, tells how it went.
///
/// All waiting is for a transition of the delivery itself, so nothing depends on timing.
#[derive(Clone, Debug)]
pub struct Exchange(watch::Sender<Progress>);

/// How a delivery ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// All of it was handed over.
    Delivered,
    /// It was broken off, as the test wanted.
    Aborted,
    /// The peer dropped the connection before all of it was handed over.
    Disconnected,
}

#[derive(Clone, Copy, Debug)]
struct Progress {
    /// How many chunks may be sent in all.
    permits: usize,
    head_released: bool,
    abort_asked: bool,
    sent: usize,
    outcome: Option<Outcome>,
}

/// The test's side.
impl Exchange {
    /// Lets `count` more chunks go; 0 lets a withheld head go alone.
    pub fn release(&self, count: usize) {
        self.0.send_modify(|progress| {
            progress.head_released = true;
            progress.permits = progress.permits.saturating_add(count);
        });
    }

    /// Lets everything go.
    pub fn release_all(&self) {
        self.release(usize::MAX);
    }

    /// Breaks the connection now, in place of the chunks that are still withheld.
    pub fn abort(&self) {
        self.0.send_modify(|progress| {
            progress.head_released = true;
            progress.abort_asked = true;
        });
    }

    /// Waits until `count` chunks were handed over.
    pub async fn sent(&self, count: usize) {
        self.until(|progress| progress.sent >= count).await;
    }

    /// Waits for the end of the delivery.
    pub async fn outcome(&self) -> Outcome {
        let progress = self.until(|progress| progress.outcome.is_some()).await;
        progress.outcome.expect("it was waited for")
    }

    /// Waits until the peer dropped the connection.
    ///
    /// # Panics
    /// When the delivery ended in another way, as the peer can then no longer be observed.
    pub async fn disconnected(&self) {
        assert_eq!(self.outcome().await, Outcome::Disconnected, "how the delivery ended");
    }
}

/// The server's side.
impl Exchange {
    pub(super) fn new(permits: usize) -> Self {
        let progress =
            Progress { permits, head_released: false, abort_asked: false, sent: 0, outcome: None };
        Self(watch::Sender::new(progress))
    }

    pub(super) async fn head_released(&self) {
        self.until(|progress| progress.head_released).await;
    }

    /// Waits until the next chunk may be sent, or the test wants a break instead: then false.
    pub(super) async fn permitted(&self) -> bool {
        let next = |progress: &Progress| progress.abort_asked || progress.permits > progress.sent;
        !self.until(next).await.abort_asked
    }

    pub(super) fn count_sent(&self) {
        self.0.send_modify(|progress| progress.sent += 1);
    }

    /// Settles how it ended; the first to settle it is right.
    pub(super) fn settle(&self, outcome: Outcome) {
        self.0.send_modify(|progress| {
            progress.outcome.get_or_insert(outcome);
        });
    }

    async fn until(&self, reached: impl FnMut(&Progress) -> bool) -> Progress {
        *self.0.subscribe().wait_for(reached).await.expect("this handle holds a sender")
    }
}
