//! Continues a chain whose response the upstream has lost, from the bodies in the ledger.

use antiphon::Body;
use antiphon_store::{LedgerSubject, ResponseRecord};

use super::UpstreamTurn;
use super::plan::{ContinueFrom, PlanInputs};
use crate::error::ApiError;
use crate::request::Continues;
use crate::settings::Ledger;
use crate::turn::open::Opened;
use crate::upstream::{StateError, UpstreamError};

impl UpstreamTurn<'_> {
    /// Opens the turn. If the upstream has lost the previous response, opens it on the ledger's
    /// copy.
    pub(super) async fn open_or_replay(&self) -> Result<(Opened, PlanInputs), ApiError> {
        let lost = match self.open().await {
            Ok(opened) => return Ok((opened, PlanInputs::default())),
            Err(error) => error,
        };
        let Some(record) = self.record_of_lost(&lost).await? else { return Err(lost) };
        let opened = self.open_at(&record).await?;
        let continue_from = ContinueFrom::Nothing;
        match self.can_replay(&opened).await? {
            true => Ok((opened, PlanInputs { continue_from, ..PlanInputs::default() })),
            false => Err(lost),
        }
    }

    /// The ledger's record of the previous response, if this error reports that the response is
    /// lost. A stale record counts as well, because there is no other copy.
    async fn record_of_lost(&self, error: &ApiError) -> Result<Option<ResponseRecord>, ApiError> {
        let Continues::Response(id) = &self.turn.request.continues else { return Ok(None) };
        if !is_response_lost(error) {
            return Ok(None);
        }
        let entry = self.ledgers().entry(&self.turn.caller.tenant, id).await?;
        match entry.map(|entry| entry.subject) {
            Some(LedgerSubject::Response(local)) => self.turn.wait_for_response(&local).await,
            _ => Ok(None),
        }
    }

    /// Whether the ledger has the full context of the turn, so that it can be sent again.
    pub(super) async fn can_replay(&self, opened: &Opened) -> Result<bool, ApiError> {
        let is_chain = matches!(self.turn.request.continues, Continues::Response(_));
        if !is_chain || self.turn.gateway.settings.ledger != Ledger::Bodies {
            return Ok(false);
        }
        let held = self.turn.load(opened.cursor).await?;
        Ok(held.items().iter().all(|item| item.body != Body::StoredElsewhere))
    }
}

/// Whether the error reports that the previous response does not exist.
fn is_response_lost(error: &ApiError) -> bool {
    match error {
        ApiError::Upstream(rejection) => {
            let fault = UpstreamError::Rejected(rejection.clone()).state_error();
            fault == Some(StateError::UnknownResponse)
        }
        error => error.code() == "previous_response_not_found",
    }
}
