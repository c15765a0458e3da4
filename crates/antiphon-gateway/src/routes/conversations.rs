//! `/v1/conversations`

use std::sync::Arc;

use antiphon_store::{Conversation, ConversationId, Shard, ThreadId, Usage};
use axum::Extension;
use axum::extract::State;
use axum::response::Response;
use bytes::Bytes;

use super::extract::{Body, Path};
use super::forward::Unbound;
use super::{items, json};
use crate::caller::Caller;
use crate::entropy::{RandomIds, unix_now};
use crate::error::ApiError;
use crate::gateway::Gateway;
use crate::request::{check_known, metadata, parse_object};

/// `POST /v1/conversations`
pub(super) async fn create(
    State(gateway): State<Arc<Gateway>>,
    caller: Caller,
    unbound: Option<Extension<Unbound>>,
    Body(body): Body,
) -> Result<Response, ApiError> {
    let body = if body.is_empty() { Bytes::from_static(b"{}") } else { body };
    let fields = parse_object(&body)?;
    check_known(&fields, &["items", "metadata"])?;
    let begins_with = items::parse_new_items(&gateway, &caller, &body, &fields).await?;
    gateway.quotas().check_added(&caller.tenant, None, Usage::from_items(&begins_with)).await?;
    let shard = Shard::issue(&mut RandomIds);
    let conversation = Conversation {
        id: ConversationId::issue(shard, &mut RandomIds),
        created_at: unix_now(),
        metadata: metadata(&fields)?.unwrap_or_else(|| "{}".into()).into(),
    };
    let shown = show_conversation(&conversation);
    let thread = ThreadId::issue(&mut RandomIds);
    let (store, tenant) = (&gateway.store, &caller.tenant);
    match unbound {
        Some(Extension(Unbound)) => {
            store.ledgers().create_unbound(tenant, conversation, thread, begins_with).await?;
        }
        None => store.create_conversation(tenant, conversation, thread, begins_with).await?,
    }
    Ok(shown)
}

/// `GET /v1/conversations/{id}`
pub(super) async fn show(
    State(gateway): State<Arc<Gateway>>,
    caller: Caller,
    Path(id): Path<String>,
) -> Result<Response, ApiError> {
    Ok(show_conversation(&find(&gateway, &caller, &id).await?))
}

/// `POST /v1/conversations/{id}`
pub(super) async fn update(
    State(gateway): State<Arc<Gateway>>,
    caller: Caller,
    Path(id): Path<String>,
    Body(body): Body,
) -> Result<Response, ApiError> {
    let fields = parse_object(&body)?;
    check_known(&fields, &["metadata"])?;
    let metadata = metadata(&fields)?;
    if fields.get("metadata").is_none() {
        return Err(ApiError::MissingParameter { name: "metadata".into() });
    }
    let metadata = metadata.unwrap_or_else(|| "{}".into()).into();
    let conversation = parse_conversation_id(&gateway, &id)?;
    let _lease = gateway.owners(&caller).binding_of(&conversation).lease_if_pending().await?;
    let changed = gateway.store.set_metadata(&caller.tenant, &conversation, metadata).await?;
    let changed = changed.ok_or_else(|| gateway.conversation_not_found(&id))?;
    Ok(show_conversation(&changed))
}

/// `DELETE /v1/conversations/{id}`
pub(super) async fn delete(
    State(gateway): State<Arc<Gateway>>,
    caller: Caller,
    Path(text): Path<String>,
) -> Result<Response, ApiError> {
    let id = parse_conversation_id(&gateway, &text)?;
    let _lease = gateway.owners(&caller).binding_of(&id).lease_if_pending().await?;
    match gateway.store.delete_conversation(&caller.tenant, &id).await? {
        true => {
            gateway.open_turns.notify_deleted(&caller.tenant, &id);
            Ok(json(format!(r#"{{"id":"{id}","object":"conversation.deleted","deleted":true}}"#)))
        }
        false => Err(gateway.conversation_not_found(&text)),
    }
}

/// Parses a conversation id. A text of another form is the id of no conversation.
pub(super) fn parse_conversation_id(
    gateway: &Gateway,
    text: &str,
) -> Result<ConversationId, ApiError> {
    ConversationId::parse(text).ok_or_else(|| gateway.conversation_not_found(text))
}

/// The caller's conversation with this id.
pub(super) async fn find(
    gateway: &Gateway,
    caller: &Caller,
    text: &str,
) -> Result<Conversation, ApiError> {
    let found =
        gateway.store.conversation(&caller.tenant, &parse_conversation_id(gateway, text)?).await?;
    let (conversation, _) = found.ok_or_else(|| gateway.conversation_not_found(text))?;
    Ok(conversation)
}

/// A conversation in the API's form.
pub(super) fn show_conversation(conversation: &Conversation) -> Response {
    let Conversation { id, created_at, metadata } = conversation;
    let metadata = String::from_utf8_lossy(metadata);
    json(format!(
        r#"{{"id":"{id}","object":"conversation","created_at":{created_at},"metadata":{metadata}}}"#
    ))
}
