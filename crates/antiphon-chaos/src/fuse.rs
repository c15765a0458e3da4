//! The moment of a kill: not a time, but the nth time that something happens.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use tokio::sync::Notify;

/// What happens in a round, seen from outside of the gateway.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Moment {
    /// A client is about to send a request.
    Asking,
    /// The gateway asked the model.
    Asked,
    /// The model said something.
    Said,
    /// A client was told its response's id.
    Announced,
    /// A client was told of a finished item.
    Finished,
    /// The model has said all: the commit is what remains.
    AllSaid,
    /// A client was told that its request is done.
    Answered,
}

const MOMENTS: [Moment; 7] = [
    Moment::Asking,
    Moment::Asked,
    Moment::Said,
    Moment::Announced,
    Moment::Finished,
    Moment::AllSaid,
    Moment::Answered,
];

/// Counts down to the kill.
#[derive(Debug)]
pub(crate) struct Fuse {
    moment: Moment,
    left: AtomicUsize,
    burnt: AtomicBool,
    burning: Notify,
}

impl Fuse {
    /// A fuse that burns out at a moment drawn by `rng`.
    pub(crate) fn light(rng: &mut fastrand::Rng) -> Self {
        let moment = MOMENTS[rng.usize(..MOMENTS.len())];
        let most = match moment {
            Moment::Said => 200,
            Moment::Finished => 30,
            _ => 20,
        };
        let left = AtomicUsize::new(rng.usize(1..=most));
        Self { moment, left, burnt: AtomicBool::new(false), burning: Notify::new() }
    }

    /// Something happened.
    pub(crate) fn saw(&self, moment: Moment) {
        if moment == self.moment && self.left.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.burn();
        }
    }

    /// Ends the round now.
    pub(crate) fn burn(&self) {
        self.burnt.store(true, Ordering::Release);
        self.burning.notify_one();
    }

    /// Whether the gateway is, or is about to be, killed: a connection may break from now on.
    pub(crate) fn is_burnt(&self) -> bool {
        self.burnt.load(Ordering::Acquire)
    }

    /// Waits for the moment.
    pub(crate) async fn burnt(&self) {
        self.burning.notified().await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn it_burns_out_at_its_moment_and_no_other() {
        let mut rng = fastrand::Rng::with_seed(1);
        let fuse = Fuse { moment: Moment::Asked, ..Fuse::light(&mut rng) };
        let left = fuse.left.load(Ordering::Acquire);
        fuse.saw(Moment::Said);
        (1..left).for_each(|_| fuse.saw(Moment::Asked));
        assert!(!fuse.is_burnt());
        fuse.saw(Moment::Asked);
        assert!(fuse.is_burnt());
        fuse.burnt().await;
    }
}
