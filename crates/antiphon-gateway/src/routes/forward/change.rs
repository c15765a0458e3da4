//! Changes that a request makes at the upstream.

use std::sync::Arc;

use antiphon::json::Object;
use antiphon_store::LedgerEntry;
use axum::response::Response;
use bytes::Bytes;
use http::HeaderValue;
use http::request::Parts;

use super::added_items::with_missing_ids;
use super::forwarded::ForwardedRequest;
use super::ledger_sync::LedgerSync;
use super::operation::Operation;
use crate::caller::Caller;
use crate::error::ApiError;
use crate::gateway::Gateway;
use crate::id_mapping::IdMapping;
use crate::settings::Faults;

/// A request that may change something.
pub(super) struct Change {
    /// The operation.
    pub(super) operation: Operation,
    /// The base URL of the upstream.
    pub(super) upstream: String,
    /// The ledger of the conversation or response, if there is one.
    pub(super) ledger: Option<LedgerEntry>,
    /// Both ids of the conversation, if callers know it by another id than the upstream.
    pub(super) mapping: Option<IdMapping>,
}

impl Change {
    /// Sends the request and records its outcome in the ledger.
    pub(super) async fn apply(
        self,
        gateway: &Arc<Gateway>,
        caller: &Caller,
        parts: &Parts,
        body: Bytes,
    ) -> Result<Response, ApiError> {
        let http = gateway.upstreams.by_base_url(&self.upstream);
        let http = http.expect("the list of upstreams never changes");
        gateway.owners(caller).check_named(http, &body, "items").await?;
        let forwarded = ForwardedRequest::new(gateway, http, parts, body.clone())
            .with_mapping(self.mapping.clone());
        let sync = LedgerSync { gateway, caller, http };
        let repaired = self.repaired_body(gateway, &body);
        let forwarded = match &repaired {
            Some((body, _)) => forwarded.with_body(body.clone()),
            None => forwarded,
        };
        let answer = match &self.operation {
            Operation::NewConversation => {
                sync.check_added(None, &body).await?;
                sync.sync_created(forwarded, begins_empty(&body)).await
            }
            Operation::NewItems(id) => sync.sync_items(forwarded, id, &self, &body).await,
            Operation::ItemDeleted { conversation: id, .. } => {
                sync.sync_items(forwarded, id, &self, &Bytes::new()).await
            }
            Operation::ConversationDeleted(id) | Operation::ResponseDeleted(id) => {
                sync.sync_deleted(forwarded, id, self.ledger.as_ref()).await
            }
            Operation::Other { .. } | Operation::ResponseShown(_) => {
                forwarded.send_and_stream(None).await
            }
        };
        let mut answer = answer?;
        if let Some((_, count)) = repaired {
            let value = HeaderValue::try_from(format!("missing_id={count}"));
            let value = value.expect("a fault's name is plain text");
            answer.headers_mut().insert("antiphon-repairs", value);
        }
        Ok(answer)
    }

    /// The body and the number of repairs, if it adds items and one of them needs a repair.
    fn repaired_body(&self, gateway: &Gateway, body: &Bytes) -> Option<(Bytes, usize)> {
        let adds = matches!(self.operation, Operation::NewConversation | Operation::NewItems(_));
        match gateway.settings.faults {
            Faults::Repair if adds => with_missing_ids(body),
            _ => None,
        }
    }
}

fn begins_empty(body: &[u8]) -> bool {
    let Ok(fields) = Object::parse(body) else { return body.is_empty() };
    fields.present("items").is_none_or(|items| items == "[]")
}
