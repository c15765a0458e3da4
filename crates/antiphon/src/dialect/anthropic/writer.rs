use crate::stream::{Event, Finished};

/// Writes Anthropic Messages events.
pub struct Writer;

impl Writer {
    pub(in crate::dialect) fn new() -> Self {
        Self
    }

    pub(in crate::dialect) fn event(&mut self, event: &Event) -> Vec<Event> {
        let _ = event;
        Vec::new()
    }

    pub(in crate::dialect) fn end(&mut self, finished: &Finished) -> Vec<Event> {
        let _ = finished;
        Vec::new()
    }
}

pub(in crate::dialect) fn fold(finished: &Finished) -> String {
    finished.response.clone()
}
