//! The latest turns that left no response.

use antiphon::json::Object;
use antiphon_store::Tenant;
use tokio::time::Instant;

use super::model::{RefusedTurnView, Summary, ThreadKind};
use crate::fault_pages;
use crate::gateway::Gateway;
use crate::refused_turns::RefusedTurn;
use crate::request;

/// The latest turns of the tenant that left no response, as far as this process remembers them.
pub(crate) fn refused_turns(gateway: &Gateway, tenant: &Tenant) -> Vec<RefusedTurnView> {
    let turns = gateway.refused_turns.list(tenant, Instant::now());
    turns.into_iter().map(RefusedTurnView::from).collect()
}

impl RefusedTurnView {
    /// Whether the request continues this conversation or the end of this chain.
    pub(super) fn continues(&self, summary: &Summary) -> bool {
        let continued = self.continues.as_ref();
        continued == Some(&summary.id)
            || continued.is_some() && continued == summary.last_response.as_ref()
    }

    /// Whether no later turn of this conversation has begun.
    pub(super) fn is_last_of(&self, summary: &Summary) -> bool {
        self.continues(summary)
            && match summary.kind {
                ThreadKind::Chain => self.continues == summary.last_response,
                ThreadKind::Conversation => {
                    summary.last_turn_at.is_none_or(|at| self.created_at >= at)
                }
            }
    }
}

impl From<RefusedTurn> for RefusedTurnView {
    fn from(turn: RefusedTurn) -> Self {
        let fields = Object::parse_str(&turn.fields).unwrap_or_default();
        let text = |key| fields.string(key).map(std::borrow::Cow::into_owned);
        Self {
            model: text("model"),
            continues: text("previous_response_id")
                .or_else(|| request::conversation(&fields).ok().flatten()),
            user: text("safety_identifier").or_else(|| text("user")),
            request_id: turn.request_id,
            created_at: turn.created_at,
            fault: fault_pages::recognize(turn.code.as_deref(), &turn.message).map(str::to_owned),
            code: turn.code,
            message: turn.message,
        }
    }
}
