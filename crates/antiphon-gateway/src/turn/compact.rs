//! Compacts a long history during a turn, if the request asks for it.

use antiphon::item::Tool;
use antiphon::stream::{Finished, Status};
use antiphon::{Item, Kind};

use super::context::Turn;
use super::plan::{Plan, Planner};
use super::summary::summarize;
use crate::error::ApiError;
use crate::request::CompactionTrigger;
use crate::span::Stage;
use crate::tokens;

/// Items since the last compaction are compacted only above the threshold divided by this.
/// Otherwise a history with many user messages would be compacted in every turn.
const RECOMPACTION_DIVISOR: u64 = 4;

/// Compacts the history if that is due. After a failed compaction the turn continues with the
/// whole history and reports this, unless the compaction would have been the whole answer.
pub(super) async fn compact_if_due(planner: Planner<'_>, plan: &mut Plan) -> Result<(), ApiError> {
    if !is_due(planner.turn, plan).await? {
        return Ok(());
    }
    let stage = planner.turn.stage(Stage::Compact);
    let turn = Turn { trace: stage.span().clone(), ..planner.turn.clone() };
    let summary = summarize(Planner { turn: &turn, ..planner }, plan).await;
    match stage.close(summary) {
        Ok(summary) => {
            planner.replace_history(plan, summary.compaction, summary.usage)?;
            plan.report.changes.add_truncated(summary.changes);
        }
        Err(error) if planner.turn.request.compaction == CompactionTrigger::Now => {
            return Err(error);
        }
        Err(error) => plan.report.changes.add_failed_compaction(&error),
    }
    Ok(())
}

/// Whether a compaction may be due: the request asks for one, and the history is not certainly too
/// short. Counts no tokens.
pub(super) fn may_be_due(turn: &Turn<'_>, plan: &Plan) -> bool {
    match turn.request.compaction {
        CompactionTrigger::None => false,
        CompactionTrigger::Now => true,
        CompactionTrigger::Above(threshold) => {
            let (fields, view) = (&turn.request.fields, &plan.prompt.view);
            view.iter().any(is_compactable) && !tokens::certainly_fits(fields, view, threshold)
        }
    }
}

/// Whether there is enough to compact: more tokens than the request allows, and not only in the
/// user's messages, which always stay. After a compaction, enough new items are needed too.
async fn is_due(turn: &Turn<'_>, plan: &Plan) -> Result<bool, ApiError> {
    let CompactionTrigger::Above(threshold) = turn.request.compaction else {
        return Ok(turn.request.compaction == CompactionTrigger::Now);
    };
    let (fields, view) = (&turn.request.fields, &plan.prompt.view);
    let weights = tokens::estimate_tokens(fields, view).await?;
    let weighed = view.iter().zip(&weights.items);
    let compactable: u64 = weighed.filter(|(item, _)| is_compactable(item)).map(|it| it.1).sum();
    let is_worth_it =
        !plan.continues_compaction() || compactable >= threshold / RECOMPACTION_DIVISOR;
    Ok(weights.total() > threshold && is_worth_it)
}

/// Remembers an upstream that let a history exceed the threshold without compacting it: from
/// the next turn on, the gateway compacts. If the upstream ran its own tools, its token count
/// proves nothing, because it adds up the input of several steps.
pub(super) fn learn_from_answer(turn: &Turn<'_>, plan: &Plan, finished: &Finished) {
    let was_due = match turn.request.compaction {
        // The answer to a trigger is read before it is passed on: `trigger.rs`.
        CompactionTrigger::None | CompactionTrigger::Now => return,
        CompactionTrigger::Above(threshold) => {
            finished.usage.is_some_and(|usage| usage.input_tokens > threshold)
        }
    };
    let is_proof = was_due
        && finished.status == Status::Completed
        && finished.output.iter().all(|it| is_single_step(&it.announced));
    if is_proof && !has_compaction(finished) && plan.preface.is_none() {
        turn.gateway.upstreams.without_compaction.insert(&plan.origin);
    }
}

/// Whether the answer contains a compaction.
pub(super) fn has_compaction(finished: &Finished) -> bool {
    finished.output.iter().any(|output| output.announced.head().kind == Kind::Compaction)
}

/// Whether a compaction replaces the item.
fn is_compactable(item: &Item) -> bool {
    let head = item.head();
    let is_its_own = matches!(head.kind, Kind::Compaction | Kind::CompactionTrigger);
    !is_its_own && !head.survives_compaction()
}

/// Whether a model produces the item in a single step.
fn is_single_step(item: &Item) -> bool {
    let kind = &item.head().kind;
    matches!(kind, Kind::Message | Kind::Reasoning) || kind.tool().is_some_and(Tool::is_named)
}
