//! The line for a conversation, where several processes share its store.

use async_trait::async_trait;

use crate::error::StoreError;
use crate::ids::{ConversationId, Tenant};
use crate::records::Place;

type Result<T> = std::result::Result<T, StoreError>;

/// Who may run the next turn of a conversation: whoever stands first in its line.
///
/// Places are held by processes. The place of a process that is not heard of any more is passed over
/// and taken away; what it commits afterwards from that place is refused with
/// [`StoreError::LeaseLost`].
#[async_trait]
pub trait Line: Send + Sync {
    /// Takes the last place.
    async fn join(&self, tenant: &Tenant, id: &ConversationId) -> Result<Place>;

    /// Whether nobody stands before this place any more. [`StoreError::LeaseLost`] where the place
    /// was taken away.
    async fn is_first(&self, tenant: &Tenant, id: &ConversationId, place: Place) -> Result<bool>;

    /// Gives the place up, first or not.
    async fn leave(&self, tenant: &Tenant, id: &ConversationId, place: Place) -> Result<()>;
}
