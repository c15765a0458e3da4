//! The names and states of conversations and responses that a provider stores.

use crate::ids::{ConversationId, ResponseId, Shard};

/// What a provider calls a conversation or response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Named {
    /// The provider, as the gateway names it.
    pub upstream: String,
    /// The provider's id.
    pub id: String,
}

/// Where a conversation is that began without an upstream.
///
/// ```text
///   create_unbound ──> Pending ── bind ───────> Bound
///                         │
///                         └────── keep_here ──> a conversation of Antiphon's like any other
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Binding {
    /// Its items are here, and no upstream has it.
    Pending,
    /// This provider keeps it, under this id.
    Bound(Named),
}

/// A ledger.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LedgerEntry {
    /// The provider, as the gateway names it.
    pub upstream: String,
    /// What its thread is known by here.
    pub kept: Kept,
    /// Whether the provider may hold something else than the ledger says.
    pub in_doubt: bool,
}

/// What a ledger is of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kept {
    /// A conversation.
    Conversation(ConversationId),
    /// A response. It has no record yet where its turn is open, or ended with its process.
    Response(ResponseId),
}

impl Kept {
    /// What this id is of; `None` where no id of ours has its form.
    pub fn parse(text: &str) -> Option<Self> {
        let conversation = ConversationId::parse(text).map(Self::Conversation);
        conversation.or_else(|| ResponseId::parse(text).map(Self::Response))
    }

    pub(crate) fn as_str(&self) -> &str {
        match self {
            Self::Conversation(id) => id.as_str(),
            Self::Response(id) => id.as_str(),
        }
    }

    pub(crate) fn shard(&self) -> Shard {
        match self {
            Self::Conversation(id) => id.shard(),
            Self::Response(id) => id.shard(),
        }
    }
}

/// How the commit of a turn changes ledgers: that of the conversation that it appends to, and that of
/// its response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LedgerTurn {
    /// What the provider calls the turn's response; `None` where it never told. Not entered where the
    /// turn leaves no record.
    pub response: Option<Named>,
    /// Whether the provider may hold something else of the turn than is committed.
    pub in_doubt: bool,
}
