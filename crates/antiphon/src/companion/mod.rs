//! Support for a client that talks to a stateful server directly, without a gateway.
//!
//! A [`Companion`] tracks the items of the server's conversations and response chains. It asks the
//! server for unknown state, sends only the new items of each request, repairs items that the
//! server would reject, and learns from every answer. It does no I/O: its owner performs each
//! [`Turn::step`] and passes the result back to the turn.
//!
//! ```text
//! open ---> Ask ---> answered ---.        the server's state, if it is unknown
//!            ^  '----------------'
//!            |
//!            '--> Send ---> refused ---> Ask, Send once more, or GiveUp; wait first where locked
//!                      '--> begun ---> heard* ---> ended     the server has it
//!                                            '---> left      the server's state is unknown
//! ```

mod admission;
mod answer;
mod around;
mod course;
mod deciding;
mod deleting;
mod ending;
mod history;
mod learning;
mod ledger;
mod line;
mod memory;
mod planning;
mod recent;
mod report;
mod request;
mod retry;
mod said;
mod step;
mod stuck;
mod turn;
mod underway;
mod unknown;
mod walk;

#[cfg(test)]
mod tests;

use bytes::Bytes;

use self::course::{Course, Purpose};
use self::memory::Memory;
use self::recent::Name;
use self::request::Request;
pub use report::{Report, ReportedRepair};
pub use step::{Method, Step};
pub use turn::Turn;

use crate::item::FingerprintKey;

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
pub struct Companion {
    key: FingerprintKey,
    memory: Memory,
}

/// The reason that a body starts no turn.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OpenError {
    /// The body is not a JSON object.
    #[error("the body is no JSON object: {0}")]
    NotAnObject(String),
    /// The input is an array, but not an array of items.
    #[error("'input': {0}")]
    Input(#[from] crate::item::ListError),
}

impl Companion {
    /// Creates a companion without any known state. `key` is for the fingerprints of messages.
    pub fn new(key: FingerprintKey) -> Self {
        Self { key, memory: Memory::new() }
    }

    /// Starts a turn with the body of a `POST …/responses`. `account` identifies the owner of the
    /// data: the base URL and the credentials, or a digest of them.
    pub fn open(&self, account: &str, body: Bytes) -> Result<Turn, OpenError> {
        let request = Request::read(body)?;
        Ok(self.turn(account, request, Purpose::Answer))
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
        let request = Request::of_delivery(conversation, items)?;
        Ok(self.turn(account, request, Purpose::Delivery))
    }

    /// Marks the conversation as changed by a request that is not a turn: its items are asked for
    /// before the next turn. Call it after the answer to that request, or after its failure.
    pub fn touched(&self, account: &str, conversation: &str) {
        self.memory.mark_stale(&Name::of(account, conversation));
    }

    fn turn(&self, account: &str, request: Request, purpose: Purpose) -> Turn {
        Turn::of(Course::begin((&self.memory, self.key), account, request, purpose))
    }
}
