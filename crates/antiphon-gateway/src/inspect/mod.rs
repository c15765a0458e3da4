//! The inspector: shows conversations, and how each turn treated its items.
//!
//! [`Inspector`] reads the values from a store. The functions of this module add the state of a
//! running gateway, and `answers` makes them answers of routes.

pub(crate) mod answers;
mod card;
mod forest;
mod inspector;
mod lanes;
mod list;
mod live;
pub mod model;
mod query;
mod refused;
mod sent;
mod state;
mod stored_report;
mod summary;
mod turns;

use antiphon_store::{ConversationId, Tenant};

pub use self::inspector::Inspector;
use self::model::{ConversationPage, ConversationView, LanePage, TurnView};
pub use self::query::{LaneName, ListPart, ListQuery, PageQuery};
pub(crate) use self::refused::refused_turns;
pub use crate::changes::{Change, ChangeKind};
use crate::error::ApiError;
use crate::gateway::Gateway;

/// The inspector of a tenant's data in the gateway's store.
fn inspector<'a>(gateway: &'a Gateway, tenant: &'a Tenant) -> Inspector<'a> {
    let shows_bodies = gateway.settings.inspect.shows_bodies;
    Inspector::new(gateway.store.listings(), tenant, &gateway.settings.prices)
        .with_compactions(|item| gateway.compaction_key.unseal_item(tenant, item))
        .with_bodies(shows_bodies)
}

/// A page of the conversations and chains of a tenant, the latest first.
pub(crate) async fn conversations(
    gateway: &Gateway,
    tenant: &Tenant,
    query: &ListQuery,
) -> Result<ConversationPage, ApiError> {
    let inspector = inspector(gateway, tenant).with_refused(refused_turns(gateway, tenant));
    Ok(inspector.conversations(query).await?)
}

/// A conversation or chain, with a page of its turns and its state in this process.
pub(crate) async fn conversation(
    gateway: &Gateway,
    tenant: &Tenant,
    id: &str,
    page: &PageQuery,
) -> Result<Option<ConversationView>, ApiError> {
    let Some(mut view) = inspector(gateway, tenant).conversation(id, page).await? else {
        return Ok(None);
    };
    if let Some(id) = ConversationId::parse(&view.summary.id) {
        let is_open = gateway.open_turns.is_open(tenant, &id);
        let waiting = gateway.leases.count_waiting(tenant, &id);
        let response = gateway.open_turns.response_of(tenant, &id);
        view.live = std::mem::take(&mut view.live).with_local(is_open, response, waiting);
    }
    Ok(Some(view))
}

/// One turn.
pub(crate) async fn turn(
    gateway: &Gateway,
    tenant: &Tenant,
    id: &str,
) -> Result<Option<TurnView>, ApiError> {
    Ok(inspector(gateway, tenant).turn(id).await?)
}

/// The response before a turn, in its conversation or chain.
pub(crate) async fn turn_before(
    gateway: &Gateway,
    tenant: &Tenant,
    id: &str,
) -> Result<Option<String>, ApiError> {
    Ok(inspector(gateway, tenant).turn_before(id).await?)
}

/// A page of a lane of a turn.
pub(crate) async fn lane(
    gateway: &Gateway,
    tenant: &Tenant,
    id: &str,
    name: LaneName,
    page: &PageQuery,
) -> Result<Option<LanePage>, ApiError> {
    Ok(inspector(gateway, tenant).lane(id, name, page).await?)
}
