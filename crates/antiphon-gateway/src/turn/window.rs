//! Handles inputs that are too long for the model's context window.
//!
//! If the size of the window is known, the gateway cuts a long view before it sends it. If the
//! upstream rejects the view as too long, the gateway cuts it and asks again. Both need the
//! caller's permission: `truncation: "auto"`. Without it, the turn fails with an error that names
//! the two remedies. Stored items never change.

use std::collections::HashMap;

use antiphon::ItemId;
use antiphon::json::Object;
use antiphon::truncation::cut;

use super::encode::Sources;
use super::fallback_prompt::FallbackPrompt;
use super::plan::{Plan, Planner, Prompt};
use super::report::PromptChanges;
use crate::compaction::is_summary;
use crate::error::ApiError;
use crate::tokens::{self, TokenEstimate};
use crate::upstream::{Overflow, RetrySession, TooLong, UpstreamError};

/// The fraction of the input that each attempt sends if the upstream's error names no limit. The
/// last attempt sends only the items that cannot be dropped.
const FRACTIONS: [f64; 4] = [0.75, 0.5, 0.25, 0.0];

/// Margin for the difference between the upstream's token count and ours.
const MARGIN: f64 = 0.98;

impl Planner<'_> {
    /// Cuts the plan's view to a window of known size, or fails if it does not fit.
    pub(super) async fn fit(&self, plan: &mut Plan) -> Result<(), ApiError> {
        let request = self.turn.request;
        let Some(window) = self.upstream.context_window() else { return Ok(()) };
        let answer = reserved_for_answer(&request.object());
        let room = window.saturating_sub(answer);
        if tokens::certainly_fits(&request.fields, &plan.prompt.view, room) {
            return Ok(());
        }
        let weights = tokens::estimate_tokens(&request.fields, &plan.prompt.view).await?;
        let needed = weights.total().saturating_add(answer);
        let Some(excess) = needed.checked_sub(window).filter(|excess| *excess > 0) else {
            return Ok(());
        };
        let truncates = self.turn.truncates();
        let cut = truncates.then(|| self.drop_oldest(&plan.prompt, &weights, excess, plan));
        match cut.flatten() {
            Some((shorter, weight)) if weight >= excess => {
                shorter.replace_in(plan);
                Ok(())
            }
            _ => {
                let too_long = TooLong { needed, window: Some(window), truncates };
                Err(UpstreamError::TooLong(too_long).into())
            }
        }
    }

    /// Returns a shorter prompt after the upstream rejected this one as too long. Returns `None`
    /// for any other error, or if no item can or may be dropped.
    pub(super) async fn shorten(
        &self,
        error: &UpstreamError,
        prompt: &Prompt,
        plan: &Plan,
        session: &mut RetrySession<'_>,
    ) -> Option<FallbackPrompt> {
        let overflow = error.overflow().filter(|_| self.turn.truncates())?;
        let attempt = session.shorten()?;
        let weights =
            tokens::estimate_tokens(&self.turn.request.fields, &prompt.view).await.ok()?;
        let excess = self.count_excess(&overflow, attempt, weights.total());
        self.drop_oldest(prompt, &weights, excess, plan).map(|(shorter, _)| shorter)
    }

    /// The number of excess tokens out of `total`, by our count.
    fn count_excess(&self, overflow: &Overflow, attempt: u32, total: u64) -> u64 {
        let fitting = overflow.fitting_fraction(reserved_for_answer(&self.turn.request.object()));
        let by_attempt = FRACTIONS[(attempt as usize).min(FRACTIONS.len() - 1)];
        // The last attempt ignores the upstream's figures.
        let kept = match fitting {
            Some(fraction) if by_attempt > 0.0 => fraction * MARGIN,
            _ => by_attempt,
        };
        total - fraction_of(total, kept).min(total)
    }

    /// Drops the oldest groups of the prompt and returns their weight; `None` if there are none.
    fn drop_oldest(
        &self,
        prompt: &Prompt,
        weights: &TokenEstimate,
        excess: u64,
        plan: &Plan,
    ) -> Option<(FallbackPrompt, u64)> {
        let view = &prompt.view;
        let cut = cut(view, &weights.items, excess.max(1), is_summary);
        if cut.dropped.is_empty() {
            return None;
        }
        let (sources, held) = (Sources::new(&self.turn.request.input), held_ids(plan));
        let mut changes = PromptChanges::default();
        for item in cut.dropped.iter().map(|position| &view[*position]) {
            let id = held.get(&item.raw().as_ptr()).copied().or(item.head().id.as_ref());
            changes.truncated(sources.position(item), item, id);
        }
        let prompt = self.encode(cut.kept(view), &plan.origin, &mut changes).ok()?;
        Some((FallbackPrompt { prompt, changes }, cut.weight))
    }

    /// Turns an upstream's "too long" error into one that names the remedies.
    pub(super) async fn explain(&self, error: UpstreamError, prompt: &Prompt) -> UpstreamError {
        let Some(overflow) = error.overflow() else { return error };
        let (request, truncates) = (self.turn.request, self.turn.truncates());
        let needed = match overflow.needed {
            Some(needed) => needed,
            None => match tokens::estimate_tokens(&request.fields, &prompt.view).await {
                Ok(weights) => {
                    weights.total().saturating_add(reserved_for_answer(&request.object()))
                }
                Err(_) => return error,
            },
        };
        UpstreamError::TooLong(TooLong { needed, window: overflow.window, truncates })
    }
}

/// Maps the address of each item's bytes to its id in the transcript, which the gateway issued if
/// the item arrived without one.
fn held_ids(plan: &Plan) -> HashMap<*const u8, &ItemId> {
    let items = plan.transcript.items().iter();
    items.filter_map(|item| Some((item.body.bytes()?.as_ptr(), &item.id))).collect()
}

/// The caller's limit for the answer; this part of the window stays free.
fn reserved_for_answer(fields: &Object<'_>) -> u64 {
    fields.present("max_output_tokens").and_then(|bound| bound.parse().ok()).unwrap_or_default()
}

#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a fraction of a token count need not be exact"
)]
fn fraction_of(total: u64, fraction: f64) -> u64 {
    (total as f64 * fraction) as u64
}
