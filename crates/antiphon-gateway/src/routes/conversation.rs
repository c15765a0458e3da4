//! Lookup and presentation of one conversation.

use antiphon_store::{Conversation, ConversationId};
use axum::response::Response;

use super::json;
use crate::caller::Caller;
use crate::error::ApiError;
use crate::gateway::Gateway;

/// Parses a conversation id. A text of another form is the id of no conversation.
pub(super) fn known(gateway: &Gateway, text: &str) -> Result<ConversationId, ApiError> {
    ConversationId::parse(text).ok_or_else(|| gateway.conversation_not_found(text))
}

/// The caller's conversation with this id.
pub(super) async fn find(
    gateway: &Gateway,
    caller: &Caller,
    text: &str,
) -> Result<Conversation, ApiError> {
    let found = gateway.store.conversation(&caller.tenant, &known(gateway, text)?).await?;
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
