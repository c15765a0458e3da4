//! The kind of a request about conversations or responses, by its method and path.

use std::collections::HashMap;

use axum::RequestExt as _;
use axum::extract::{MatchedPath, Path, Request};
use http::Method;

use crate::id_mapping::IdMapping;

/// The operation that a request asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Operation {
    /// Create a conversation.
    NewConversation,
    /// Add items to the conversation with this id.
    NewItems(String),
    /// Delete an item.
    ItemDeleted {
        /// The id of its conversation.
        conversation: String,
        /// The id of the item.
        item: String,
    },
    /// Delete the conversation with this id.
    ConversationDeleted(String),
    /// Delete the response with this id.
    ResponseDeleted(String),
    /// Show the response with this id, or cancel it.
    ResponseShown(String),
    /// An operation without an effect on a ledger: show an object or change its metadata.
    Other {
        /// The id of the conversation or response.
        id: String,
        /// The id of the item.
        item: Option<String>,
    },
}

impl Operation {
    /// The operation of this request. `None` if its route does not have this method, or if its path
    /// has no valid ids.
    pub(super) async fn from_request(request: &mut Request) -> Option<Self> {
        let route = request.extensions().get::<MatchedPath>()?.as_str().to_owned();
        let ids = request.extract_parts::<Path<HashMap<String, String>>>().await;
        let Path(mut ids) = ids.ok()?;
        Self::by_route(request.method(), &route, ids.remove("id"), ids.remove("item_id"))
    }

    fn by_route(
        method: &Method,
        route: &str,
        id: Option<String>,
        item: Option<String>,
    ) -> Option<Self> {
        let operation = match (method.as_str(), route, id, item) {
            ("POST", "/v1/conversations", None, _) => Self::NewConversation,
            ("POST", "/v1/conversations/{id}/items", Some(id), _) => Self::NewItems(id),
            ("DELETE", "/v1/conversations/{id}", Some(id), _) => Self::ConversationDeleted(id),
            (
                "DELETE",
                "/v1/conversations/{id}/items/{item_id}",
                Some(conversation),
                Some(item),
            ) => Self::ItemDeleted { conversation, item },
            ("DELETE", "/v1/responses/{id}", Some(id), _) => Self::ResponseDeleted(id),
            ("POST", "/v1/responses/{id}/cancel", Some(id), _)
            | ("GET" | "HEAD", "/v1/responses/{id}", Some(id), _) => Self::ResponseShown(id),
            ("POST", "/v1/conversations/{id}", Some(id), item)
            | ("GET" | "HEAD", _, Some(id), item) => Self::Other { id, item },
            _ => return None,
        };
        Some(operation)
    }

    /// The id of the conversation or response; `None` for a new one.
    pub(super) fn id(&self) -> Option<&str> {
        match self {
            Self::NewConversation => None,
            Self::NewItems(id)
            | Self::ConversationDeleted(id)
            | Self::ItemDeleted { conversation: id, .. }
            | Self::ResponseDeleted(id)
            | Self::ResponseShown(id)
            | Self::Other { id, .. } => Some(id),
        }
    }

    /// The same operation, with the id by which the upstream knows the conversation.
    pub(super) fn with_mapping(self, mapping: &IdMapping) -> Self {
        let id = mapping.upstream.clone();
        match self {
            Self::NewItems(_) => Self::NewItems(id),
            Self::ItemDeleted { item, .. } => Self::ItemDeleted { conversation: id, item },
            Self::ConversationDeleted(_) => Self::ConversationDeleted(id),
            Self::Other { item, .. } => Self::Other { id, item },
            other => other,
        }
    }

    /// The id of the response that the answer shows.
    pub(super) fn shown_response(&self) -> Option<&str> {
        match self {
            Self::ResponseShown(id) => Some(id),
            _ => None,
        }
    }

    /// Whether the outcome changes a ledger.
    pub(super) fn is_change(&self) -> bool {
        !matches!(self, Self::Other { .. } | Self::ResponseShown(_))
    }

    /// The id of the item.
    pub(super) fn item(&self) -> Option<&str> {
        match self {
            Self::ItemDeleted { item, .. } => Some(item),
            Self::Other { item, .. } => item.as_deref(),
            _ => None,
        }
    }
}
