//! The built-in model, as the command line gives it to a gateway.

use std::sync::Arc;

use antiphon_gateway::settings::{EventStream, LocalModel, Settings};

/// The default settings, with the built-in model.
pub(crate) fn default_settings() -> Settings {
    Settings { local_model: Some(Arc::new(Sim)), ..Settings::default() }
}

#[derive(Debug)]
struct Sim;

impl LocalModel for Sim {
    fn name(&self) -> &'static str {
        antiphon_sim::NAME
    }

    fn context_window(&self) -> u64 {
        antiphon_sim::CONTEXT_WINDOW
    }

    fn respond(&self, request: &[u8]) -> Result<EventStream, String> {
        let events = antiphon_sim::answer(request).map_err(|error| error.to_string())?;
        Ok(Box::new(events))
    }
}
