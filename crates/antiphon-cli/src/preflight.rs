//! `antiphon serve --check`: makes the checks of a start, and does not start.

use std::io::{self, Write as _};

use antiphon_gateway::check_secrets;
use antiphon_store::StoreState;

use crate::failure::Failure;
use crate::settings::Configuration;

/// Checks the store and the secrets of settings that were read without a refusal. Nothing is bound,
/// created or migrated, and no upstream is asked. A gateway may run on the store meanwhile.
pub(crate) fn check(configuration: &Configuration) -> Result<(), Failure> {
    configuration.log_warnings();
    let lines = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::runtime(format!("the runtime cannot be started: {error}")))?
        .block_on(check_store(configuration))?;
    // A failed write is ignored: the exit code says the same.
    let _ = write!(io::stdout(), "settings: ok\n{lines}");
    Ok(())
}

/// Returns the lines to print.
async fn check_store(configuration: &Configuration) -> Result<String, Failure> {
    let state = antiphon_store::inspect(&configuration.store)
        .await
        .map_err(|error| Failure::runtime(format!("the store cannot be opened: {error}")))?;
    Ok(match state {
        StoreState::Absent => {
            "store: ok, does not exist yet; the next start creates it\n".to_owned()
        }
        StoreState::Outdated => {
            "store: ok, of an earlier release; the next start brings its tables up to date\n\
             secret: not checked, because the store is of an earlier release\n"
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
