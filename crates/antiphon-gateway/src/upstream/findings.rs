//! The capabilities that an upstream was found to have.

use std::sync::OnceLock;
use std::sync::atomic::AtomicUsize;

use tokio::sync::Mutex;

use crate::settings::Capabilities;

/// The capabilities of one upstream, as its own answers showed them.
///
/// ```text
///            ┌── it did not say ───┐
///            v                     │
///   Unknown ── a caller needs it ──> Asked ── it said ──> Found
/// ```
///
/// One task at a time asks; the others wait for its result, which is valid for as long as the gateway
/// runs.
#[derive(Default)]
pub(crate) struct Findings {
    pub(crate) found: OnceLock<Capabilities>,
    pub(crate) asked: Mutex<()>,
    /// The number of attempts without an answer.
    pub(crate) unsaid: AtomicUsize,
}
