//! `antiphon serve --check`: performs the checks of a start without starting the gateway.

use std::io::{self, Write as _};

use antiphon_gateway::check_secrets;
use antiphon_store::StoreState;

use crate::failure::Failure;
use crate::settings::Configuration;

/// Checks the store and the secrets of a configuration that was parsed without an error.
///
/// Binds no port, creates and migrates nothing, and sends no request to an upstream. A gateway may
/// be running on the same store.
pub(crate) fn check(configuration: &Configuration) -> Result<(), Failure> {
    configuration.log_warnings();
    let lines = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::runtime(format!("the runtime cannot be started: {error}")))?
        .block_on(check_store(configuration))?;
    // Ignore a failed write: the exit code carries the same result.
    let _ = write!(io::stdout(), "settings: ok\n{lines}");
    Ok(())
}

/// Checks the store and returns the lines to print.
async fn check_store(configuration: &Configuration) -> Result<String, Failure> {
    let state = antiphon_store::inspect(&configuration.store)
        .await
        .map_err(|error| Failure::store_not_opened(&error))?;
    Ok(match state {
        StoreState::Absent => {
            "store: ok, does not exist yet; the next start creates it\n".to_owned()
        }
        StoreState::Outdated => {
            "store: ok, from an earlier release; the next start migrates its tables\nsecret: not \
             checked, because the store is from an earlier release\n"
                .to_owned()
        }
        StoreState::Current(mut snapshot) => {
            check_secrets(&mut *snapshot, &configuration.gateway.secrets)
                .await
                .map_err(|error| Failure::runtime(format!("the gateway cannot start: {error}")))?;
            "store: ok\nsecret: ok\n".to_owned()
        }
    })
}
