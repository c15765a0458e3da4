//! Notes about repairs.

use std::fmt;

use crate::item::{CallId, ItemId};

/// A repair to an upstream's stream, or a fault that could not be repaired.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Note {
    /// An item id was empty, malformed or already used, or the upstream gave one item several ids.
    ItemIdReplaced {
        /// The upstream's id.
        from: Option<ItemId>,
        /// The new id.
        to: ItemId,
    },
    /// A `call_id` was empty, too long or already used.
    CallIdReplaced {
        /// The upstream's `call_id`.
        from: CallId,
        /// The new `call_id`.
        to: CallId,
    },
    /// The call was suppressed because the request's `tool_choice` forbids its tool.
    CallSuppressed {
        /// The tool's name.
        tool: String,
    },
    /// The call was suppressed because the request's `parallel_tool_calls` allows only one.
    ParallelCallSuppressed {
        /// The tool's name.
        tool: String,
    },
    /// The answer is complete, but the request's `tool_choice` requires a call and there is none.
    CallMissing {
        /// The required tool; `None` if any tool is enough.
        tool: Option<String>,
    },
    /// The upstream repeated events; the repeated events were dropped.
    EventsRepeated {
        /// Number of events.
        count: usize,
    },
    /// Events held invalid UTF-8; each invalid sequence was replaced by U+FFFD.
    InvalidUtf8 {
        /// Number of events.
        events: usize,
    },
    /// The upstream ended its stream without a `finish_reason`, so the answer may be incomplete.
    FinishReasonMissing,
    /// The upstream sent something that the client's dialect cannot express; it was left out.
    Omitted {
        /// The omitted part, in the upstream's terms: `content block 'container_upload'`.
        what: String,
    },
}

/// Maximum number of notes about omitted parts; later ones are not recorded.
const MAX_OMISSIONS: usize = 1024;

/// The notes of one response.
#[derive(Default)]
pub(super) struct Notes(Vec<Note>);

impl Notes {
    pub(super) fn push(&mut self, note: Note) {
        self.0.push(note);
    }

    /// Counts a repeated event.
    pub(super) fn count_repeated_event(&mut self) {
        for note in &mut self.0 {
            if let Note::EventsRepeated { count } = note {
                *count += 1;
                return;
            }
        }
        self.push(Note::EventsRepeated { count: 1 });
    }

    /// Counts an event with invalid UTF-8.
    pub(super) fn count_invalid_utf8(&mut self) {
        for note in &mut self.0 {
            if let Note::InvalidUtf8 { events } = note {
                *events += 1;
                return;
            }
        }
        self.push(Note::InvalidUtf8 { events: 1 });
    }

    /// Notes an omitted part that a response cannot express.
    pub(super) fn leave_out(&mut self, what: String) {
        if self.0.len() < MAX_OMISSIONS {
            self.push(Note::Omitted { what });
        }
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    pub(super) fn into_vec(self) -> Vec<Note> {
        self.0
    }
}

/// One sentence for logs and reports.
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
                    "a call of '{tool}' was suppressed: \
                     the request's parallel_tool_calls allows one"
                )
            }
            Self::CallMissing { tool: Some(tool) } => {
                write!(f, "the request's tool_choice requires a call of '{tool}': there is none")
            }
            Self::CallMissing { tool: None } => {
                f.write_str("the request's tool_choice requires a call: there is none")
            }
            Self::EventsRepeated { count } => {
                write!(f, "repeated events were left out: {count}")
            }
            Self::InvalidUtf8 { events } => {
                write!(f, "bytes that are not UTF-8 were replaced, in events: {events}")
            }
            Self::FinishReasonMissing => {
                f.write_str("the upstream ended its stream without a finish_reason")
            }
            Self::Omitted { what } => write!(f, "left out: {what}"),
        }
    }
}
