//! What stands beside a client that talks to a server which owns the state, without a gateway.
//!
//! A [`Companion`] knows what the server's conversations and chains hold: it asks the server where it
//! does not know, sends of each request what is new, mends what the server would refuse, and learns
//! from every answer. It is pure: whoever holds it does what [`Turn::step`] says and tells it what
//! came of that.
//!
//! ```text
//! open ---> Ask ---> answered ---.        what the server holds, where that is not known
//!            ^  '----------------'
//!            |
//!            '--> Send ---> refused ---> Ask, Send once more, or GiveUp
//!                      '--> begun ---> heard* ---> ended     the server has it
//!                                            '---> left      nobody knows what it has
//! ```

mod report;
mod step;
mod turn;

use bytes::Bytes;

pub use report::Report;
pub use step::{Method, Step};
pub use turn::Turn;

use crate::item::FingerprintKey;

/// What is known of the conversations and chains of one server.
///
/// Guarantees: what a server is known to hold is not sent again; what is not known is asked for, never
/// assumed; what a turn that broke off has left is in doubt, and asked for before the next. The memory
/// is bounded: heads and fingerprints, no bodies, of as many conversations as were used last.
#[derive(Clone, Debug)]
pub struct Companion {
    #[expect(dead_code, reason = "the ledgers' fingerprints are made with it")]
    key: FingerprintKey,
}

/// Why a body begins no turn.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OpenError {
    /// It is no JSON object.
    #[error("the body is no JSON object: {0}")]
    NotAnObject(String),
    /// Its input is an array, but not one of items.
    #[error("'input': {0}")]
    Input(#[from] crate::item::ListError),
}

impl Companion {
    /// A companion that knows nothing yet. `key` is for the fingerprints of messages.
    pub fn new(key: FingerprintKey) -> Self {
        Self { key }
    }

    /// Begins a turn with the body of a `POST …/responses`. `account` names whose data it is: the base
    /// URL and the credentials, or a digest of them.
    pub fn open(&self, account: &str, body: Bytes) -> Result<Turn, OpenError> {
        let _ = account;
        Ok(Turn::passing(body))
    }

    /// Begins the delivery of items (outputs of tools) to a conversation, without a turn of the
    /// model's: those of them that it holds no output for, and whose calls it holds, are posted.
    pub fn deliver(
        &self,
        account: &str,
        conversation: &str,
        items: &Bytes,
    ) -> Result<Turn, OpenError> {
        let _ = (account, conversation);
        Ok(Turn::passing(items.clone()))
    }

    /// Something else than a turn changed the conversation: it is asked for before the next one.
    pub fn touched(&self, account: &str, conversation: &str) {
        let _ = (account, conversation);
    }
}
