//! One conversation: found by its id, shown.

use antiphon_store::{Conversation, ConversationId};
use axum::response::Response;

use super::json;
use crate::caller::Caller;
use crate::error::ApiError;
use crate::gateway::Gateway;

/// The id that `text` is; what has no form of an id names nothing.
pub(super) fn known(gateway: &Gateway, text: &str) -> Result<ConversationId, ApiError> {
    ConversationId::parse(text).ok_or_else(|| gateway.conversation_not_found(text))
}

/// The caller's conversation of this id.
pub(super) async fn find(
    gateway: &Gateway,
    caller: &Caller,
    text: &str,
) -> Result<Conversation, ApiError> {
    let found = gateway.store.conversation(&caller.tenant, &known(gateway, text)?).await?;
    let (conversation, _) = found.ok_or_else(|| gateway.conversation_not_found(text))?;
    Ok(conversation)
}

/// A conversation as the API shows it.
pub(super) fn show_conversation(conversation: &Conversation) -> Response {
    let Conversation { id, created_at, metadata } = conversation;
    let metadata = String::from_utf8_lossy(metadata);
    json(format!(
        r#"{{"id":"{id}","object":"conversation","created_at":{created_at},"metadata":{metadata}}}"#
    ))
}
