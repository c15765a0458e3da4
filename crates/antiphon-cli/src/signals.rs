//! Signals to the process.

use std::convert::Infallible;
use std::future;
use std::io;
use std::time::Duration;

use nix::sys::signal::Signal as SignalName;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::time::Instant;

/// The time after the first signal in which further signals are the same request to stop. Programs
/// such as `timeout` and `npx` signal both the process and its group.
const SAME_REQUEST: Duration = Duration::from_secs(1);

/// SIGINT and SIGTERM. Once this exists, these signals no longer end the process by themselves.
pub(crate) struct Signals {
    interrupt: Signal,
    terminate: Signal,
}

impl Signals {
    pub(crate) fn listen() -> io::Result<Self> {
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
        })
    }

    /// Waits for the next signal.
    pub(crate) async fn next(&mut self) -> SignalName {
        tokio::select! {
            _ = self.interrupt.recv() => SignalName::SIGINT,
            _ = self.terminate.recv() => SignalName::SIGTERM,
        }
    }
}

impl Signals {
    /// Waits for a second request to stop: a signal that comes at least a second after the first
    /// one. Call it when the first one has come.
    pub(crate) async fn second_request(&mut self) -> SignalName {
        next_request(async || self.next().await).await
    }
}

/// The first signal that comes at least [`SAME_REQUEST`] from now.
async fn next_request(mut next: impl AsyncFnMut() -> SignalName) -> SignalName {
    let end = Instant::now() + SAME_REQUEST;
    loop {
        let signal = next().await;
        if Instant::now() >= end {
            return signal;
        }
        tracing::debug!(signal = signal.as_str(), "signal ignored: it repeats the first one");
    }
}

/// SIGHUP, by which many daemons reload their settings. Once this exists, SIGHUP no longer ends the
/// process.
pub(crate) struct Hangups(Signal);

impl Hangups {
    pub(crate) fn listen() -> io::Result<Self> {
        signal(SignalKind::hangup()).map(Self)
    }

    /// Logs each SIGHUP and changes nothing. A reload would have to replace keys, upstreams and
    /// limits under open turns; a restart lets these turns end first.
    pub(crate) async fn log_each(mut self) -> Infallible {
        while self.0.recv().await.is_some() {
            tracing::warn!(
                "SIGHUP ignored: settings are read only at the start; to apply changes, check \
                 them with `antiphon serve --check`, then restart the gateway"
            );
        }
        future::pending().await
    }
}

/// The signals that `run` forwards to its agent. Once this exists, they no longer end the process
/// by themselves.
pub(crate) struct ForwardedSignals {
    ending: Signals,
    hangup: Signal,
    quit: Signal,
}

impl ForwardedSignals {
    pub(crate) fn listen() -> io::Result<Self> {
        Ok(Self {
            ending: Signals::listen()?,
            hangup: signal(SignalKind::hangup())?,
            quit: signal(SignalKind::quit())?,
        })
    }

    /// Waits for the next signal.
    pub(crate) async fn next(&mut self) -> SignalName {
        tokio::select! {
            name = self.ending.next() => name,
            _ = self.hangup.recv() => SignalName::SIGHUP,
            _ = self.quit.recv() => SignalName::SIGQUIT,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn repeated_signal_is_no_second_request() {
        let start = Instant::now();
        let arrivals = [
            (0, SignalName::SIGTERM),
            (1, SignalName::SIGINT),
            (999, SignalName::SIGTERM),
            (1000, SignalName::SIGINT),
            (1001, SignalName::SIGTERM),
        ];
        let mut arrivals = arrivals.into_iter();
        let signal = next_request(async || {
            let (millis, signal) = arrivals.next().expect("an earlier signal is the request");
            tokio::time::sleep_until(start + Duration::from_millis(millis)).await;
            signal
        });
        assert_eq!(signal.await, SignalName::SIGINT);
        assert_eq!(start.elapsed(), SAME_REQUEST);
    }
}
