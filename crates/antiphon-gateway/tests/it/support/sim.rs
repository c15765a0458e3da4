//! The built-in model, as the command line gives it to a gateway.

use antiphon_gateway::settings::{LocalModel, Settings};

/// The default settings, with the built-in model.
pub(crate) fn default_settings() -> Settings {
    let sim = LocalModel {
        name: antiphon_sim::NAME,
        context_window: antiphon_sim::CONTEXT_WINDOW,
        respond: antiphon_sim::event_stream,
    };
    Settings { local_model: Some(sim), ..Settings::default() }
}
