//! The built-in model, as an upstream of the gateway.

use antiphon_gateway::settings::{EventStream, LocalModel};

/// The model `sim`.
#[derive(Debug)]
pub(crate) struct BuiltInModel;

impl LocalModel for BuiltInModel {
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
