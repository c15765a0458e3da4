//! Cancellations from other tasks.

use std::pin::Pin;
use std::task::{Context, Poll};

use tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};

use crate::rules::CancelMode;

/// Cancels a run from another task, and wakes the task that waits for its next event. Clones cancel
/// the same run.
#[derive(Clone, Debug, Default)]
pub struct Canceller {
    immediate: CancellationToken,
    after_turn: CancellationToken,
}

impl Canceller {
    /// Cancels the run. A run that has ended does not change.
    pub fn cancel(&self, mode: CancelMode) {
        match mode {
            CancelMode::Immediate => self.immediate.cancel(),
            CancelMode::AfterTurn => self.after_turn.cancel(),
        }
    }
}

/// The cancellations that a run waits for, each of which happens once.
pub(super) struct Cancellations {
    canceller: Canceller,
    awaited: Vec<(CancelMode, Pin<Box<WaitForCancellationFutureOwned>>)>,
}

impl Cancellations {
    pub(super) fn canceller(&self) -> Canceller {
        self.canceller.clone()
    }

    /// The mode of a cancellation that happened; wakes the task at the next one.
    pub(super) fn poll(&mut self, context: &mut Context<'_>) -> Option<CancelMode> {
        let is_ready = |awaited: &mut (CancelMode, Pin<Box<WaitForCancellationFutureOwned>>)| {
            matches!(awaited.1.as_mut().poll(context), Poll::Ready(()))
        };
        let at = self.awaited.iter_mut().position(is_ready)?;
        Some(self.awaited.remove(at).0)
    }
}

impl Default for Cancellations {
    fn default() -> Self {
        let canceller = Canceller::default();
        let immediate = Box::pin(canceller.immediate.clone().cancelled_owned());
        let after_turn = Box::pin(canceller.after_turn.clone().cancelled_owned());
        let awaited = vec![(CancelMode::Immediate, immediate), (CancelMode::AfterTurn, after_turn)];
        Self { canceller, awaited }
    }
}
