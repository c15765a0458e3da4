//! Signals to the process.

use std::convert::Infallible;
use std::future;
use std::io;

use nix::sys::signal::Signal as SignalName;
use tokio::signal::unix::{Signal, SignalKind, signal};

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
