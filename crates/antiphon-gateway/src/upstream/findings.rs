//! The detected capabilities of an upstream.

use std::sync::OnceLock;
use std::sync::atomic::AtomicUsize;

use tokio::sync::Mutex;

use crate::settings::Capabilities;

/// The capabilities of one upstream, as detected from its answers.
///
/// ```text
///            ┌──── no result ──────┐
///            v                     │
///   Unknown ── a request needs it ──> Probing ── result ──> Found
/// ```
///
/// One task at a time sends the probe, and the others wait for its result. The result stays valid
/// until the gateway stops.
#[derive(Default)]
pub(crate) struct Findings {
    pub(crate) found: OnceLock<Capabilities>,
    pub(crate) probing: Mutex<()>,
    /// The number of probes without a result.
    pub(crate) failures: AtomicUsize,
}
