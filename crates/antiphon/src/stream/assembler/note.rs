//! What is said of what was mended.

use std::fmt;

use super::Assembler;
use crate::item::{CallId, ItemId};

/// What was put right in an upstream's stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Note {
    /// An item id was empty, malformed or taken, or the upstream called one item by several.
    ItemIdReplaced {
        /// What the upstream called the item.
        from: Option<ItemId>,
        /// What it is called now.
        to: ItemId,
    },
    /// A `call_id` was empty, overlong or taken.
    CallIdReplaced {
        /// What the upstream called it.
        from: CallId,
        /// What it is called now.
        to: CallId,
    },
    /// The upstream called a tool that the request's `tool_choice` rules out; the call was
    /// suppressed.
    CallSuppressed {
        /// The tool's name.
        tool: String,
    },
    /// The upstream called a further tool where the request's `parallel_tool_calls` allows one; the call
    /// was suppressed.
    ParallelCallSuppressed {
        /// The tool's name.
        tool: String,
    },
    /// The upstream's answer is complete without the call that the request's `tool_choice` demands.
    CallMissing {
        /// The tool that had to be called; `None` where any would have done.
        tool: Option<String>,
    },
    /// The upstream sent events a second time; they were left out.
    EventsRepeated {
        /// How many.
        count: usize,
    },
    /// Events held bytes that are not UTF-8; each was replaced by U+FFFD.
    InvalidUtf8 {
        /// How many events.
        events: usize,
    },
    /// The upstream ended its stream without a `finish_reason`: nothing says that the answer is complete.
    FinishReasonMissing,
    /// The upstream said something that the caller's dialect cannot carry; it was left out.
    LeftOut {
        /// What it was, in the upstream's terms: `content block 'container_upload'`.
        what: String,
    },
}

impl Assembler {
    /// An event came a second time.
    pub(super) fn note_repeated_event(&mut self) {
        for note in &mut self.identity.notes {
            if let Note::EventsRepeated { count } = note {
                *count += 1;
                return;
            }
        }
        self.identity.notes.push(Note::EventsRepeated { count: 1 });
    }

    /// An event held bytes that are not UTF-8.
    pub(crate) fn note_invalid_utf8(&mut self) {
        for note in &mut self.identity.notes {
            if let Note::InvalidUtf8 { events } = note {
                *events += 1;
                return;
            }
        }
        self.identity.notes.push(Note::InvalidUtf8 { events: 1 });
    }

    /// The stream ended without saying why.
    pub(crate) fn note_missing_finish_reason(&mut self) {
        self.identity.notes.push(Note::FinishReasonMissing);
    }
}

/// A sentence for people.
impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ItemIdReplaced { from: Some(from), to } => {
                write!(f, "the item id '{from}' was replaced by '{to}'")
            }
            Self::ItemIdReplaced { from: None, to } => {
                write!(f, "an item without an id was given the id '{to}'")
            }
            Self::CallIdReplaced { from, to } => {
                write!(f, "the call_id '{from}' was replaced by '{to}'")
            }
            Self::CallSuppressed { tool } => {
                write!(
                    f,
                    "a call of '{tool}' was suppressed: the request's tool_choice rules it out"
                )
            }
            Self::ParallelCallSuppressed { tool } => {
                write!(
                    f,
                    "a call of '{tool}' was suppressed: the request's parallel_tool_calls allows one"
                )
            }
            Self::CallMissing { tool: Some(tool) } => {
                write!(f, "the request's tool_choice demands a call of '{tool}', and there is none")
            }
            Self::CallMissing { tool: None } => {
                f.write_str("the request's tool_choice demands a call, and there is none")
            }
            Self::EventsRepeated { count } => {
                write!(f, "events that came a second time were left out: {count}")
            }
            Self::InvalidUtf8 { events } => {
                write!(f, "bytes that are not UTF-8 were replaced, in events: {events}")
            }
            Self::FinishReasonMissing => {
                f.write_str("the upstream ended its stream without a finish_reason")
            }
            Self::LeftOut { what } => write!(f, "left out: {what}"),
        }
    }
}
