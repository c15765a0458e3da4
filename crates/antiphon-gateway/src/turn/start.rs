//! Finds the compaction at the start of a model's view.

use antiphon::{HeldItem, Item, Origin, Transcript};

use super::context::Turn;
use super::report::PromptChanges;
use crate::compaction::{Compaction, UnreadableSeal, summary_message};
use crate::error::ApiError;
use crate::upstream::Upstream;

/// The latest compaction that the model can read.
pub(super) struct Start {
    /// Its position in the transcript.
    pub(super) at: usize,
    /// The item that the model receives instead of it.
    pub(super) item: Item,
    /// Whether this turn created it. It is then the last item of the transcript.
    pub(super) is_new: bool,
}

/// The model that reads the compaction.
#[derive(Clone, Copy)]
pub(super) struct Target<'a> {
    pub(super) origin: &'a Origin,
    pub(super) upstream: Upstream<'a>,
    /// Whether the upstream can read compactions of its own.
    pub(super) reads_its_own: bool,
}

impl<'a> Target<'a> {
    /// A target that reads its own compactions.
    pub(super) fn new(origin: &'a Origin, upstream: Upstream<'a>) -> Self {
        Self { origin, upstream, reads_its_own: true }
    }
}

impl Start {
    /// Finds the start of the view. Items from position `new` on were created in this turn;
    /// `source` maps older positions to positions in the input.
    ///
    /// A compaction that the target or, after an import, this gateway cannot read is expanded to
    /// the items that it replaced, if it was created in this thread. If the caller brought it from
    /// elsewhere, the turn fails: the model would otherwise lose that history silently.
    pub(super) fn find(
        turn: &Turn<'_>,
        transcript: &Transcript,
        new: usize,
        target: Target<'_>,
        source: impl Fn(usize) -> Option<usize>,
        changes: &mut PromptChanges,
    ) -> Result<Option<Self>, ApiError> {
        for &at in transcript.compactions().iter().rev() {
            let held = &transcript.items()[at];
            let Some(item) = held.item() else { continue };
            let (path, id) = (input_path(source(at)), held.id.to_string());
            match read_compaction(turn, &item, held, target) {
                Ok(Some(item)) => return Ok(Some(Self { at, item, is_new: at >= new })),
                _ if held.origin.is_some() => changes.add_expansion(source(at), &item),
                Ok(None) => return Err(ApiError::ForeignCompaction { path, id }),
                Err(UnreadableSeal) => return Err(ApiError::CompactionOfOtherKey { path, id }),
            }
        }
        Ok(None)
    }
}

/// The item that conveys the compaction to the target; `None` if the target cannot read it.
fn read_compaction(
    turn: &Turn<'_>,
    item: &Item,
    held: &HeldItem,
    target: Target<'_>,
) -> Result<Option<Item>, UnreadableSeal> {
    let content = item.object().string("encrypted_content").unwrap_or_default().into_owned();
    let opened = turn.gateway.compaction_key.open(&turn.caller.tenant, &content)?;
    Ok(match opened {
        Compaction::Summary(summary) => Some(summary_message(&summary)),
        Compaction::Foreign { origin, item } => {
            (origin == *target.origin && target.reads_its_own).then_some(item)
        }
        Compaction::Unknown => {
            let may_be_its_own = held.origin.as_ref().is_none_or(|it| it == target.origin);
            let is_readable = target.upstream.is_responses_server() && may_be_its_own;
            (is_readable && target.reads_its_own).then(|| item.clone())
        }
    })
}

/// The path of the unreadable content, for the error's `param`.
fn input_path(source: Option<usize>) -> String {
    source.map_or("input".into(), |position| format!("input[{position}].encrypted_content"))
}
