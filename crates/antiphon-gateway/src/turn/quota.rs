//! Checks whether the new items of a turn may be stored.

use antiphon::HeldItem;
use antiphon_store::Usage;

use super::open::Opened;
use super::{Planned, Turn};
use crate::error::ApiError;
use crate::request::Continues;

impl Turn<'_> {
    /// Fails if the new items of the turn exceed a quota. `held` are the items before them. A turn
    /// that stores nothing always passes.
    pub(super) async fn check_quotas(
        &self,
        opened: &Opened,
        held: &[HeldItem],
        fresh: &[HeldItem],
    ) -> Result<(), ApiError> {
        if !self.stores_items() {
            return Ok(());
        }
        let added = Usage::from_items(fresh);
        if opened.conversation.is_some() {
            self.gateway.quotas().check_conversation(held, added)?;
        }
        self.gateway.quotas().check_tenant(&self.caller.tenant, added).await
    }

    /// Checks the quotas of a turn whose state is in the gateway's store.
    pub(super) async fn check_planned(&self, planned: &Planned) -> Result<(), ApiError> {
        let Planned { opened, plan } = planned;
        let items = plan.transcript.items();
        let (held, _) = items.split_at(items.len() - plan.fresh.len());
        self.check_quotas(opened, held, &plan.fresh).await
    }

    /// Whether the turn stores items.
    pub(super) fn stores_items(&self) -> bool {
        self.request.store || matches!(self.request.continues, Continues::Conversation(_))
    }
}
