//! The engine for state that a server keeps: conversations and response chains.
//!
//! Two drivers use it. A client that talks to the server directly has a [`StatefulClient`], which
//! records the server's items in memory. A gateway has a store for that, and drives the parts:
//!
//! - [`Course`] decides the next action after each plan and after each rejection.
//! - [`Draft`] repairs the new items of a request, and finds the [`BlockingItems`] of the server.
//!
//! A [`StatefulClient`] asks the server for unknown state, sends only the new items of each
//! request, repairs items that the server would reject, and records every answer. It does no I/O:
//! its owner performs each [`Turn::step`] and passes the result back to the turn. Answers are
//! corrected on their way to the caller: each call is one item, and each stream ends.
//!
//! ```text
//! open ---> Ask ---> record_answer ---.     the server's items, if they are unknown
//!            ^  '---------------------'
//!            |
//!            '--> Send ---> record_rejection ---> Ask, Send once more, or GiveUp
//!                      '--> start ---> push* ---> finish     the server has the turn
//!                                            '---> abandon   its state is unknown
//! ```
//!
//! ```
//! use antiphon::FingerprintKey;
//! use antiphon::stateful::{StatefulClient, Step};
//!
//! let client = StatefulClient::new(FingerprintKey::new([0; 16]));
//! let body = r#"{"model":"m","conversation":"conv_1","input":"Hello"}"#;
//! let turn = client.open("https://api.example key", body.into()).unwrap();
//! // The state of the conversation is unknown, so the turn asks for its items first.
//! let Step::Ask { path, .. } = turn.step() else { panic!("nothing is known yet") };
//! assert!(path.starts_with("/conversations/conv_1/items?"));
//! ```

mod answer;
mod blocking_items;
mod correction;
mod course;
mod deletion;
mod draft;
mod history;
mod known_state;
mod ledger;
mod local_ids;
mod lock_wait;
mod memory;
mod outcome;
mod planning;
mod prepare;
mod recent;
mod report;
mod request;
mod step;
mod sync;
mod turn;
mod unknown;

#[cfg(test)]
mod tests;

use bytes::Bytes;

pub use crate::repair::ReportedRepair;
pub use blocking_items::BlockingItems;
pub use course::{Course, Decision, PlanSummary, Recovery, Removal};
pub use draft::{Draft, RepairedDraft};
pub use report::Report;
pub use step::{Method, Step};
pub use turn::Turn;

use self::memory::Memory;
use self::recent::Name;
use self::request::Request;
use self::turn::Purpose;

use crate::item::FingerprintKey;
use crate::reconcile::ReplayStyle;

/// The known state of the conversations and chains of one server.
///
/// Guarantees:
///
/// - Items that the server is known to have are not sent again.
/// - Unknown state is asked for, never assumed.
/// - After an interrupted turn the conversation is asked for before its next turn.
/// - Memory is bounded. It has item heads and fingerprints, without bodies, of the most recently
///   used conversations.
#[derive(Clone, Debug)]
pub struct StatefulClient {
    key: FingerprintKey,
    memory: Memory,
}

/// The reason that a body starts no turn.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// The body is not a JSON object.
    #[error("the body is not a JSON object: {0}")]
    NotAnObject(String),
    /// The input is an array, but not an array of items.
    #[error("'input': {0}")]
    Input(#[from] crate::item::ListError),
}

impl StatefulClient {
    /// Creates a client without any known state. `key` is for the fingerprints of messages, and for
    /// the ids of items to which the server gives none: 16 random bytes.
    pub fn new(key: FingerprintKey) -> Self {
        Self { key, memory: Memory::new() }
    }

    /// Starts a turn with the body of a `POST …/responses`. `account` identifies the owner of the
    /// data: the base URL and the credentials, or a digest of them.
    pub fn open(&self, account: &str, body: Bytes) -> Result<Turn, OpenError> {
        self.open_as(account, ReplayStyle::Unknown, body)
    }

    /// Like [`open`](Self::open), for a client that resends its history in this style.
    pub fn open_as(
        &self,
        account: &str,
        style: ReplayStyle,
        body: Bytes,
    ) -> Result<Turn, OpenError> {
        let request = Request::parse(body)?.with_style(style);
        Ok(Turn::new((&self.memory, self.key), account, request, Purpose::Answer))
    }

    /// Starts the delivery of items (outputs of tools) to a conversation, without a turn of the
    /// model.
    ///
    /// `items` is a JSON array. An item is posted if the conversation does not have it, but has its
    /// call. [`Step::Send`] then has the body of a `POST …/conversations/{conversation}/items`. If
    /// there is nothing to post, the step is [`Step::Nothing`].
    pub fn deliver(
        &self,
        account: &str,
        conversation: &str,
        items: &Bytes,
    ) -> Result<Turn, OpenError> {
        let request = Request::for_delivery(conversation, items)?;
        Ok(Turn::new((&self.memory, self.key), account, request, Purpose::Delivery))
    }

    /// Marks the conversation as changed by a request that is not a turn: its items are asked for
    /// before the next turn. Call it after the answer to that request, or after its failure.
    pub fn mark_stale(&self, account: &str, conversation: &str) {
        self.memory.mark_stale(&Name::new(account, conversation));
    }
}
