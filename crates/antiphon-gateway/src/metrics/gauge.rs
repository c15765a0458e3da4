//! Counts open things.

use prometheus::IntGauge;

/// The number of things that are open now.
#[derive(Clone, Debug)]
pub(crate) struct OpenGauge(pub(super) IntGauge);

/// Counts one open thing until it is dropped.
#[derive(Debug)]
pub(crate) struct Counted(IntGauge);

impl OpenGauge {
    /// Counts one more, until the result is dropped.
    pub(crate) fn count(&self) -> Counted {
        self.0.inc();
        Counted(self.0.clone())
    }

    /// A gauge that no exporter reads.
    pub(crate) fn unread() -> Self {
        Self(IntGauge::new("unread", "unread").expect("the name is valid"))
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.dec();
    }
}
