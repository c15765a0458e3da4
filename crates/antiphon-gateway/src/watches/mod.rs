//! The watches of this process: background responses that an upstream runs.
//!
//! [`watcher`](crate::watcher) polls them.

mod turn;

use std::mem;
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

use antiphon_store::ClaimedNotice;
use tokio::sync::Notify;
use tokio::time::timeout;

pub(crate) use self::turn::WatchedTurn;
use crate::caller::Caller;
use crate::entropy::unix_now;

/// The lifetime of a claim in seconds. By then, its holder has postponed the watch or died.
pub(crate) const CLAIM: i64 = 30;
/// The maximum length of a watch in seconds.
pub(crate) const LONGEST: i64 = 24 * 60 * 60;
/// The delay of the first poll after the turn, in seconds.
pub(crate) const FIRST_PAUSE: i64 = 1;

/// The watches of this process.
#[derive(Default)]
pub(crate) struct Watches {
    /// Notified after the commit of a watch.
    committed: Notify,
    /// Watches with callers' tokens that [`watcher::run`](crate::watcher::run) has not started yet.
    with_tokens: Mutex<Vec<Watch>>,
}

impl Watches {
    /// Starts a watch that was committed with its turn. `committed` is its notice.
    pub(crate) fn start(&self, committed: ClaimedNotice, turn: WatchedTurn, caller: &Caller) {
        if turn.needs_token() {
            self.with_tokens().push(Watch { committed, turn, caller: caller.clone() });
        }
        self.committed.notify_one();
    }

    /// Waits until this process commits a watch, or until `at` in Unix seconds. `None` means no
    /// limit.
    pub(crate) async fn wait_for_wake(&self, at: Option<i64>) {
        let committed = self.committed.notified();
        let Some(at) = at else { return committed.await };
        let seconds = u64::try_from(at - unix_now()).unwrap_or(0);
        // In both cases, the store returns the watches that are due.
        drop(timeout(Duration::from_secs(seconds), committed).await);
    }

    pub(crate) fn take_with_tokens(&self) -> Vec<Watch> {
        mem::take(&mut *self.with_tokens())
    }

    fn with_tokens(&self) -> MutexGuard<'_, Vec<Watch>> {
        self.with_tokens.lock().expect("no holder of this lock panics")
    }
}

/// A watch that this process polls.
pub(crate) struct Watch {
    /// The notice as claimed or committed.
    pub(crate) committed: ClaimedNotice,
    pub(crate) turn: WatchedTurn,
    /// The caller of the turn, with its token if the upstream receives it.
    pub(crate) caller: Caller,
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;

    use super::*;

    #[tokio::test]
    async fn watches_wake_at_a_commit() {
        let watches = Watches::default();
        assert!(watches.wait_for_wake(None).now_or_never().is_none());
        watches.committed.notify_one();
        assert!(watches.wait_for_wake(None).now_or_never().is_some());
        assert!(watches.wait_for_wake(Some(i64::MAX)).now_or_never().is_none());
    }
}
