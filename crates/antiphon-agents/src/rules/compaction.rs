//! Decides when to compact a history, and the source of the compaction.

use antiphon::item::{Item, Kind, Role};
use antiphon::tracker::ResponseId;

/// The number of candidates from which a compaction is worthwhile.
pub const MIN_CANDIDATES: usize = 10;

/// The requested source of compactions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CompactionMode {
    /// The stored response if there is one, otherwise the items.
    #[default]
    Auto,
    /// The client's items.
    Input,
    /// The response that the server stores.
    PreviousResponseId,
}

/// The source of a compaction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CompactionSource {
    /// The client's items.
    Input,
    /// The server's response with this id.
    PreviousResponseId(ResponseId),
}

/// A compaction from a stored response was requested, but there is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("compaction by previous_response_id needs a stored response")]
pub struct NoResponse;

impl CompactionMode {
    /// Returns the source of a compaction. `store` is the field of the request; without it the API
    /// stores. `latest` is the latest response that had an id.
    pub fn source(
        self,
        store: Option<bool>,
        latest: Option<&ResponseId>,
    ) -> Result<CompactionSource, NoResponse> {
        let stored = latest.filter(|id| store != Some(false) && !id.as_str().is_empty()).cloned();
        match (self, stored) {
            (Self::Input, _) | (Self::Auto, None) => Ok(CompactionSource::Input),
            (_, Some(id)) => Ok(CompactionSource::PreviousResponseId(id)),
            (Self::PreviousResponseId, None) => Err(NoResponse),
        }
    }
}

/// The number of items that a compaction would replace: all except user messages and earlier
/// compactions.
pub fn candidates(history: &[Item]) -> usize {
    let stays =
        |item: &&Item| item.head().role == Some(Role::User) || item.head().kind == Kind::Compaction;
    history.len() - history.iter().filter(stays).count()
}

/// The action after a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CompactionDecision {
    /// Nothing.
    Skip,
    /// Nothing yet: the turn ended with outputs of local tools, which the model has not read.
    Defer,
    /// Compact now.
    Compact {
        /// Whether it is a deferred compaction, which happens with any number of candidates.
        forced: bool,
    },
}

/// Decides when to compact.
///
/// ```text
///            enough, tool outputs
/// Watching ----------------------> Deferred
///    ^                                |
///    '------ no tool outputs: compact '
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CompactionTrigger(State);

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    Watching,
    Deferred,
}

impl CompactionTrigger {
    /// Decides after a turn was saved. `candidates` is the number of items that a compaction would
    /// replace.
    pub fn after_turn(&mut self, candidates: usize, has_local_outputs: bool) -> CompactionDecision {
        match (self.0, has_local_outputs) {
            (State::Deferred, false) => {
                self.0 = State::Watching;
                CompactionDecision::Compact { forced: true }
            }
            (State::Deferred, true) => CompactionDecision::Defer,
            (State::Watching, _) if candidates < MIN_CANDIDATES => CompactionDecision::Skip,
            (State::Watching, false) => CompactionDecision::Compact { forced: false },
            (State::Watching, true) => {
                self.0 = State::Deferred;
                CompactionDecision::Defer
            }
        }
    }

    /// Forgets a deferred compaction, because the history was cleared.
    pub fn cleared(&mut self) {
        self.0 = State::Watching;
    }
}
