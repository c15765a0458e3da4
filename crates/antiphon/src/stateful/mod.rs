//! The engine for state that a server keeps: conversations and response chains.
//!
//! A [`Preparation`] is the state machine of a request. It lists the server's items if they are
//! unknown, plans the items to send, deletes or avoids items that block the turn, and decides after
//! a rejection. It does no I/O: two drivers perform each [`Action`] and record the result.
//!
//! - A client that talks to the server directly has a [`StatefulClient`]. It records the server's
//!   items in memory, so only the requests are left to the owner of a [`Turn`]: it performs each
//!   [`Turn::step`] and passes the result back. Answers are corrected on their way to the caller:
//!   each call is one item, and each stream ends.
//! - A gateway has a store for the items, and sends the requests itself.
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

mod action;
mod answer;
mod blocking_items;
mod correction;
mod deletion;
mod draft;
mod history;
mod known_state;
mod ledger;
mod listed;
mod local_ids;
mod lock_wait;
mod memory;
mod outcome;
mod plan;
mod planner;
mod preparation;
mod recent;
mod report;
mod request;
mod step;
mod turn;
mod unknown;

#[cfg(test)]
mod tests;

use bytes::Bytes;

pub use crate::repair::ReportedRepair;
pub use action::{Action, Failure, Known, LoadReason, Rules};
pub use listed::Listed;
pub use plan::{ContinueFrom, EarlierPoint, Plan};
pub use preparation::Preparation;
pub use report::{Report, ResentItem};
pub use request::Continues;
pub use step::{Method, Step};
pub use turn::Turn;

use self::blocking_items::BlockingItems;
use self::draft::{Draft, RepairedDraft};
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
