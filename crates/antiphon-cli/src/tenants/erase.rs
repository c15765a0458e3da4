//! `antiphon erase`.

use std::process::ExitCode;

use antiphon_gateway::entropy::unix_now;
use antiphon_store::{DataCounts, Tenant};

use super::args::EraseArgs;
use super::tenant_selector::TenantSelector;
use super::{counts, open, run, snapshot, store_failure};
use crate::failure::{Failure, print};
use crate::settings::Access;

/// The number of entries to erase in one batch.
const BATCH: usize = 500;

/// Erases all data of a tenant. Without `--yes`, reports the amount of data and erases nothing.
pub(crate) fn erase(args: EraseArgs) -> Result<ExitCode, Failure> {
    let selector = TenantSelector::from_args(args.tenant)?;
    run(async {
        let (tenant, held) = selector.find(&mut *snapshot(&selector.access).await?).await?;
        if !args.yes {
            let sentence = format!(
                "this would erase {} of the tenant '{}'; give --yes to erase them",
                counts::describe(&held),
                tenant.as_str()
            );
            return Err(Failure::refused(sentence));
        }
        let erased = erase_all(&selector.access, &tenant).await?;
        let (erased, name) = (counts::describe(&erased), tenant.as_str());
        let printed = print(&format!("erased {erased} of the tenant '{name}'\n"));
        let checked = check_nothing_is_left(&selector.access, &tenant).await;
        checked.and_then(|code| printed.map(|()| code))
    })
}

async fn erase_all(access: &Access, tenant: &Tenant) -> Result<DataCounts, Failure> {
    let store = open(access, "erase the tenant").await?;
    // The store compares the second in which a turn began. Add one, so that it also refuses turns
    // of the current second.
    let now = unix_now().saturating_add(1);
    let mut erased = DataCounts::default();
    loop {
        match store.erase(tenant, now, BATCH).await.map_err(|error| store_failure(&error))? {
            batch if batch.is_nothing() => break,
            batch => erased += batch,
        }
    }
    store.close_rewritten().await.map_err(|error| {
        Failure::runtime(format!(
            "erased {} of the tenant '{}', but could not rewrite the file: its unused pages may \
             contain deleted data until it is vacuumed: {error}",
            counts::describe(&erased),
            tenant.as_str()
        ))
    })?;
    Ok(erased)
}

/// Fails if the tenant has new data: it may have sent requests during the erasure.
async fn check_nothing_is_left(access: &Access, tenant: &Tenant) -> Result<ExitCode, Failure> {
    let left =
        snapshot(access).await?.count_data(tenant).await.map_err(|error| store_failure(&error))?;
    if left.is_nothing() {
        return Ok(ExitCode::SUCCESS);
    }
    Err(Failure::runtime(format!(
        "{} of the tenant '{}' were added during the erasure; revoke its access, and erase again",
        counts::describe(&left),
        tenant.as_str()
    )))
}
