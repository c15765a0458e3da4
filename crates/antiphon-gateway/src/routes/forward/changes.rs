//! Changes that a request makes at the upstream.

use std::sync::Arc;

use antiphon::json::Object;
use antiphon_store::LedgerEntry;
use axum::response::Response;
use bytes::Bytes;
use http::request::Parts;

use super::asked::Asked;
use super::learning::Learning;
use super::passing::Passing;
use crate::alias::Alias;
use crate::caller::Caller;
use crate::error::ApiError;
use crate::gateway::Gateway;

/// A request that may change something.
pub(super) struct Change {
    /// The operation.
    pub(super) asked: Asked,
    /// The base URL of the upstream.
    pub(super) upstream: String,
    /// The ledger of the conversation or response, if there is one.
    pub(super) ledger: Option<LedgerEntry>,
    /// Both ids of the conversation, if callers know it by another id than the upstream.
    pub(super) alias: Option<Alias>,
}

impl Change {
    /// Sends the request and records its outcome in the ledger.
    pub(super) async fn made(
        self,
        gateway: &Arc<Gateway>,
        caller: &Caller,
        parts: &Parts,
        body: Bytes,
    ) -> Result<Response, ApiError> {
        let http = gateway.upstreams.by_base_url(&self.upstream);
        let http = http.expect("upstreams stay what they are");
        gateway.owners(caller).check_named(http, &body, "items").await?;
        let passing = Passing::new(gateway, http, parts, body.clone()).known_as(self.alias.clone());
        let learning = Learning { gateway, caller, http };
        match &self.asked {
            Asked::NewConversation => {
                learning.check_added(None, &body).await?;
                learning.of_new(passing, begins_empty(&body)).await
            }
            Asked::NewItems(id) => learning.of_items(passing, id, &self, &body).await,
            Asked::ItemDeleted { conversation: id, .. } => {
                learning.of_items(passing, id, &self, &Bytes::new()).await
            }
            Asked::ConversationDeleted(id) | Asked::ResponseDeleted(id) => {
                learning.of_deletion(passing, id, self.ledger.as_ref()).await
            }
            Asked::Other { .. } | Asked::ResponseShown(_) => passing.told_as_it_comes(None).await,
        }
    }
}

fn begins_empty(body: &[u8]) -> bool {
    let Ok(fields) = Object::parse(body) else { return body.is_empty() };
    fields.present("items").is_none_or(|items| items == "[]")
}
