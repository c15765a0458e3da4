//! The moment of a kill: the nth occurrence of an event, not a point in time.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use tokio::sync::Notify;

/// An event in a round, observed outside the gateway.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Moment {
    /// A client is about to send a request.
    RequestSent,
    /// The gateway called the model.
    ModelCalled,
    /// The model sent a chunk.
    ModelChunk,
    /// A client received its response's id.
    ResponseAnnounced,
    /// A client received a finished item.
    ItemDone,
    /// The model sent its last chunk. The gateway has yet to commit the turn.
    ModelDone,
    /// A client received the end of its request.
    RequestDone,
}

const MOMENTS: [Moment; 7] = [
    Moment::RequestSent,
    Moment::ModelCalled,
    Moment::ModelChunk,
    Moment::ResponseAnnounced,
    Moment::ItemDone,
    Moment::ModelDone,
    Moment::RequestDone,
];

/// Counts events and triggers the kill.
#[derive(Debug)]
pub(crate) struct KillTrigger {
    moment: Moment,
    left: AtomicUsize,
    fired: AtomicBool,
    notify: Notify,
}

impl KillTrigger {
    /// A trigger for a random event that `rng` selects.
    pub(crate) fn new(rng: &mut fastrand::Rng) -> Self {
        let moment = MOMENTS[rng.usize(..MOMENTS.len())];
        let most = match moment {
            Moment::ModelChunk => 200,
            Moment::ItemDone => 30,
            _ => 20,
        };
        let left = AtomicUsize::new(rng.usize(1..=most));
        Self { moment, left, fired: AtomicBool::new(false), notify: Notify::new() }
    }

    /// Counts an event.
    pub(crate) fn observe(&self, moment: Moment) {
        if moment == self.moment && self.left.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.fire();
        }
    }

    /// Triggers the kill now.
    pub(crate) fn fire(&self) {
        self.fired.store(true, Ordering::Release);
        self.notify.notify_one();
    }

    /// Whether the kill was triggered. From then on connections may break.
    pub(crate) fn has_fired(&self) -> bool {
        self.fired.load(Ordering::Acquire)
    }

    /// Waits for the trigger.
    pub(crate) async fn fired(&self) {
        self.notify.notified().await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn trigger_fires_at_its_moment_only() {
        let mut rng = fastrand::Rng::with_seed(1);
        let trigger = KillTrigger { moment: Moment::ModelCalled, ..KillTrigger::new(&mut rng) };
        let left = trigger.left.load(Ordering::Acquire);
        trigger.observe(Moment::ModelChunk);
        (1..left).for_each(|_| trigger.observe(Moment::ModelCalled));
        assert!(!trigger.has_fired());
        trigger.observe(Moment::ModelCalled);
        assert!(trigger.has_fired());
        trigger.fired().await;
    }
}
