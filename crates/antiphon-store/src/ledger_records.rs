//! The names and states of conversations and responses that a provider stores.

use crate::ids::{ConversationId, ResponseId, Shard, ShardedId};

/// A provider's id for a conversation or response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UpstreamId {
    /// The provider, by its name in the gateway's configuration.
    pub upstream: String,
    /// The provider's id.
    pub id: String,
}

/// The location of a conversation that began without an upstream.
///
/// ```text
///   create_unbound ──> Pending ── bind ───────> Bound
///                         │
///                         └────── bind_locally ──> an ordinary conversation of Antiphon
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Binding {
    /// Its items are in this store, and no upstream has it.
    Pending,
    /// This provider stores it, under this id.
    Bound(UpstreamId),
}

/// A ledger.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LedgerEntry {
    /// The provider, by its name in the gateway's configuration.
    pub upstream: String,
    /// The internal id of its conversation or response.
    pub subject: LedgerSubject,
    /// Whether the ledger is stale: the provider may hold other items than it lists.
    pub is_stale: bool,
}

/// The subject of a ledger.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LedgerSubject {
    /// A conversation.
    Conversation(ConversationId),
    /// A response. It has no record while its turn is open, or if the process died before its end.
    Response(ResponseId),
}

impl LedgerSubject {
    /// Parses an internal id. `None` if the text has the form of no such id.
    pub fn parse(text: &str) -> Option<Self> {
        let conversation = ConversationId::parse(text).map(Self::Conversation);
        conversation.or_else(|| ResponseId::parse(text).map(Self::Response))
    }
}

impl ShardedId for LedgerSubject {
    fn shard(&self) -> Shard {
        match self {
            Self::Conversation(id) => id.shard(),
            Self::Response(id) => id.shard(),
        }
    }

    fn as_str(&self) -> &str {
        match self {
            Self::Conversation(id) => id.as_str(),
            Self::Response(id) => id.as_str(),
        }
    }
}

/// The changes that the commit of a turn makes to ledgers: to that of the conversation it appends
/// to, and to that of its response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LedgerUpdate {
    /// The provider's id of the turn's response. `None` if the provider sent none. Not recorded if
    /// the turn leaves no record.
    pub response: Option<UpstreamId>,
    /// Whether the provider may hold other items of the turn than are committed.
    pub is_stale: bool,
}
