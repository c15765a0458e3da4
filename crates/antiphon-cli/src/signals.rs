//! Tells a repeated signal from a second request to stop.

use std::fmt::Display;
use std::time::Duration;

use tokio::time::Instant;

use crate::platform::{Signal, Signals};

/// The time after the first signal in which further signals are the same request to stop. Programs
/// such as `timeout` and `npx` signal both the process and its group.
const SAME_REQUEST: Duration = Duration::from_secs(1);

/// Waits for a second request to stop: a signal that comes at least a second after the first one.
/// Call it when the first one has come.
pub(crate) async fn second_request(signals: &mut Signals) -> Signal {
    next_request(async || signals.next().await).await
}

/// The first signal that comes at least [`SAME_REQUEST`] from now.
async fn next_request<S: Display>(mut next: impl AsyncFnMut() -> S) -> S {
    let end = Instant::now() + SAME_REQUEST;
    loop {
        let signal = next().await;
        if Instant::now() >= end {
            return signal;
        }
        tracing::debug!(%signal, "signal ignored: it repeats the first one");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn repeated_signal_is_no_second_request() {
        let start = Instant::now();
        let mut arrivals = [0, 1, 999, 1000, 1001].into_iter();
        let arrival = next_request(async || {
            let millis = arrivals.next().expect("an earlier signal is the request");
            tokio::time::sleep_until(start + Duration::from_millis(millis)).await;
            millis
        });
        assert_eq!(arrival.await, 1000);
        assert_eq!(start.elapsed(), SAME_REQUEST);
    }
}
