//! Items that are left out for a reason other than a fault of their list.

/// The reason why an item was left out of a request, if it is not a [`Fault`](super::Fault).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum OmissionReason {
    /// It was deleted from the conversation.
    Deleted,
    /// The input contains it twice.
    Repeated,
    /// It answers a call that a stream announced and did not complete.
    CallCutShort,
    /// It answers an unknown call in the older part of a history.
    CallUnknown,
    /// It is reasoning that another model encrypted.
    ForeignReasoning,
    /// It is reasoning of which only the id is left.
    BareReasoning,
    /// It is encrypted reasoning that the upstream cannot read.
    RefusedReasoning,
    /// It is a compaction of another model. The model gets the items that it summarizes instead.
    ForeignCompaction,
    /// The upstream that owns the state refused it as a duplicate, although it does not list it.
    HeldElsewhere,
    /// The upstream that owns the state refused it: the upstream has no item with this id.
    Unknown,
    /// It is reasoning that the upstream that owns the state refused, because no item follows it.
    LoneReasoning,
}

impl OmissionReason {
    /// The reason's name in headers, reports and logs.
    pub fn name(self) -> &'static str {
        match self {
            Self::Deleted => "deleted_item",
            Self::Repeated | Self::HeldElsewhere => "duplicate_item",
            Self::CallCutShort => "output_of_cut_short_call",
            Self::CallUnknown => "output_without_call",
            Self::ForeignReasoning => "foreign_reasoning",
            Self::BareReasoning => "bare_reasoning",
            Self::RefusedReasoning => "refused_reasoning",
            Self::ForeignCompaction => "foreign_compaction",
            Self::Unknown => "unresolved_reference",
            Self::LoneReasoning => "lone_reasoning",
        }
    }

    /// The reason as a sentence.
    pub fn message(self) -> &'static str {
        match self {
            Self::Deleted => "The item was deleted from this conversation.",
            Self::Repeated => "The input contains the item twice.",
            Self::CallCutShort => "The call was cut short before it was complete.",
            Self::CallUnknown => "No tool call found for the output.",
            Self::ForeignReasoning => "The reasoning was encrypted by another model.",
            Self::BareReasoning => "The reasoning carries neither encrypted content nor text.",
            Self::RefusedReasoning => "The upstream cannot read the encrypted reasoning.",
            Self::ForeignCompaction => "Another model produced the compaction.",
            Self::HeldElsewhere => "The upstream holds the item already.",
            Self::Unknown => "The upstream does not have the item.",
            Self::LoneReasoning => "The upstream finds no item after the reasoning.",
        }
    }
}
