//! The actions of a preparation, and the results that its driver records.

use super::{EarlierPoint, Listed, Plan};
use crate::faults::Refusal;
use crate::item::{FingerprintKey, ItemId};
use crate::provider_api::UnexpectedAnswer;
use crate::reconcile::{AdmissionMode, ReplayStyle, StoredInput};
use crate::transcript::{Origin, Transcript};

/// The properties of a driver.
#[derive(Clone, Debug)]
pub struct Rules {
    /// The key of the fingerprints.
    pub key: FingerprintKey,
    /// The record of the known items: of a client, or the ledger of a gateway.
    pub mode: AdmissionMode,
    /// How the client resends its history.
    pub style: ReplayStyle,
    /// Whether an input that a server rejects is rejected here, and not repaired.
    pub is_strict: bool,
    /// Whether the items are stored without a turn of the model.
    pub is_delivery: bool,
    /// The origin of listed items of the model.
    pub origin: Option<Origin>,
}

/// The known items of the server.
#[derive(Clone, Debug, Default)]
pub struct Known {
    /// The items.
    pub items: Transcript,
    /// The input that an earlier attempt at the request stored.
    pub stored: StoredInput,
    /// For [`LoadReason::Lost`], the latest point from which `items` have their bytes.
    pub earlier: Option<EarlierPoint>,
}

/// The next action of a driver. The methods that record its result are those of
/// [`Preparation`](super::Preparation).
#[derive(Debug)]
pub enum Action<'a> {
    /// Load the known items for `record_known`.
    Load(LoadReason),
    /// Load the known items that end with this response for `record_known`.
    Find(&'a str),
    /// Replace the known items, and pass them to `record_known`.
    Store(&'a Listed),
    /// Send a `GET` to this path below the base URL, with its query, for `record_answer`.
    Ask(String),
    /// Find out whether the server can delete items, for `record_item_deletion`.
    CheckDeletion,
    /// Send a `DELETE` for an item of the conversation, for `record_answer`.
    Delete {
        /// The item.
        item: &'a ItemId,
        /// The path below the base URL.
        path: String,
    },
    /// Send the planned request or, without a plan, the caller's unchanged. After a rejection, call
    /// `reject`.
    Send(Option<&'a Plan>),
    /// Wait for another turn of the conversation, and call `resume`.
    Wait,
    /// End the turn.
    GiveUp(&'a Failure),
}

/// The reason for [`Action::Load`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoadReason {
    /// The turn begins.
    Start,
    /// The server has more items than the known ones.
    Incomplete,
    /// The server rejected the request that the known items led to.
    Rejected,
    /// Another turn of the conversation was open.
    Locked,
    /// The server has lost the response. The record may have the bytes of the latest items.
    Lost,
    /// The server does not list its items. The record may have those of earlier turns.
    Unlisted,
}

/// The reason for [`Action::GiveUp`]. If there is no other error, the caller gets the last one of
/// the server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The server rejected the request, and may have changed its items.
    Rejected,
    /// There is no other request to send. The last one has changed nothing.
    NoOtherRequest,
    /// The server does not list its items now, or at all. It may have returned no list.
    NotListed(Option<UnexpectedAnswer>),
    /// The rules reject the input with this error.
    Refused(Refusal),
}
