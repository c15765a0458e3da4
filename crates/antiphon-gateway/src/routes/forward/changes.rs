//! What a request changes at the upstream, and what its ledger learns of that.
//!
//! A conversation that is made is known before its maker is told of it. Items are added and deleted
//! under the conversation's lease, so that they wait for its open turn and none begins meanwhile; as they
//! are told of, the ledger has them too. Whatever may have been changed and is not known to be, is in
//! doubt, and asked for by the next turn.

use std::sync::Arc;

use antiphon::item::items_of;
use antiphon::json::Object;
use antiphon::{HeldItem, ItemId};
use antiphon_store::{
    Base, Conversation, ConversationId, Kept, LedgerEntry, LedgerTurn, Named, Shard, StoreError,
    ThreadId, Turn,
};
use axum::response::Response;
use bytes::Bytes;
use http::StatusCode;
use http::request::Parts;

use super::asked::Asked;
use super::passing::{Heard, Passing};
use crate::caller::Caller;
use crate::entropy::{RandomIds, unix_now};
use crate::error::ApiError;
use crate::gateway::Gateway;
use crate::lease::Lease;
use crate::settings::Ledger;
use crate::upstream::{HttpUpstream, UpstreamError};

/// A request that may change something.
pub(super) struct Change {
    /// What it asks.
    pub(super) asked: Asked,
    /// The base URL of the upstream that is asked.
    pub(super) upstream: String,
    /// The ledger of what it is about, if that is known.
    pub(super) ledger: Option<LedgerEntry>,
}

impl Change {
    /// Makes it, and learns what came of it.
    pub(super) async fn made(
        self,
        gateway: &Arc<Gateway>,
        caller: &Caller,
        parts: &Parts,
        body: Bytes,
    ) -> Result<Response, ApiError> {
        let http = gateway.upstreams.at(&self.upstream);
        let http = http.expect("upstreams stay what they are");
        gateway.check_named(caller, http, &body, "items").await?;
        let passing = Passing::new(gateway, http, parts, body.clone());
        let learning = Learning { gateway, caller, http };
        match &self.asked {
            Asked::NewConversation => learning.of_new(passing, begins_empty(&body)).await,
            Asked::NewItems(id) | Asked::ItemDeleted { conversation: id, .. } => {
                learning.of_items(passing, id, &self).await
            }
            Asked::ConversationDeleted(id) | Asked::ResponseDeleted(id) => {
                learning.of_deletion(passing, id, self.ledger.as_ref()).await
            }
            Asked::Other { .. } => passing.told_as_it_comes(None).await,
        }
    }
}

fn begins_empty(body: &[u8]) -> bool {
    let Ok(fields) = Object::parse(body) else { return body.is_empty() };
    fields.present("items").is_none_or(|items| items == "[]")
}

/// Learns, for one caller, what an upstream makes of requests.
struct Learning<'a> {
    gateway: &'a Gateway,
    caller: &'a Caller,
    http: &'a HttpUpstream,
}

/// A conversation whose items nobody else changes through a gateway.
struct Leased {
    conversation: ConversationId,
    /// Whether the ledger was known to be right before this request.
    was_sure: bool,
    lease: Lease,
}

/// Conversations that are made.
impl Learning<'_> {
    async fn of_new(&self, passing: Passing<'_>, begins_empty: bool) -> Result<Response, ApiError> {
        let heard = passing.heard().await?;
        if heard.status.is_success() {
            let id = id_in(&heard.body).ok_or_else(no_conversation)?;
            let adopted = self.adopt(&id, begins_empty).await;
            adopted.map_err(|error| not_recorded(&id, &error))?;
        }
        Ok(heard.told())
    }

    /// Begins the ledger. What items it begins with is asked for by its first turn.
    async fn adopt(&self, id: &str, is_empty: bool) -> Result<(), StoreError> {
        let (ledgers, tenant) = (self.gateway.store.ledgers(), &self.caller.tenant);
        let ours = ConversationId::issue(Shard::issue(&mut RandomIds), &mut RandomIds);
        let named = Named { upstream: self.http.base().to_owned(), id: id.to_owned() };
        let metadata = Bytes::from_static(b"{}");
        let conversation = Conversation { id: ours.clone(), created_at: unix_now(), metadata };
        let thread = || ThreadId::issue(&mut RandomIds);
        let entry = ledgers.adopt(tenant, named, conversation, thread()).await?;
        // One that was known already is told of again where its maker asks once more.
        match entry.kept == Kept::Conversation(ours.clone()) && is_empty {
            true => ledgers.relearn(tenant, &ours, thread(), Vec::new()).await,
            false => Ok(()),
        }
    }
}

/// Items that are added and deleted.
impl Learning<'_> {
    async fn of_items(
        &self,
        passing: Passing<'_>,
        id: &str,
        change: &Change,
    ) -> Result<Response, ApiError> {
        let leased = self.leased(id, change.ledger.as_ref()).await?;
        if let Some(leased) = &leased {
            self.doubt(&leased.conversation).await?;
        }
        let heard = passing.heard().await;
        match leased {
            Some(leased) => {
                self.learn(&leased, &change.asked, heard.as_ref().ok()).await;
                leased.lease.release().await;
            }
            // A turn may have heard of the conversation meanwhile.
            None => {
                if let Some(conversation) = self.conversation(id).await? {
                    self.doubt(&conversation).await?;
                }
            }
        }
        Ok(heard?.told())
    }

    /// What cannot be learned stays in doubt.
    async fn learn(&self, leased: &Leased, asked: &Asked, heard: Option<&Heard>) {
        let Some(heard) = heard.filter(|_| leased.was_sure) else { return };
        let learned = match asked {
            _ if is_refused(heard.status) => self.trust(leased).await,
            _ if !heard.status.is_success() => return,
            Asked::ItemDeleted { item, .. } => self.delete(leased, item).await,
            _ => match self.added(&heard.body) {
                Some(items) => self.enter(leased, items).await,
                None => return,
            },
        };
        if let Err(error) = learned {
            tracing::warn!(%error, "what was changed upstream is asked for by the next turn");
        }
    }

    /// The items that the upstream says it added.
    fn added(&self, body: &Bytes) -> Option<Vec<HeldItem>> {
        let list = Object::parse(body).ok()?;
        let items = items_of(&body.slice_ref(list.get("data")?.as_bytes())).ok()?;
        let held = items.iter().map(|item| {
            let id = item.head().id.clone()?;
            let held = HeldItem::new(id, item, self.gateway.fingerprint_key, None);
            Some(match self.gateway.settings.ledger {
                Ledger::Heads => held.elsewhere(),
                Ledger::Bodies => held,
            })
        });
        held.collect()
    }

    /// Puts items behind what the ledger has, which is right again.
    async fn enter(&self, leased: &Leased, items: Vec<HeldItem>) -> Result<(), StoreError> {
        let turn = Turn {
            base: Base::Conversation(leased.conversation.clone()),
            input: items,
            output: Vec::new(),
            response: None,
            request: None,
            place: leased.lease.place(),
            notices: Vec::new(),
            ledger: Some(LedgerTurn { response: None, in_doubt: false }),
        };
        self.gateway.store.commit_turn(&self.caller.tenant, turn).await
    }

    /// Leaves a trace of an item in its place. One that was not known says that the ledger is wrong.
    async fn delete(&self, leased: &Leased, item: &str) -> Result<(), StoreError> {
        let (store, tenant) = (&self.gateway.store, &self.caller.tenant);
        match store.delete_item(tenant, &leased.conversation, &ItemId::from(item)).await? {
            true => self.trust(leased).await,
            false => Ok(()),
        }
    }

    /// The ledger is right, as it was before.
    async fn trust(&self, leased: &Leased) -> Result<(), StoreError> {
        let ledgers = self.gateway.store.ledgers();
        ledgers.trust(&self.caller.tenant, &leased.conversation).await
    }

    /// The conversation's lease, where it has a ledger.
    async fn leased(
        &self,
        id: &str,
        ledger: Option<&LedgerEntry>,
    ) -> Result<Option<Leased>, ApiError> {
        let Some(LedgerEntry { kept: Kept::Conversation(conversation), .. }) = ledger else {
            return Ok(None);
        };
        let tenant = &self.caller.tenant;
        let lease = self.gateway.lease(tenant, conversation).await?;
        // The turn that was waited for may have changed it.
        let entry = self.gateway.store.ledgers().entry(tenant, id).await?;
        let was_sure = entry.is_some_and(|entry| !entry.in_doubt);
        Ok(Some(Leased { conversation: conversation.clone(), was_sure, lease }))
    }

    /// The conversation that is the ledger of what the upstream calls so.
    async fn conversation(&self, id: &str) -> Result<Option<ConversationId>, ApiError> {
        let entry = self.gateway.store.ledgers().entry(&self.caller.tenant, id).await?;
        Ok(entry.and_then(|entry| match entry.kept {
            Kept::Conversation(conversation) => Some(conversation),
            Kept::Response(_) => None,
        }))
    }

    async fn doubt(&self, conversation: &ConversationId) -> Result<(), ApiError> {
        Ok(self.gateway.store.ledgers().doubt(&self.caller.tenant, conversation).await?)
    }
}

/// Conversations and responses that are deleted.
impl Learning<'_> {
    async fn of_deletion(
        &self,
        passing: Passing<'_>,
        id: &str,
        ledger: Option<&LedgerEntry>,
    ) -> Result<Response, ApiError> {
        let leased = self.leased(id, ledger).await?;
        let heard = passing.heard().await?;
        if self.is_gone(heard.status) {
            self.gateway.store.ledgers().forget(&self.caller.tenant, id).await?;
        }
        if let Some(leased) = leased {
            leased.lease.release().await;
        }
        Ok(heard.told())
    }

    /// Whether what was to be deleted is not there any more. That the upstream does not find it may be
    /// because the request names another project: then it is forgotten only where it can be heard of
    /// again, as it cannot in an account that tenants share. A request that only reads forgets nothing.
    fn is_gone(&self, status: StatusCode) -> bool {
        status.is_success() || status == StatusCode::NOT_FOUND && !self.gateway.is_shared(self.http)
    }
}

/// Whether nothing was changed, and the ledger is none the worse: what the upstream does not find it may
/// have lost, and what takes too long may yet be done.
fn is_refused(status: StatusCode) -> bool {
    let is_doubtful = [StatusCode::NOT_FOUND, StatusCode::REQUEST_TIMEOUT].contains(&status);
    status.is_client_error() && !is_doubtful
}

fn id_in(body: &[u8]) -> Option<String> {
    let conversation = Object::parse(body).ok()?;
    conversation.string("id").filter(|id| !id.is_empty()).map(std::borrow::Cow::into_owned)
}

fn no_conversation() -> ApiError {
    UpstreamError::Garbled("a conversation without an id".to_owned()).into()
}

fn not_recorded(id: &str, error: &StoreError) -> ApiError {
    tracing::error!(%error, "a conversation that was made upstream is not recorded");
    ApiError::server(
        StatusCode::INTERNAL_SERVER_ERROR,
        format!("The upstream made the conversation '{id}', but the store of ledgers failed."),
    )
}
