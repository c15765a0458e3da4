//! The compaction that a model's view begins with.

use antiphon::{HeldItem, Item, Kind, Origin, Transcript};

use super::Turn;
use super::report::Report;
use crate::compaction::{Compaction, Unreadable, as_message};
use crate::error::ApiError;
use crate::upstream::Upstream;

/// The latest compaction that a model can read.
pub(super) struct Start {
    /// Where it is in the transcript.
    pub(super) at: usize,
    /// What the model gets in its place.
    pub(super) item: Item,
    /// Whether it was made in this turn, of which it is the last item then.
    pub(super) is_new: bool,
}

/// Who is to read it.
#[derive(Clone, Copy)]
pub(super) struct Target<'a> {
    pub(super) origin: &'a Origin,
    pub(super) upstream: Upstream<'a>,
    /// Whether it reads what it made itself.
    pub(super) reads_its_own: bool,
}

impl<'a> Target<'a> {
    /// The upstream of this origin, which reads what it made.
    pub(super) fn new(origin: &'a Origin, upstream: Upstream<'a>) -> Self {
        Self { origin, upstream, reads_its_own: true }
    }
}

impl Turn<'_> {
    /// Where the view of a transcript starts. Items from `new` on were made in this turn; `source`
    /// tells where in the input the others came from.
    ///
    /// A compaction that the target cannot read gives its place to the items that it stands for where
    /// they are held: where it was made in this thread. A caller that brings it from elsewhere is
    /// refused, since what it stands for would be lost without a word.
    pub(super) fn start(
        &self,
        transcript: &Transcript,
        new: usize,
        target: Target<'_>,
        source: impl Fn(usize) -> Option<usize>,
        report: &mut Report,
    ) -> Result<Option<Start>, ApiError> {
        for (at, held) in transcript.items().iter().enumerate().rev() {
            let is_compaction = held.head.kind == Kind::Compaction;
            let Some(item) = held.item().filter(|_| is_compaction) else { continue };
            match self.read(&item, held, target).map_err(|error| error.at(place(source(at))))? {
                Some(item) => return Ok(Some(Start { at, item, is_new: at >= new })),
                None if held.origin.is_some() => report.expanded(source(at), &item),
                None => return Err(foreign(held, source(at))),
            }
        }
        Ok(None)
    }

    /// The item that tells the target of a compaction; `None` where it cannot be told.
    fn read(
        &self,
        item: &Item,
        held: &HeldItem,
        target: Target<'_>,
    ) -> Result<Option<Item>, Unreadable> {
        let content = item.object().string("encrypted_content").unwrap_or_default().into_owned();
        let opened = self.gateway.compaction_key.open(&self.caller.tenant, &content)?;
        Ok(match opened {
            Compaction::Summary(summary) => Some(as_message(&summary)),
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
}

fn foreign(held: &HeldItem, source: Option<usize>) -> ApiError {
    ApiError::invalid(format!(
        "The compaction item '{}' was made by another model, which alone can read it, and the items \
         that it stands for are not held here. Ask that model, or leave the item out.",
        held.id
    ))
    .code("invalid_encrypted_content")
    .param(place(source))
}

/// Where the content stands that cannot be read.
fn place(source: Option<usize>) -> String {
    source.map_or("input".into(), |position| format!("input[{position}].encrypted_content"))
}
