//! When a history is compacted, and from what.

use crate::item::{Item, Kind, Role};
use crate::tracker::ResponseId;

/// How many candidates make a compaction worth it.
pub const TRIGGER: usize = 10;

/// From what a caller wants histories compacted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CompactionMode {
    /// From the stored response where there is one, else from the items.
    #[default]
    Auto,
    /// From the items that the client holds.
    Input,
    /// From the response that the server stores.
    PreviousResponseId,
}

/// What a compaction starts from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CompactionSource {
    /// The items that the client holds.
    Input,
    /// What the server holds under this id.
    PreviousResponseId(ResponseId),
}

/// A compaction from a stored response was asked for, and there is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("compaction by previous_response_id needs a stored response")]
pub struct NoResponse;

impl CompactionMode {
    /// What to compact from. `store` is what the request said, `None` where it said nothing: the
    /// API stores by default. `latest` is the latest response that had an id.
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

/// The items that a compaction would replace: all but the user's own words and earlier compactions.
pub fn candidates(history: &[Item]) -> usize {
    let stays =
        |item: &&Item| item.head().role == Some(Role::User) || item.head().kind == Kind::Compaction;
    history.len() - history.iter().filter(stays).count()
}

/// What to do after a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Nothing.
    Skip,
    /// Nothing yet: the turn left outputs of local tools, which the model has not read.
    Defer,
    /// Compact now.
    Compact {
        /// Whether it makes up for one that was deferred, whatever there is to compact.
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
    /// A turn was saved. `candidates` counts what a compaction would replace.
    pub fn after_turn(&mut self, candidates: usize, has_local_outputs: bool) -> Decision {
        match (self.0, has_local_outputs) {
            (State::Deferred, false) => {
                self.0 = State::Watching;
                Decision::Compact { forced: true }
            }
            (State::Deferred, true) => Decision::Defer,
            (State::Watching, _) if candidates < TRIGGER => Decision::Skip,
            (State::Watching, false) => Decision::Compact { forced: false },
            (State::Watching, true) => {
                self.0 = State::Deferred;
                Decision::Defer
            }
        }
    }

    /// The history was cleared: what was deferred is gone with it.
    pub fn cleared(&mut self) {
        self.0 = State::Watching;
    }
}
