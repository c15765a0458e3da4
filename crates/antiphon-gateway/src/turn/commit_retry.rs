//! Commits a turn while the store fails for a moment.

use antiphon_store::{Destination, ResponseId, Store, StoreError, Tenant, TurnRecord};

use crate::gateway::Gateway;
use crate::gateway::StoreAttempts;

type Result<T> = std::result::Result<T, StoreError>;

/// Commits a turn. While the store is unavailable, the turn stays in memory and the commit is
/// repeated, within a time limit.
///
/// A failed attempt may have been committed although its answer was lost. Each further attempt
/// therefore checks first, so that a turn is never committed twice.
pub(super) async fn commit_with_retries(
    gateway: &Gateway,
    tenant: &Tenant,
    turn: TurnRecord,
) -> Result<()> {
    let store = &*gateway.store;
    let response = turn.response.as_ref().map(|response| response.id.clone());
    let response = response.as_ref().map(ResponseId::as_str);
    let mut attempts = StoreAttempts::new(gateway);
    let mut committed = store.commit_turn(tenant, turn.clone()).await;
    let mut repeated = 0_u32;
    while let Err(error) = &committed
        && error.is_outage()
    {
        if repeated == 0 {
            let tenant = tenant.as_str();
            tracing::warn!(tenant, response, %error, "could not store a turn; trying again");
        }
        if !attempts.pause().await {
            break;
        }
        repeated += 1;
        committed = commit_unless_done(store, tenant, &turn).await;
    }
    gateway.write_check.record(&committed);
    if repeated > 0 && committed.is_ok() {
        let tenant = tenant.as_str();
        tracing::info!(tenant, response, repeated, "stored the turn after a retry");
    }
    committed
}

async fn commit_unless_done(store: &dyn Store, tenant: &Tenant, turn: &TurnRecord) -> Result<()> {
    if is_committed(store, tenant, turn).await? {
        return Ok(());
    }
    match store.commit_turn(tenant, turn.clone()).await {
        // The previous attempt may have completed in the meantime.
        Err(refused) if is_committed(store, tenant, turn).await? => {
            tracing::debug!(%refused, "the turn is stored already");
            Ok(())
        }
        committed => committed,
    }
}

/// Whether the store holds exactly this turn. If another process has settled it in the meantime,
/// the record under its id is different.
async fn is_committed(store: &dyn Store, tenant: &Tenant, turn: &TurnRecord) -> Result<bool> {
    if let Some(response) = &turn.response {
        let found = store.response(tenant, &response.id).await?;
        return Ok(found.is_some_and(|found| found.response.envelope == response.envelope));
    }
    let Destination::Conversation(conversation) = &turn.destination else { return Ok(false) };
    let mut items = turn.output.iter().chain(&turn.input);
    match items.find(|item| !item.is_tombstone()) {
        Some(item) => Ok(store.item(tenant, conversation, &item.id).await?.is_some()),
        None => Ok(false),
    }
}
