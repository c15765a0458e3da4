//! What a request asks of conversations and responses, by its method and path.

use std::collections::HashMap;

use axum::RequestExt as _;
use axum::extract::{MatchedPath, Path, Request};
use http::Method;

use crate::alias::Alias;

/// What a request asks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Asked {
    /// That a conversation be made.
    NewConversation,
    /// That items be added to the conversation of this id.
    NewItems(String),
    /// That an item be deleted.
    ItemDeleted {
        /// Its conversation.
        conversation: String,
        /// The item.
        item: String,
    },
    /// That the conversation of this id be deleted.
    ConversationDeleted(String),
    /// That the response of this id be deleted.
    ResponseDeleted(String),
    /// That the response of this id be shown, or its work cancelled.
    ResponseShown(String),
    /// What no ledger tells of: that something be shown, its metadata changed, or its work cancelled.
    Other {
        /// The conversation or response.
        id: String,
        /// The item.
        item: Option<String>,
    },
}

impl Asked {
    /// What this request asks; `None` where its route has no such method, or its path names nothing.
    pub(super) async fn of(request: &mut Request) -> Option<Self> {
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
        let asked = match (method.as_str(), route, id, item) {
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
        Some(asked)
    }

    /// The conversation or response that it is about; `None` where that is to be made.
    pub(super) fn whose(&self) -> Option<&str> {
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

    /// The same of a conversation that its upstream knows by another id.
    pub(super) fn known_as(self, alias: &Alias) -> Self {
        let id = alias.theirs.clone();
        match self {
            Self::NewItems(_) => Self::NewItems(id),
            Self::ItemDeleted { item, .. } => Self::ItemDeleted { conversation: id, item },
            Self::ConversationDeleted(_) => Self::ConversationDeleted(id),
            Self::Other { item, .. } => Self::Other { id, item },
            of_no_conversation => of_no_conversation,
        }
    }

    /// The response that the answer shows, with the conversation that it is of.
    pub(super) fn shown_response(&self) -> Option<&str> {
        match self {
            Self::ResponseShown(id) => Some(id),
            _ => None,
        }
    }

    /// Whether ledgers are to learn what comes of it.
    pub(super) fn is_change(&self) -> bool {
        !matches!(self, Self::Other { .. } | Self::ResponseShown(_))
    }

    /// The item that it is about.
    pub(super) fn item(&self) -> Option<&str> {
        match self {
            Self::ItemDeleted { item, .. } => Some(item),
            Self::Other { item, .. } => item.as_deref(),
            _ => None,
        }
    }
}
