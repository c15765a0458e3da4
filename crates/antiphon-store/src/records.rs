//! What goes into a store and what comes out.

use std::ops::Range;

use antiphon::{HeldItem, ItemId};
use bytes::Bytes;

use crate::error::StoreError;
use crate::ids::{ConversationId, ResponseId, Shard, Tenant, ThreadId};
use crate::ledger_records::LedgerTurn;

/// The endpoint of a watch. No webhook has it, because it is not a URL.
pub const WATCH: &str = "upstream";

/// The position of an item in its thread, from 0.
pub type Seq = u64;

/// A point in a thread: after every item below `end`, those of the thread's lineage included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cursor {
    /// The shard of the thread.
    pub shard: Shard,
    /// The thread.
    pub thread: ThreadId,
    /// One past the last item that counts. Sequence numbers of a fork go on from its parent's.
    pub end: Seq,
}

/// Where a turn's items go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Base {
    /// To a thread of their own.
    New {
        /// Its shard, the one that the response's id names.
        shard: Shard,
        /// Its id.
        thread: ThreadId,
    },
    /// Behind `cursor`: appended where the cursor is the tip of a thread that no conversation
    /// names, else to a fork, which copies nothing. The commit decides, so the first of two turns
    /// from one cursor appends and the second forks.
    After {
        /// Where the turn began.
        cursor: Cursor,
        /// The id of the fork, if it comes to one.
        fork: ThreadId,
        /// The response that the cursor is the end of, if it may be taken back from its conversation
        /// meanwhile: then the turn goes behind where it is now.
        end_of: Option<ResponseId>,
    },
    /// To the end of a conversation's thread.
    Conversation(ConversationId),
}

impl Base {
    /// The shard that the items go to.
    pub(crate) fn shard(&self) -> Shard {
        match self {
            Self::New { shard, .. } => *shard,
            Self::After { cursor, .. } => cursor.shard,
            Self::Conversation(id) => id.shard(),
        }
    }
}

/// Tells a request from others, so that it is known when its client sends it again: a keyed digest of
/// its body, or of the key that its client gave it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RequestDigest(pub [u8; 16]);

impl RequestDigest {
    /// The shard that follows from the request: its first half.
    pub fn shard(&self) -> Shard {
        let (half, _) = self.0.split_first_chunk().expect("a digest is longer than a shard");
        Shard(u64::from_be_bytes(*half))
    }
}

/// A place in the line for a conversation. Of all places ever given, a later one is greater, so that
/// it tells a holder from its successors (a fencing number).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place(pub u64);

/// What a turn leaves behind, committed as one.
#[derive(Clone, Debug, PartialEq)]
pub struct Turn {
    /// Where the items go.
    pub base: Base,
    /// The turn's fresh input.
    pub input: Vec<HeldItem>,
    /// What the model made of it.
    pub output: Vec<HeldItem>,
    /// The response's record; `None` where the caller asked that none be kept.
    pub response: Option<NewResponse>,
    /// The request that it answers; `None` where it will not be known again.
    pub request: Option<RequestDigest>,
    /// The place in line that it is committed from; `None` where its base has no line.
    pub place: Option<Place>,
    /// What endpoints outside are to be told of its end. Only of a turn with a response.
    pub notices: Vec<Notice>,
    /// What it changes in ledgers: of a turn whose items a provider keeps. Never of an opening, so
    /// that what a dead process leaves stays in doubt.
    pub ledger: Option<LedgerTurn>,
}

/// What an endpoint outside is to be told. It is kept from the commit of its turn until it was told, or
/// given up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    /// What it is known by, however often it is told.
    pub id: String,
    /// The endpoint; of one id, it is told once.
    pub endpoint: String,
    /// When it is to be told, in Unix seconds.
    pub due_at: i64,
    /// What is told.
    pub body: Bytes,
}

impl Notice {
    /// Whether it is a watch ([`Watches`](crate::Watches)).
    pub(crate) fn is_watch(&self) -> bool {
        self.endpoint == WATCH
    }
}

/// A notice that was claimed, so that nobody else tells it meanwhile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DueNotice {
    /// Whose it is.
    pub tenant: Tenant,
    /// The response of its turn.
    pub response: ResponseId,
    /// What is to be told, and until when it is claimed.
    pub notice: Notice,
    /// How often it was claimed, from 1.
    pub attempt: u32,
}

impl Turn {
    /// A response is looked up in the shard that its id names, so its items have to be there.
    pub(crate) fn check_shard(&self) -> Result<(), StoreError> {
        let named = self.response.as_ref().map(|response| response.id.shard());
        match named {
            Some(shard) if shard != self.base.shard() => Err(StoreError::Unavailable(
                "the response's id names another shard than its thread's".into(),
            )),
            _ => Ok(()),
        }
    }

    /// The response of a turn that is recorded as open.
    pub(crate) fn announced(&self) -> Result<&NewResponse, StoreError> {
        self.check_shard()?;
        self.response.as_ref().filter(|_| self.output.is_empty()).ok_or_else(|| {
            StoreError::Unavailable("an opening has a response and no output".into())
        })
    }
}

/// A turn of a request that was made before.
#[derive(Clone, Debug, PartialEq)]
pub enum Earlier {
    /// It was announced and has not ended.
    Open(ResponseId),
    /// It ended, well or not.
    Ended(ResponseRecord),
}

/// The record of a response, beside its items.
#[derive(Clone, Debug, PartialEq)]
pub struct NewResponse {
    /// Its id.
    pub id: ResponseId,
    /// The conversation that it was made in.
    pub conversation: Option<ConversationId>,
    /// Unix seconds.
    pub created_at: i64,
    /// The response object as JSON, its `output` left empty: the items are kept once, as items.
    pub envelope: Bytes,
    /// What was left out and mended, as JSON.
    pub report: Bytes,
}

/// A response as it is kept.
#[derive(Clone, Debug, PartialEq)]
pub struct ResponseRecord {
    /// What was recorded.
    pub response: NewResponse,
    /// Its end: where a turn that names it as `previous_response_id` begins.
    pub cursor: Cursor,
    /// Its input, as positions in the cursor's thread.
    pub input: Range<Seq>,
    /// Its output, as positions in the cursor's thread.
    pub output: Range<Seq>,
}

/// A conversation as it is kept.
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
pub enum Scope {
    /// All items of a conversation.
    Conversation(ConversationId),
    /// The input of a response.
    Input(ResponseId),
}

/// Which way a list runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Oldest first.
    Ascending,
    /// Newest first.
    Descending,
}

/// Which part of a list to give.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page {
    /// The item that the page begins behind; `None` for the beginning.
    pub after: Option<ItemId>,
    /// How many items at the most.
    pub limit: usize,
    /// How many bytes of items at the most, unless the first item alone has more: with a limit above
    /// 0, a page that does not end the list holds at least one.
    pub max_bytes: usize,
    /// Which way.
    pub order: Order,
}

impl Page {
    /// The number of items that the page holds, by the sizes of those that could follow.
    pub(crate) fn count_fitting(&self, sizes: impl Iterator<Item = usize>) -> usize {
        fitting_into(self.max_bytes, sizes).min(self.limit)
    }
}

/// How many things of these sizes have `bytes` together, but at least one.
pub(crate) fn fitting_into(bytes: usize, sizes: impl Iterator<Item = usize>) -> usize {
    let ends = sizes.scan(0_usize, |end, size| {
        *end = end.saturating_add(size);
        Some(*end)
    });
    ends.take_while(|end| *end <= bytes).count().max(1)
}

/// A part of a list of live items.
#[derive(Clone, Debug, PartialEq)]
pub struct Listing {
    /// The items, in the order that was asked for.
    pub items: Vec<HeldItem>,
    /// Whether there are more behind them.
    pub has_more: bool,
}
