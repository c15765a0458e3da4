//! The background responses of this process: their registry, their stored data, and the expiry of
//! their logs.

mod expiry;
mod job_request;

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use antiphon_store::{ResponseId, Store, Tenant};
use tokio::sync::{Notify, watch};
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

pub(crate) use self::expiry::{expire, log_expiry};
pub(crate) use self::job_request::JobRequest;
use crate::metrics::{Counted, OpenGauge};

/// The interval at which the store is polled for changes by other processes.
pub(crate) const POLL: Duration = Duration::from_millis(250);

type Key = (Tenant, ResponseId);

/// The jobs of this process.
#[derive(Clone)]
pub(crate) struct Jobs(Arc<Shared>);

struct Shared {
    jobs: Mutex<HashMap<Key, Signals>>,
    open: OpenGauge,
    /// Notified when another process may have abandoned a job.
    search: Notify,
}

/// The signals between a job and the rest of the process.
#[derive(Clone)]
struct Signals {
    cancellation: CancellationToken,
    /// Notified when events were added to the log.
    progress: Arc<watch::Sender<()>>,
}

/// A job of this process, until it is dropped.
pub(crate) struct Job {
    key: Key,
    jobs: Jobs,
    signals: Signals,
    _counted: Counted,
}

impl Jobs {
    /// No jobs yet. `open` counts them.
    pub(crate) fn new(open: OpenGauge) -> Self {
        Self(Arc::new(Shared { jobs: Mutex::default(), open, search: Notify::new() }))
    }

    /// Registers a job. This must happen before the store contains it, so that a cancellation of
    /// the stored job finds it here.
    pub(crate) fn register(&self, tenant: &Tenant, id: &ResponseId) -> Job {
        let key = (tenant.clone(), id.clone());
        let progress = Arc::new(watch::Sender::new(()));
        let signals = Signals { cancellation: CancellationToken::new(), progress };
        self.with_jobs(|jobs| jobs.insert(key.clone(), signals.clone()));
        Job { key, jobs: self.clone(), signals, _counted: self.0.open.count() }
    }

    /// Cancels a job, if this process runs it.
    pub(crate) fn cancel(&self, tenant: &Tenant, id: &ResponseId) {
        let signals = self.signals(tenant, id);
        if let Some(signals) = signals {
            signals.cancellation.cancel();
        }
    }

    /// Starts a search for abandoned jobs at once.
    pub(crate) fn search_abandoned(&self) {
        self.0.search.notify_one();
    }

    /// Waits for such a search, at most for `period`.
    pub(crate) async fn wait_for_search(&self, period: Duration) {
        drop(timeout(period, self.0.search.notified()).await);
    }

    /// Cancels jobs that another process marked as cancelled, or that were marked while this
    /// process was resuming them. Looks for them periodically, and never returns.
    pub(crate) async fn cancel_marked(&self, store: &dyn Store) {
        loop {
            sleep(POLL).await;
            if self.is_empty() {
                continue;
            }
            match store.background_jobs().cancelled_jobs().await {
                Ok(cancelled) => cancelled.iter().for_each(|(tenant, id)| self.cancel(tenant, id)),
                Err(error) => {
                    tracing::warn!(
                        %error,
                        "could not read which background responses are cancelled"
                    );
                }
            }
        }
    }

    /// Subscribes to new events of a job and to its end. `None` if this process does not run the
    /// job.
    pub(crate) fn progress(&self, tenant: &Tenant, id: &ResponseId) -> Option<watch::Receiver<()>> {
        self.signals(tenant, id).map(|signals| signals.progress.subscribe())
    }

    fn is_empty(&self) -> bool {
        self.with_jobs(|jobs| jobs.is_empty())
    }

    fn signals(&self, tenant: &Tenant, id: &ResponseId) -> Option<Signals> {
        self.with_jobs(|jobs| jobs.get(&(tenant.clone(), id.clone())).cloned())
    }

    fn with_jobs<T>(&self, change: impl FnOnce(&mut HashMap<Key, Signals>) -> T) -> T {
        change(&mut self.0.jobs.lock().expect("no holder of this lock panics"))
    }
}

impl Job {
    /// The tenant of the job.
    pub(crate) fn tenant(&self) -> &Tenant {
        &self.key.0
    }

    /// The response's id.
    pub(crate) fn id(&self) -> &ResponseId {
        &self.key.1
    }

    /// Waits until the job is cancelled.
    pub(crate) async fn cancelled(&self) {
        self.signals.cancellation.cancelled().await;
    }

    /// Notifies readers about new events.
    pub(crate) fn notify_readers(&self) {
        self.signals.progress.send_replace(());
    }
}

impl Drop for Job {
    /// Removes this job. If a newer job of the same response was registered, that one stays.
    fn drop(&mut self) {
        let is_this = |signals: &Signals| Arc::ptr_eq(&signals.progress, &self.signals.progress);
        self.jobs.with_jobs(|jobs| {
            if jobs.get(&self.key).is_some_and(is_this) {
                jobs.remove(&self.key);
            }
        });
        self.notify_readers();
    }
}
