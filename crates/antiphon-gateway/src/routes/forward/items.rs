//! Ledger updates after items were added or deleted.
//!
//! Both operations run under the conversation's lease: they wait for its open turn, and no turn
//! begins meanwhile. The ledger gets the items after the upstream has confirmed them. If the
//! outcome is unknown, the ledger is marked as stale, and the next turn resyncs it.

use antiphon::item::parse_items;
use antiphon::json::Object;
use antiphon::{HeldItem, ItemId};
use antiphon_store::{
    ConversationId, Destination, LedgerSubject, LedgerUpdate, StoreError, TurnRecord, Usage,
};
use axum::response::Response;
use bytes::Bytes;
use http::StatusCode;

use super::change::Change;
use super::forwarded::{ForwardedAnswer, ForwardedRequest};
use super::ledger_sync::{Leased, LedgerSync};
use super::operation::Operation;
use crate::error::ApiError;
use crate::settings::Ledger;

impl LedgerSync<'_> {
    pub(super) async fn sync_items(
        &self,
        forwarded: ForwardedRequest<'_>,
        id: &str,
        change: &Change,
        body: &Bytes,
    ) -> Result<Response, ApiError> {
        let leased = self.leased(id, change.ledger.as_ref()).await?;
        let conversation = leased.as_ref().map(|leased| &leased.conversation);
        self.check_added(conversation, body).await?;
        if let Some(leased) = &leased {
            self.mark_stale(&leased.conversation).await?;
        }
        let answer = forwarded.send_and_read().await;
        match leased {
            Some(leased) => {
                self.record(&leased, &change.operation, answer.as_ref().ok()).await;
                leased.lease.release().await;
            }
            // A turn may have created the ledger meanwhile.
            None => {
                if let Some(conversation) = self.conversation(id).await? {
                    self.mark_stale(&conversation).await?;
                }
            }
        }
        Ok(answer?.into_response())
    }

    /// Fails if the items of this body exceed a quota, before the upstream receives them. They
    /// count with the size that they have in the ledger. `conversation` is `None` if there is no
    /// ledger yet.
    pub(super) async fn check_added(
        &self,
        conversation: Option<&ConversationId>,
        body: &Bytes,
    ) -> Result<(), ApiError> {
        let added = self.ledger_usage(body).unwrap_or_default();
        self.gateway.quotas().check_added(&self.caller.tenant, conversation, added).await
    }

    /// The size of the items of a body in the ledger; `None` if it has no readable items.
    fn ledger_usage(&self, body: &Bytes) -> Option<Usage> {
        let fields = Object::parse(body).ok()?;
        let items = parse_items(&body.slice_ref(fields.present("items")?.as_bytes())).ok()?;
        let bytes = match self.gateway.settings.ledger {
            Ledger::Heads => 0,
            Ledger::Bodies => items.iter().map(|item| item.raw().len() as u64).sum(),
        };
        Some(Usage { items: items.len() as u64, bytes })
    }

    /// Records the outcome in the ledger. If that is not possible, the ledger stays stale.
    async fn record(
        &self,
        leased: &Leased,
        operation: &Operation,
        answer: Option<&ForwardedAnswer>,
    ) {
        let Some(answer) = answer.filter(|_| leased.was_fresh) else { return };
        let recorded = match operation {
            _ if is_refused(answer.status) => self.mark_fresh(leased).await,
            _ if !answer.status.is_success() => return,
            Operation::ItemDeleted { item, .. } => self.delete(leased, item).await,
            _ => match self.added(&answer.body) {
                Some(items) => self.append(leased, items).await,
                None => return,
            },
        };
        if let Err(error) = recorded {
            tracing::warn!(
                %error,
                "could not record a change at the upstream; the next turn resyncs the ledger"
            );
        }
    }

    /// The items that the upstream confirmed.
    fn added(&self, body: &Bytes) -> Option<Vec<HeldItem>> {
        let list = Object::parse(body).ok()?;
        let items = parse_items(&body.slice_ref(list.get("data")?.as_bytes())).ok()?;
        let held = items.iter().map(|item| {
            let id = item.head().id.clone()?;
            let held = HeldItem::new(id, item, self.gateway.fingerprint_key, None);
            Some(match self.gateway.settings.ledger {
                Ledger::Heads => held.without_body(),
                Ledger::Bodies => held,
            })
        });
        held.collect()
    }

    /// Appends items to the ledger and marks it as fresh.
    async fn append(&self, leased: &Leased, items: Vec<HeldItem>) -> Result<(), StoreError> {
        let turn = TurnRecord {
            destination: Destination::Conversation(leased.conversation.clone()),
            input: items,
            output: Vec::new(),
            response: None,
            request: None,
            place: leased.lease.place(),
            notices: Vec::new(),
            ledger: Some(LedgerUpdate { response: None, is_stale: false }),
        };
        self.gateway.store.commit_turn(&self.caller.tenant, turn).await
    }

    /// Marks an item as deleted in the ledger. If the ledger does not have the item, it stays
    /// stale.
    async fn delete(&self, leased: &Leased, item: &str) -> Result<(), StoreError> {
        let (store, tenant) = (&self.gateway.store, &self.caller.tenant);
        match store.delete_item(tenant, &leased.conversation, &ItemId::from(item)).await? {
            true => self.mark_fresh(leased).await,
            false => Ok(()),
        }
    }

    /// Marks the ledger as fresh again.
    async fn mark_fresh(&self, leased: &Leased) -> Result<(), StoreError> {
        let ledgers = self.gateway.store.ledgers();
        ledgers.mark_fresh(&self.caller.tenant, &leased.conversation).await
    }

    /// The conversation whose ledger has this id of the upstream.
    async fn conversation(&self, id: &str) -> Result<Option<ConversationId>, ApiError> {
        let entry = self.gateway.store.ledgers().entry(&self.caller.tenant, id).await?;
        Ok(entry.and_then(|entry| match entry.subject {
            LedgerSubject::Conversation(conversation) => Some(conversation),
            LedgerSubject::Response(_) => None,
        }))
    }

    async fn mark_stale(&self, conversation: &ConversationId) -> Result<(), ApiError> {
        Ok(self.gateway.store.ledgers().mark_stale(&self.caller.tenant, conversation).await?)
    }
}

/// Whether the upstream changed nothing, so that the ledger is still correct. Two client errors do
/// not prove that: with 404, the upstream may have lost the object; with 408, it may still finish.
fn is_refused(status: StatusCode) -> bool {
    let is_doubtful = [StatusCode::NOT_FOUND, StatusCode::REQUEST_TIMEOUT].contains(&status);
    status.is_client_error() && !is_doubtful
}
