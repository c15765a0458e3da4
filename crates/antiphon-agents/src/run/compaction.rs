//! Compacts the history of a run between two turns.

use antiphon::Item;
use antiphon::repair::repair;

use super::effect::{Done, Effect};
use super::{Run, RunEvent};
use crate::compaction::Way;
use crate::input::user;
use crate::model::{Model, ModelError, ModelRequest};

/// The instructions for a summary.
const PROMPT: &str = "\
Summarize this conversation for the assistant that continues it, which will read your summary in \
place of the conversation. Keep all facts, decisions, open questions, names, numbers and \
identifiers that it may need, and the results of tools. Write the summary only.";

/// The beginning of a summary.
const INTRODUCTION: &str = "Summary of the conversation so far:";

impl<C: Send + Sync + 'static> Run<C> {
    /// The compaction before the next request or after the last answer, if it is due.
    pub(super) fn compact(&mut self) -> Option<Effect> {
        let compaction = self.options.compaction.clone()?;
        let history = self.machine.compactable()?;
        let last = self.machine.view().answers().last();
        let tokens = last.map(|answer| answer.usage.total_tokens).filter(|tokens| *tokens > 0);
        if self.has_compacted_at == Some(history.len()) || !compaction.is_due(&history, tokens) {
            return None;
        }
        // A failed compaction is not repeated before the history grows.
        self.has_compacted_at = Some(history.len());
        let (model, old) = (self.model(), history.len());
        let session = self.machine.view().session().map(str::to_owned);
        let session = self.sessions.clone().zip(session);
        let mut new = compaction.pinned(&history);
        let effect = Effect::new(async move {
            let compacted = match compacted(&model, compaction.way, &history).await {
                Ok(items) => items,
                Err(error) => return Done::Event(RunEvent::NotCompacted(error.to_string())),
            };
            new.extend(compacted);
            if let Some((store, key)) = session
                && let Err(error) = store.replace(&key, old, &new).await
            {
                return Done::Event(RunEvent::NotCompacted(error.to_string()));
            }
            Done::Compacted { old, new }
        });
        Some(Effect { is_abortable: true, ..effect })
    }
}

async fn compacted(model: &Model, way: Way, history: &[Item]) -> Result<Vec<Item>, ModelError> {
    let request = ModelRequest::new(model.name()).with_items(repair(history).items);
    match way {
        Way::Provider => model.backend().compact(request).await,
        Way::Model => {
            let request = ModelRequest { instructions: Some(PROMPT.to_owned()), ..request };
            let answer = model.backend().respond(request).await?.finish().await?;
            Ok(vec![user(&format!("{INTRODUCTION}\n\n{}", answer.text()))])
        }
    }
}
