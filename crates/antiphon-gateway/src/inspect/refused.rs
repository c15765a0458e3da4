//! The latest turns that left no response.

use antiphon::json::Object;
use antiphon_store::Tenant;
use tokio::time::Instant;

use super::model::RefusedTurnView;
use crate::fault_pages;
use crate::gateway::Gateway;
use crate::refused_turns::RefusedTurn;
use crate::request;

/// The latest turns of the tenant that left no response, as far as this process remembers them.
pub(crate) fn refused_turns(gateway: &Gateway, tenant: &Tenant) -> Vec<RefusedTurnView> {
    let turns = gateway.refused_turns.list(tenant, Instant::now());
    turns.into_iter().map(RefusedTurnView::from).collect()
}

impl From<RefusedTurn> for RefusedTurnView {
    fn from(turn: RefusedTurn) -> Self {
        let fields = Object::parse_str(&turn.fields).unwrap_or_default();
        let text = |key| fields.string(key).map(std::borrow::Cow::into_owned);
        Self {
            model: text("model"),
            continues: text("previous_response_id")
                .or_else(|| request::conversation(&fields).ok().flatten()),
            request_id: turn.request_id,
            created_at: turn.created_at,
            fault: fault_pages::recognize(turn.code.as_deref(), &turn.message).map(str::to_owned),
            code: turn.code,
            message: turn.message,
        }
    }
}
