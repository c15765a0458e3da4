//! `antiphon serve --check`: performs the checks of a start without starting the gateway. `doctor`
//! performs the same checks.

use std::io::{self, Write as _};

use antiphon_gateway::check_secrets;
use antiphon_store::{Snapshot, StoreState};

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
    Ok(match inspect_store(configuration).await? {
        StoreState::Absent => format!("store: ok, {ABSENT}\n"),
        StoreState::Outdated => {
            format!("store: ok, {OUTDATED}\nsecret: {SECRET_NOT_CHECKED}\n")
        }
        StoreState::Current(mut snapshot) => {
            check_secret(&mut *snapshot, configuration).await?;
            "store: ok\nsecret: ok\n".to_owned()
        }
    })
}

/// The description of a store without tables.
pub(crate) const ABSENT: &str = "does not exist yet; the next start creates it";
/// The description of a store that needs a migration.
pub(crate) const OUTDATED: &str = "from an earlier release; the next start migrates its tables";
/// The description of the secret of such a store.
pub(crate) const SECRET_NOT_CHECKED: &str =
    "not checked, because the store is from an earlier release";

/// Inspects the store. Fails if a gateway could not start on it.
pub(crate) async fn inspect_store(configuration: &Configuration) -> Result<StoreState, Failure> {
    let state = antiphon_store::inspect(&configuration.store).await;
    state.map_err(|error| Failure::store_not_opened(&error))
}

/// Checks that the secrets open the key in the store.
pub(crate) async fn check_secret(
    snapshot: &mut dyn Snapshot,
    configuration: &Configuration,
) -> Result<(), Failure> {
    check_secrets(snapshot, &configuration.gateway.secrets)
        .await
        .map_err(|error| Failure::runtime(format!("the gateway cannot start: {error}")))
}
