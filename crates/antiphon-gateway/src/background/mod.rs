//! Background responses: turns for whose end nobody waits.
//!
//! A turn in the background is the turn that it would be otherwise ([`turn`](crate::turn)); only its
//! events go to a log in the store, and whoever wants them reads them there. So they can be read from
//! any number on, by any number of readers, in any process.

mod expiry;
mod marks;
mod reading;
mod standing;
mod taking_up;
mod work;

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use antiphon_store::{ResponseId, Tenant};
use tokio::sync::{Notify, watch};
use tokio_util::sync::CancellationToken;

pub(crate) use self::expiry::{expire, expiry_of};
pub(crate) use self::marks::heed;
pub(crate) use self::reading::Reading;
pub(crate) use self::standing::{cancelled_and_ended, present_response};
pub(crate) use self::taking_up::take_up;
pub(crate) use self::work::Work;

/// How often the store is asked what other processes did to a response.
const POLL: Duration = Duration::from_millis(250);

type Key = (Tenant, ResponseId);

/// The jobs that this process works on.
#[derive(Clone, Default)]
pub(crate) struct Jobs(Arc<Shared>);

#[derive(Default)]
struct Shared {
    jobs: Mutex<HashMap<Key, Signals>>,
    /// Told that there may be jobs that somebody left behind.
    left: Notify,
}

/// What a job is told, and what it tells.
#[derive(Clone)]
struct Signals {
    cancellation: CancellationToken,
    /// Told when events were added to the log.
    progress: Arc<watch::Sender<()>>,
}

/// A job that this process works on, until it is dropped.
pub(crate) struct Job {
    key: Key,
    jobs: Jobs,
    signals: Signals,
}

impl Jobs {
    /// Enters a job. To be done before the store has it: who finds it there will be heard.
    pub(crate) fn enter(&self, tenant: &Tenant, id: &ResponseId) -> Job {
        let key = (tenant.clone(), id.clone());
        let progress = Arc::new(watch::Sender::new(()));
        let signals = Signals { cancellation: CancellationToken::new(), progress };
        self.entered(|jobs| jobs.insert(key.clone(), signals.clone()));
        Job { key, jobs: self.clone(), signals }
    }

    /// Tells a job, if this process works on it, that it is cancelled.
    pub(crate) fn cancel(&self, tenant: &Tenant, id: &ResponseId) {
        let signals = self.signals(tenant, id);
        if let Some(signals) = signals {
            signals.cancellation.cancel();
        }
    }

    /// Has what was left behind looked for at once.
    pub(crate) fn look_for_left(&self) {
        self.0.left.notify_one();
    }

    /// Tells of events that are added from now on, and of the end. `None` where this process does
    /// not work on the job.
    fn progress(&self, tenant: &Tenant, id: &ResponseId) -> Option<watch::Receiver<()>> {
        self.signals(tenant, id).map(|signals| signals.progress.subscribe())
    }

    fn is_empty(&self) -> bool {
        self.entered(|jobs| jobs.is_empty())
    }

    fn signals(&self, tenant: &Tenant, id: &ResponseId) -> Option<Signals> {
        self.entered(|jobs| jobs.get(&(tenant.clone(), id.clone())).cloned())
    }

    fn entered<T>(&self, change: impl FnOnce(&mut HashMap<Key, Signals>) -> T) -> T {
        change(&mut self.0.jobs.lock().expect("no holder of this lock panics"))
    }
}

impl Job {
    /// Whose it is.
    pub(crate) fn tenant(&self) -> &Tenant {
        &self.key.0
    }

    /// The response's id.
    pub(crate) fn id(&self) -> &ResponseId {
        &self.key.1
    }

    /// Waits until it is cancelled.
    pub(crate) async fn cancelled(&self) {
        self.signals.cancellation.cancelled().await;
    }

    /// Tells readers that there is something new.
    pub(crate) fn progressed(&self) {
        self.signals.progress.send_replace(());
    }
}

impl Drop for Job {
    /// Another may have been entered for the same response meanwhile: that stays.
    fn drop(&mut self) {
        let is_this = |signals: &Signals| Arc::ptr_eq(&signals.progress, &self.signals.progress);
        self.jobs.entered(|jobs| {
            if jobs.get(&self.key).is_some_and(is_this) {
                jobs.remove(&self.key);
            }
        });
        self.progressed();
    }
}
