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
//!            '--> Send ---> refused ---> Ask, Send once more, or GiveUp; wait first where locked
//!                      '--> begun ---> heard* ---> ended     the server has it
//!                                            '---> left      nobody knows what it has
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
pub use report::{Mending, Report};
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
    key: FingerprintKey,
    memory: Memory,
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
        Self { key, memory: Memory::new() }
    }

    /// Begins a turn with the body of a `POST …/responses`. `account` names whose data it is: the base
    /// URL and the credentials, or a digest of them.
    pub fn open(&self, account: &str, body: Bytes) -> Result<Turn, OpenError> {
        let request = Request::read(body)?;
        Ok(self.turn(account, request, Purpose::Answer))
    }

    /// Begins the delivery of items (outputs of tools) to a conversation, without a turn of the
    /// model's: those of them that it does not hold, and whose calls it holds, are posted. `items` is an
    /// array; what is to be sent is the body of a `POST …/conversations/{conversation}/items`, or
    /// [`Step::Nothing`] where there is nothing to post.
    pub fn deliver(
        &self,
        account: &str,
        conversation: &str,
        items: &Bytes,
    ) -> Result<Turn, OpenError> {
        let request = Request::of_delivery(conversation, items)?;
        Ok(self.turn(account, request, Purpose::Delivery))
    }

    /// Something else than a turn has changed the conversation, or may have: it is asked for before the
    /// next one. To be called once that is answered, or has failed.
    pub fn touched(&self, account: &str, conversation: &str) {
        self.memory.doubt(&Name::of(account, conversation));
    }

    fn turn(&self, account: &str, request: Request, purpose: Purpose) -> Turn {
        Turn::of(Course::begin((&self.memory, self.key), account, request, purpose))
    }
}
