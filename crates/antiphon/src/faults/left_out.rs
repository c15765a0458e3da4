//! What is left out for other reasons than a fault of its list.

/// Why an item was left out of a request that is no fault of the list that it stands in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LeftOut {
    /// It was deleted from the conversation.
    Deleted,
    /// It stands in the input twice.
    Repeated,
    /// It answers a call that was announced and then cut short.
    CallCutShort,
    /// It answers a call of which nobody knows, in older history.
    CallUnknown,
    /// Reasoning that another model encrypted.
    ForeignReasoning,
    /// Reasoning of which only the id is left.
    BareReasoning,
    /// Encrypted reasoning that its upstream cannot read.
    RefusedReasoning,
    /// A compaction that another model made, in place of which the model gets what it stands for.
    ForeignCompaction,
    /// It was refused as a duplicate by the upstream that keeps the state, though that does not list it.
    HeldElsewhere,
    /// The upstream that keeps the state was asked for it and does not have it.
    Unknown,
    /// Reasoning that was refused by the upstream that keeps the state because nothing follows it.
    LoneReasoning,
}

impl LeftOut {
    /// Its name in headers, reports and logs.
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

    /// What happened, as a sentence.
    pub fn message(self) -> &'static str {
        match self {
            Self::Deleted => "The item was deleted from this conversation.",
            Self::Repeated => "The item stands in the input twice.",
            Self::CallCutShort => "The call was cut short before it was complete.",
            Self::CallUnknown => "No tool call found for the output.",
            Self::ForeignReasoning => "The reasoning was encrypted by another model.",
            Self::BareReasoning => "The reasoning carries neither encrypted content nor text.",
            Self::RefusedReasoning => "The upstream cannot read the encrypted reasoning.",
            Self::ForeignCompaction => "The compaction was made by another model.",
            Self::HeldElsewhere => "The upstream holds the item already.",
            Self::Unknown => "The upstream does not have the item.",
            Self::LoneReasoning => "The upstream finds nothing behind the reasoning.",
        }
    }
}
