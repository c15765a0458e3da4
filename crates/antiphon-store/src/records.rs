//! The values that callers pass to a store and get back.

use std::ops::Range;

use antiphon::{HeldItem, ItemId};
use bytes::Bytes;

use crate::error::StoreError;
use crate::ids::{ConversationId, ResponseId, Shard, Tenant, ThreadId};
use crate::ledger_records::LedgerUpdate;

/// The endpoint of a watch. It is not a URL, so no webhook can have it.
pub const WATCH_ENDPOINT: &str = "upstream";

/// The position of an item in its thread, from 0.
pub type Seq = u64;

/// A point in a thread: after every item below `end`, including those of the thread's lineage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cursor {
    /// The shard of the thread.
    pub shard: Shard,
    /// The thread.
    pub thread: ThreadId,
    /// One past the last item that counts. The sequence numbers of a fork continue those of its
    /// parent.
    pub end: Seq,
}

/// The destination of a turn's items.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Destination {
    /// A new thread.
    New {
        /// The shard of the thread. It is the shard in the response's id.
        shard: Shard,
        /// The id of the thread.
        thread: ThreadId,
    },
    /// After `cursor`. The items are appended if the cursor is the tip of a thread that no
    /// conversation names. Otherwise they go to a fork, which copies nothing. The commit decides:
    /// of two turns from one cursor, the first appends and the second forks.
    After {
        /// The point at which the turn began.
        cursor: Cursor,
        /// The id of the fork, if one is needed.
        fork: ThreadId,
        /// The response that ends at the cursor, if its conversation may retract it meanwhile. The
        /// items then go after the response's new position.
        end_of: Option<ResponseId>,
    },
    /// To the end of a conversation's thread.
    Conversation(ConversationId),
}

impl Destination {
    /// The shard that the items go to.
    pub(crate) fn shard(&self) -> Shard {
        match self {
            Self::New { shard, .. } => *shard,
            Self::After { cursor, .. } => cursor.shard,
            Self::Conversation(id) => id.shard(),
        }
    }
}

/// Identifies a request, so that a retry by its client is recognized: a keyed digest of its body,
/// or of the idempotency key that the client sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RequestDigest(pub [u8; 16]);

/// How long a request without an idempotency key is found again by its digest, in seconds. The
/// provider's clients abandon an attempt after 10 minutes.
pub const RETRY_WINDOW: i64 = 15 * 60;

impl RequestDigest {
    /// The shard derived from the request: its first half.
    pub fn shard(&self) -> Shard {
        let (half, _) = self.0.split_first_chunk().expect("a digest is longer than a shard");
        Shard(u64::from_be_bytes(*half))
    }
}

/// A place in the queue of a conversation. Later places are greater, across all conversations, so
/// the number serves as a fencing token: it tells a former holder from its successors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct QueuePlace(pub u64);

/// The result of a turn, committed as a unit.
#[derive(Clone, Debug, PartialEq)]
pub struct TurnRecord {
    /// The destination of the items.
    pub destination: Destination,
    /// The turn's fresh input.
    pub input: Vec<HeldItem>,
    /// The model's output.
    pub output: Vec<HeldItem>,
    /// The response's record. `None` if the caller asked for no storage.
    pub response: Option<NewResponse>,
    /// The request that the turn answers. `None` if a retry of it need not be recognized.
    pub request: Option<RequestDigest>,
    /// The place in the queue that the turn was run from. `None` if its destination has no queue.
    pub place: Option<QueuePlace>,
    /// Notices to send when the turn ends. Only a turn with a response has any.
    pub notices: Vec<Notice>,
    /// The changes to ledgers, if a provider stores the turn's items. A pending turn never has any,
    /// so that the ledger stays stale if its process dies.
    pub ledger: Option<LedgerUpdate>,
}

/// A message for an external endpoint, or a watch ([`Watches`](crate::Watches)). It is stored from
/// the commit of its turn until it is delivered or given up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    /// Its id, the same for every attempt to deliver it.
    pub id: String,
    /// The endpoint. It receives one notice per id.
    pub endpoint: String,
    /// The time of the next attempt, in Unix seconds.
    pub due_at: i64,
    /// The body of the message.
    pub body: Bytes,
}

impl Notice {
    /// Whether it is a watch ([`Watches`](crate::Watches)).
    pub(crate) fn is_watch(&self) -> bool {
        self.endpoint == WATCH_ENDPOINT
    }
}

/// The state of the turn whose end the notices report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TurnState {
    /// It may still end otherwise, so no notice is due.
    Open,
    /// It has ended.
    Ended,
}

/// A notice that one process has claimed, so that no other sends it meanwhile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClaimedNotice {
    /// The tenant that owns it.
    pub tenant: Tenant,
    /// The response of its turn.
    pub response: ResponseId,
    /// The notice. Its `due_at` is the end of the claim.
    pub notice: Notice,
    /// The number of claims so far, this one included.
    pub attempt: u32,
}

impl TurnRecord {
    /// Rejects a response whose id names another shard than its items go to. A response is looked
    /// up in the shard that its id names.
    pub(crate) fn check_shard(&self) -> Result<(), StoreError> {
        let named = self.response.as_ref().map(|response| response.id.shard());
        match named {
            Some(shard) if shard != self.destination.shard() => Err(StoreError::Unavailable(
                "the response's id names another shard than its thread's".into(),
            )),
            _ => Ok(()),
        }
    }

    /// The response of a pending turn.
    pub(crate) fn announced(&self) -> Result<&NewResponse, StoreError> {
        self.check_shard()?;
        self.response.as_ref().filter(|_| self.output.is_empty()).ok_or_else(|| {
            StoreError::Unavailable("a pending turn must have a response and no output".into())
        })
    }
}

/// An earlier turn for the same request.
#[derive(Clone, Debug, PartialEq)]
pub enum PriorTurn {
    /// It was announced and has not ended.
    Open(ResponseId),
    /// It ended, with success or failure.
    Ended(ResponseRecord),
}

/// The record of a response, without its items.
#[derive(Clone, Debug, PartialEq)]
pub struct NewResponse {
    /// Its id.
    pub id: ResponseId,
    /// The conversation that it belongs to.
    pub conversation: Option<ConversationId>,
    /// Unix seconds.
    pub created_at: i64,
    /// The response object as JSON with an empty `output`: items are stored once, as items.
    pub envelope: Bytes,
    /// The omissions and repairs of the request, as JSON.
    pub report: Bytes,
    /// The copy of a turn that its provider may have lost. `None` for all other turns.
    pub copy: Option<TurnCopy>,
}

/// An encrypted copy of a turn, stored until it expires. It belongs to the record of the turn's
/// response, or to that of its pending turn, and is deleted with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TurnCopy {
    /// The encrypted items. Only the gateway can read them.
    pub sealed: Bytes,
    /// Unix seconds.
    pub expires_at: i64,
}

impl TurnCopy {
    /// Joins two columns that are null together.
    pub(crate) fn from_columns(sealed: Option<Bytes>, expires_at: Option<i64>) -> Option<Self> {
        let (sealed, expires_at) = sealed.zip(expires_at)?;
        Some(Self { sealed, expires_at })
    }
}

/// A stored response.
#[derive(Clone, Debug, PartialEq)]
pub struct ResponseRecord {
    /// The fields that the turn recorded.
    pub response: NewResponse,
    /// Its end: a turn that names it as `previous_response_id` begins here.
    pub cursor: Cursor,
    /// Its input, as positions in the cursor's thread.
    pub input: Range<Seq>,
    /// Its output, as positions in the cursor's thread.
    pub output: Range<Seq>,
}

/// The positions of a response's items in its thread: the input, then the output.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ResponseRange {
    pub(crate) input_from: Seq,
    pub(crate) output_from: Seq,
    pub(crate) end: Seq,
}

impl ResponseRange {
    /// The positions of a stored response.
    pub(crate) fn from_record(record: &ResponseRecord) -> Self {
        Self {
            input_from: record.input.start,
            output_from: record.output.start,
            end: record.output.end,
        }
    }

    /// The record of the response.
    pub(crate) fn into_record(self, response: NewResponse, thread: ThreadId) -> ResponseRecord {
        ResponseRecord {
            cursor: Cursor { shard: response.id.shard(), thread, end: self.end },
            response,
            input: self.input_from..self.output_from,
            output: self.output_from..self.end,
        }
    }
}

/// A stored conversation.
#[derive(Clone, Debug, PartialEq)]
pub struct Conversation {
    /// Its id.
    pub id: ConversationId,
    /// Unix seconds.
    pub created_at: i64,
    /// A JSON object of strings.
    pub metadata: Bytes,
}

/// Which items to list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ListScope {
    /// All items of a conversation.
    Conversation(ConversationId),
    /// The input of a response.
    Input(ResponseId),
}

/// The direction of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Oldest first.
    Ascending,
    /// Newest first.
    Descending,
}

/// The part of a list to return.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageRequest {
    /// The item that precedes the page. `None` for the beginning of the list.
    pub after: Option<ItemId>,
    /// The maximum number of items.
    pub limit: usize,
    /// The maximum number of bytes, unless the first item alone has more. With a limit above 0, a
    /// page that does not end the list holds at least one item.
    pub max_bytes: usize,
    /// The direction.
    pub order: Order,
}

impl PageRequest {
    /// The number of items that fit on the page, given the sizes of the items that follow.
    pub(crate) fn count_fitting(&self, sizes: impl Iterator<Item = usize>) -> usize {
        fitting_into(self.max_bytes, sizes).min(self.limit)
    }
}

/// The number of leading sizes that add up to at most `bytes`, but at least one.
pub(crate) fn fitting_into(bytes: usize, sizes: impl Iterator<Item = usize>) -> usize {
    let ends = sizes.scan(0_usize, |end, size| {
        *end = end.saturating_add(size);
        Some(*end)
    });
    ends.take_while(|end| *end <= bytes).count().max(1)
}

/// A part of a list of live items.
#[derive(Clone, Debug, PartialEq)]
pub struct ItemPage {
    /// The items, in the requested order.
    pub items: Vec<HeldItem>,
    /// Whether more items follow.
    pub has_more: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn page_holds_as_many_items_as_fit() {
        assert_eq!(fitting_into(9, [10, 1].into_iter()), 1);
        assert_eq!(fitting_into(9, [9, 0, 1].into_iter()), 2);
        assert_eq!(fitting_into(9, [1, 2, 3].into_iter()), 3);
        assert_eq!(fitting_into(9, [usize::MAX, usize::MAX].into_iter()), 1);
    }
}
