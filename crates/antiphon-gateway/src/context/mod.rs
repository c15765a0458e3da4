//! The context of a turn: the exact items that its model was given, and the origin of each.
//!
//! A context is rebuilt from the stored items. Only a turn whose view differed from them has a
//! record of the differences, in its report ([`SentView`](crate::turn::SentView)). If an item was
//! deleted since the turn, the context shows its place without its content, and is not exact.
//!
//! [`load()`] is for a gateway. [`rebuild()`] needs only the record and the items of a turn, so
//! that a reader of a store without a gateway can use it.

mod answer;
mod difference;
mod load;
mod rebuild;
mod refused;
mod wire;

use antiphon::Item;
use antiphon::item::Head;
use antiphon_store::{ResponseId, Seq};
use bytes::Bytes;

pub(crate) use self::answer::to_json;
pub(crate) use self::difference::Difference;
pub(crate) use self::load::load;
pub(crate) use self::rebuild::rebuild;
pub(crate) use self::refused::find_refused;

/// The input of a model in one turn.
#[derive(Clone, Debug)]
pub(crate) struct Context {
    /// The id of the response, or of the request if the turn has no response.
    pub(crate) id: String,
    /// The response that the turn continues.
    pub(crate) previous: Option<String>,
    /// The conversation of the turn.
    pub(crate) conversation: Option<String>,
    /// Unix seconds.
    pub(crate) created_at: i64,
    /// The status of the response.
    pub(crate) status: String,
    /// Whether the upstream stores the items: the gateway sent only the new ones.
    pub(crate) is_delta: bool,
    /// The name of the upstream, if it is known.
    pub(crate) upstream: Option<String>,
    /// The API of the upstream, if it is known.
    pub(crate) api: Option<&'static str>,
    /// The fields of the response object that echo the request, as JSON.
    pub(crate) fields: String,
    /// The items of the prompt, in order.
    pub(crate) items: Vec<ContextItem>,
    /// The stored items that the prompt did not have, in order.
    pub(crate) left_out: Vec<LeftOutItem>,
    /// All repairs of the turn, as in its report.
    pub(crate) repairs: Vec<RepairReason>,
    /// The messages and tools in the API of the upstream, if that is not the Responses API.
    pub(crate) translation: Option<Bytes>,
    /// The tokens of the prompt that came from the provider's cache, as it reported them.
    pub(crate) cached_tokens: Option<u64>,
    /// The tokens of the prompt, as the provider reported them.
    pub(crate) input_tokens: Option<u64>,
    /// The error of a turn without a response: its code and its message.
    pub(crate) error: Option<(String, String)>,
    /// Whether the items are exactly those that the model was given.
    pub(crate) exact: bool,
}

/// An item of a prompt.
#[derive(Clone, Debug)]
pub(crate) struct ContextItem {
    /// Its head. For a deleted item, that of its tombstone.
    pub(crate) head: Head,
    /// Its id in the store. `None` if the gateway created it.
    pub(crate) id: Option<String>,
    /// Its position in the transcript. `None` if the gateway created it.
    pub(crate) seq: Option<Seq>,
    /// The item as it was sent. `None` if it is not here.
    pub(crate) item: Option<Item>,
    /// Whether it was deleted after the turn.
    pub(crate) is_deleted: bool,
    /// Its source.
    pub(crate) source: Source,
    /// The repair that changed or created it.
    pub(crate) repair: Option<RepairReason>,
}

/// The source of an item of a prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    /// The store had it before the turn.
    Stored {
        /// The response that it belongs to. `None` for an item that was added to a conversation,
        /// or if the response is not known.
        response: Option<ResponseId>,
    },
    /// It is new input of the turn.
    Input,
    /// The gateway created it.
    Placeholder,
    /// It is the content of a compaction: a summary, or the item of an upstream.
    Compaction,
    /// It cannot be rebuilt.
    Unknown,
}

impl Source {
    /// Its name in answers.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Stored { .. } => "stored",
            Self::Input => "input",
            Self::Placeholder => "placeholder",
            Self::Compaction => "compaction",
            Self::Unknown => "unknown",
        }
    }
}

/// The reason for a change of an item, as in the report of the turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RepairReason {
    /// The name of the fault.
    pub(crate) fault: String,
    /// The name of the repair.
    pub(crate) action: String,
    /// The provider's error that was avoided, or the reason in words.
    pub(crate) message: String,
}

/// A stored item that a prompt did not have.
#[derive(Clone, Debug)]
pub(crate) struct LeftOutItem {
    /// Its head.
    pub(crate) head: Head,
    /// Its id in the store.
    pub(crate) id: String,
    /// Its position in the transcript.
    pub(crate) seq: Seq,
    /// The reason.
    pub(crate) reason: RepairReason,
}
