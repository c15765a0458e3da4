//! How much a tenant and a conversation may have stored.

mod background;
mod items;
mod turns;

use std::num::NonZeroU64;

use antiphon_gateway::settings::{Limits, Quota};
use serde_json::{Value, json};

use crate::support::{Answer, Client, World, text};

/// The four quotas, each of which one short turn fills.
const QUOTAS: [Bound; 4] =
    [Bound::TenantItems, Bound::TenantBytes, Bound::ConversationItems, Bound::ConversationBytes];

/// A quota.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Bound {
    TenantItems,
    TenantBytes,
    ConversationItems,
    ConversationBytes,
}

impl Bound {
    /// Sets the quota: to 2 items, or to more bytes than a short message has and less than two
    /// have.
    fn set(self, limits: &mut Limits) {
        let quota = match self {
            Self::TenantItems | Self::ConversationItems => items(2),
            Self::TenantBytes | Self::ConversationBytes => bytes(120),
        };
        match self {
            Self::TenantItems | Self::TenantBytes => limits.tenant_quota = quota,
            Self::ConversationItems | Self::ConversationBytes => limits.conversation_quota = quota,
        }
    }

    /// Its key in the settings.
    fn key(self) -> &'static str {
        match self {
            Self::TenantItems => "max-tenant-items",
            Self::TenantBytes => "max-tenant-bytes",
            Self::ConversationItems => "max-conversation-items",
            Self::ConversationBytes => "max-conversation-bytes",
        }
    }

    fn is_of_tenant(self) -> bool {
        matches!(self, Self::TenantItems | Self::TenantBytes)
    }

    async fn world(self) -> World {
        World::with(|settings| self.set(&mut settings.limits)).await
    }
}

fn items(count: u64) -> Quota {
    Quota { max_items: NonZeroU64::new(count), max_bytes: None }
}

fn bytes(count: u64) -> Quota {
    Quota { max_items: None, max_bytes: NonZeroU64::new(count) }
}

/// The answer is a refusal that names this quota.
#[track_caller]
fn assert_refused(answer: &Answer, quota: Bound) {
    let refused = answer.refused();
    assert_eq!(refused.status, 403, "{quota:?}");
    assert_eq!(answer.header("retry-after"), None, "trying again does not help");
    assert_quota_error(&refused.body["error"], quota);
}

#[track_caller]
fn assert_quota_error(error: &Value, quota: Bound) {
    assert_eq!(error["code"], "quota_exceeded", "{quota:?}: {error}");
    assert_eq!(error["type"], "invalid_request_error");
    let message = text(&error["message"]);
    assert!(message.contains(&format!("({})", quota.key())), "{quota:?}: {message}");
}

/// Asks that items be added to a conversation.
async fn add(client: &Client, conversation: &str, items: &[Value]) -> Answer {
    let path = format!("/v1/conversations/{conversation}/items");
    client.post(&path, &json!({"items": items})).await
}
