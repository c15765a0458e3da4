//! An open load: requests start by a schedule, whether or not earlier ones have ended. A latency
//! begins at the scheduled time, so a slow answer also delays the requests that wait for it.

use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use tokio::runtime::Handle;
use tokio::sync::mpsc;

use super::{Latencies, Work};

/// Starts `rate` turns a second for this time, and waits for all of them.
pub(crate) async fn open(work: &Arc<Work>, rate: f64, time: Duration) -> Latencies {
    let (ended, mut results) = mpsc::unbounded_channel();
    let (work, runtime) = (Arc::clone(work), Handle::current());
    // The timer of the runtime has a resolution of a millisecond; that of a thread is finer.
    let scheduler = thread::spawn(move || {
        let interval = Duration::from_secs_f64(1.0 / rate);
        let (begin, mut due) = (Instant::now(), Instant::now());
        while due.duration_since(begin) < time {
            wait_until(due);
            let (work, ended, scheduled) = (Arc::clone(&work), ended.clone(), due);
            runtime.spawn(async move {
                let delay = scheduled.elapsed();
                let turned = work.turn().await;
                drop(ended.send(turned.map(|took| delay + took)));
            });
            due += interval;
        }
    });
    let mut latencies = Vec::new();
    while let Some(latency) = results.recv().await {
        latencies.push(latency);
    }
    scheduler.join().expect("the schedule does not panic");
    latencies.into_iter().collect()
}

fn wait_until(due: Instant) {
    loop {
        let left = due.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return;
        }
        thread::park_timeout(left);
    }
}
