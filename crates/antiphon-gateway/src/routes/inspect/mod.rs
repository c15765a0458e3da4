//! `/inspect`: the inspector. Its pages are static files, which read the data as JSON.
//!
//! The data of a tenant needs the tenant's key, as the API does. The pages themselves hold no data.
//! Without `--inspect-writes` the browser lets them connect only to the inspector's own routes,
//! which change nothing.

mod assets;
mod data;

use std::net::IpAddr;
use std::sync::Arc;

use axum::Router;
use axum::middleware::from_fn_with_state as layer;
use axum::routing::get;

use super::gate;
use crate::browser::{PageGuard, protect};
use crate::gateway::Gateway;
use crate::settings::Inspect;

/// The routes of the inspector for a listener on this address: none if the settings do not let this
/// listener serve it.
pub(super) fn router(gateway: &Arc<Gateway>, address: IpAddr) -> Router<Arc<Gateway>> {
    let access = gateway.settings.inspect.access;
    if !access.is_served_at(address) {
        return Router::new();
    }
    if access == Inspect::Keys {
        return routes(gateway);
    }
    // Pages of other origins are rejected, also if callers have keys.
    let guard = PageGuard::of_open_listener(gateway, address);
    routes(gateway).layer(layer(guard, protect))
}

fn routes(gateway: &Arc<Gateway>) -> Router<Arc<Gateway>> {
    let data = Router::new()
        .route("/inspect/conversations.json", get(data::conversations))
        .route("/inspect/conversations/{file}", get(data::conversation))
        .route("/inspect/refused.json", get(data::refused))
        .route("/inspect/turns/{file}", get(data::turn))
        .route("/inspect/turns/{id}/context.json", get(data::context))
        .route("/inspect/turns/{id}/lanes/{file}", get(data::lane))
        .route("/inspect/events", get(data::events))
        .route_layer(layer(Arc::clone(gateway), gate::admit));
    Router::new()
        .route("/inspect", get(assets::redirect))
        .route("/inspect/", get(assets::page))
        .route("/inspect/config.json", get(data::config))
        .route("/inspect/faults.json", get(data::faults))
        .route("/inspect/assets/{file}", get(assets::file))
        .merge(data)
}
