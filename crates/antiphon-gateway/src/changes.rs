//! Notices that turns begin and end, for pages that follow a conversation.

use antiphon_store::Tenant;
use serde::{Deserialize, Serialize};
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::broadcast::{Receiver, Sender};

/// The number of notices that a slow listener may be behind. Beyond that, it misses some, and its
/// next notice is [`ChangeKind::Missed`].
const BOUND: usize = 256;

/// A change of a conversation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    /// The kind of change.
    pub kind: ChangeKind,
    /// The conversation that the request names.
    pub conversation: Option<String>,
    /// The response that the request continues.
    pub previous: Option<String>,
}

/// A kind of change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChangeKind {
    /// A turn began.
    Began,
    /// A turn ended.
    Ended,
    /// The listener was too slow and missed changes.
    Missed,
}

/// Sends the changes of all tenants to those who listen. If nobody does, a change costs nothing.
pub(crate) struct Changes(Sender<(Tenant, Change)>);

impl Default for Changes {
    fn default() -> Self {
        Self(Sender::new(BOUND))
    }
}

impl Changes {
    /// Announces a change.
    pub(crate) fn notify(
        &self,
        tenant: &Tenant,
        kind: ChangeKind,
        conversation: Option<&str>,
        previous: Option<&str>,
    ) {
        if self.0.receiver_count() == 0 {
            return;
        }
        let (conversation, previous) =
            (conversation.map(str::to_owned), previous.map(str::to_owned));
        // Fails only if the last listener has just left.
        let _ = self.0.send((tenant.clone(), Change { kind, conversation, previous }));
    }

    /// The changes of a tenant from now on.
    pub(crate) fn listen(&self, tenant: &Tenant) -> ChangeStream {
        ChangeStream { tenant: tenant.clone(), changes: self.0.subscribe() }
    }
}

/// The changes of a tenant.
pub(crate) struct ChangeStream {
    tenant: Tenant,
    changes: Receiver<(Tenant, Change)>,
}

impl ChangeStream {
    /// Waits for the next change. `None` once the gateway has stopped.
    pub(crate) async fn next(&mut self) -> Option<Change> {
        loop {
            match self.changes.recv().await {
                Ok((tenant, change)) if tenant == self.tenant => return Some(change),
                Ok(_) => {}
                Err(RecvError::Closed) => return None,
                Err(RecvError::Lagged(_)) => {
                    let kind = ChangeKind::Missed;
                    return Some(Change { kind, conversation: None, previous: None });
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn listener_hears_only_its_tenant() {
        let changes = Changes::default();
        let (acme, other) = (Tenant::new("acme"), Tenant::new("other"));
        let mut stream = changes.listen(&acme);
        changes.notify(&other, ChangeKind::Began, Some("conv_other"), None);
        changes.notify(&acme, ChangeKind::Ended, Some("conv_1"), None);
        assert_eq!(stream.next().await.unwrap().conversation.as_deref(), Some("conv_1"));
    }

    #[tokio::test]
    async fn slow_listener_hears_that_it_missed_changes() {
        let changes = Changes::default();
        let acme = Tenant::new("acme");
        let mut stream = changes.listen(&acme);
        for _ in 0..=BOUND {
            changes.notify(&acme, ChangeKind::Began, None, None);
        }
        assert_eq!(stream.next().await.unwrap().kind, ChangeKind::Missed);
    }
}
