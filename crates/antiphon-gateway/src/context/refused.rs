//! The context of a turn that left no response.

use antiphon_store::Tenant;
use tokio::time::Instant;

use super::{Context, ContextItem, Source};
use crate::gateway::Gateway;
use crate::refused_turns::RefusedTurn;
use crate::upstream::Upstream;

/// The context of a refused or failed turn of this tenant, by the id of its request: the received
/// items and the error. `None` if this process does not remember it.
pub(crate) fn find_refused(
    gateway: &Gateway,
    tenant: &Tenant,
    request_id: &str,
) -> Option<Context> {
    let turn = gateway.refused_turns.find(tenant, request_id, Instant::now())?;
    Some(Context::from_refused(gateway, turn))
}

impl Context {
    fn from_refused(gateway: &Gateway, turn: RefusedTurn) -> Self {
        let fields = antiphon::json::Object::parse_str(&turn.fields).unwrap_or_default();
        let text = |key| fields.string(key).map(std::borrow::Cow::into_owned);
        let upstream = text("model");
        let upstream = upstream.and_then(|model| gateway.upstreams.for_model(&model));
        let items = turn.items.into_iter().map(ContextItem::received).collect();
        Self {
            id: turn.request_id,
            previous: text("previous_response_id"),
            conversation: text("conversation"),
            created_at: turn.created_at,
            status: "refused".into(),
            is_delta: false,
            upstream: upstream.map(|upstream| upstream.label().to_owned()),
            api: upstream.map(|upstream: Upstream<'_>| upstream.api().name()),
            fields: turn.fields,
            items,
            left_out: Vec::new(),
            repairs: Vec::new(),
            translation: None,
            cached_tokens: None,
            input_tokens: None,
            error: Some((turn.code.unwrap_or_default(), turn.message)),
            exact: false,
        }
    }
}

impl ContextItem {
    /// An item of a request, without a place in the store.
    fn received(item: antiphon::Item) -> Self {
        Self {
            head: item.head().clone(),
            id: item.head().id.as_ref().map(ToString::to_string),
            seq: None,
            item: Some(item),
            is_deleted: false,
            source: Source::Input,
            repair: None,
        }
    }
}
