//! Compacts the history of a run between two turns.

use antiphon::Item;
use antiphon::repair::repair;
use antiphon::tracker::Continuation;

use super::effect::{Done, Effect, answered_by_store};
use super::{Run, RunEvent, trace};
use crate::compaction::{Way, summary};
use crate::input::user;
use crate::machine::{Compactable, Compacted, split_read};
use crate::model::{Model, ModelError, ModelRequest};
use crate::session::SessionError;

/// The request for a summary: a message of the user, because some models continue an assistant's
/// message that is the last one.
const PROMPT: &str = "\
Summarize this conversation for the assistant that continues it, which will read your summary in \
place of the conversation. Keep all facts, decisions, open questions, names, numbers and \
identifiers that it may need, and the results of tools. Write the summary only.";

/// The progress of the compactions of a run.
#[derive(Default)]
pub(super) struct Progress {
    /// The number of items of the run at the last attempt. A failed compaction is not repeated
    /// before the run grows.
    tried_at: Option<usize>,
    /// Whether a compaction was due while the model had not read the outputs of tools. It happens
    /// as soon as the model has.
    is_deferred: bool,
}

/// The items that replace a history, before they are stored.
pub(super) struct Summary {
    /// The number of items before.
    old: usize,
    items: Vec<Item>,
}

impl<C: Send + Sync + 'static> Run<C> {
    /// The compaction before the next request or after the last answer, if it is due. A server's
    /// state is compacted before a request only.
    pub(super) fn compact(&mut self, is_over: bool) -> Option<Effect> {
        let compaction = self.options.compaction.clone()?;
        let last = self.machine.view().answers().last();
        let tokens = last.map(|answer| answer.usage.total_tokens).filter(|tokens| *tokens > 0);
        let Some(compactable) = self.machine.compactable() else {
            self.compaction.is_deferred |= compaction.is_due(&self.machine.all_items(), tokens);
            return None;
        };
        let length = self.machine.view().items().len();
        if self.compaction.tried_at == Some(length) {
            return None;
        }
        let is_forced = self.compaction.is_deferred;
        match &compactable {
            Compactable::Server(_) if is_over => return None,
            Compactable::Server(_) => {}
            Compactable::Items(history) if is_forced || compaction.is_due(history, tokens) => {}
            Compactable::Items(_) => return None,
        }
        self.compaction = Progress { tried_at: Some(length), is_deferred: false };
        let model = self.model();
        let conversation = trace::conversation_id(self.machine.view());
        let future = async move {
            let history = match history(&model, compactable).await {
                Ok(Some(history)) => history,
                Ok(None) => return Done::record(|_| {}),
                Err(error) => return not_compacted(&error),
            };
            if !is_forced && !compaction.is_due(&history, tokens) {
                return Done::record(|_| {});
            }
            let summary = match summarize(&model, compaction.way, &history, conversation).await {
                Ok(summary) => summary,
                Err(error) => return not_compacted(&error),
            };
            // A provider keeps the messages of the user itself.
            let is_kept = |item: &Item| summary.iter().any(|kept| kept.has_same_content(item));
            let mut items = compaction.pinned(&history);
            items.retain(|item| !is_kept(item));
            items.extend(summary);
            Done::Summarized(Summary { old: history.len(), items })
        };
        // A cancellation ends it, and nothing has changed.
        Some(Effect { is_abortable: true, ..Effect::new(future) })
    }

    /// Stores the items that replace the history. This is not cancelled: it happens or fails,
    /// within the time limit of the store.
    pub(super) fn store_summary(&mut self, summary: Summary) {
        let view = self.machine.view();
        let (session, from) = (view.session().map(str::to_owned), view.continuation().cloned());
        let session = self.sessions.clone().zip(session);
        let model = self.model();
        let Summary { old, items } = summary;
        let new = items.len();
        let limit = self.machine.limits().store_timeout;
        self.effect = Some(Effect::new(async move {
            if let Some(from) = from {
                return match fork(&model, &from, old, items).await {
                    Ok(compacted) => Done::Compacted { old, new, compacted },
                    Err(error) => not_compacted(&error),
                };
            }
            if let Some((store, key)) = session {
                match answered_by_store(limit, store.replace(&key, old, &items)).await {
                    Ok(()) => {}
                    // The history may be the old one or the new one: the next run reads it.
                    Err(error @ SessionError::TimedOut(_)) => return Done::Failed(error.into()),
                    Err(error) => return not_compacted(&error),
                }
            }
            Done::Compacted { old, new, compacted: Compacted::Items { old, new: items } }
        }));
    }
}

/// The items to compact; `None` if a server has none that its model has read.
async fn history(model: &Model, from: Compactable) -> Result<Option<Vec<Item>>, ModelError> {
    match from {
        Compactable::Items(items) => Ok(Some(items)),
        Compactable::Server(from) => {
            let items = model.backend().items(&from).await?;
            Ok(split_read(items).map(|(read, _)| read))
        }
    }
}

/// Begins another state of the server with `items` and with those that the server has after the
/// first `old` ones.
async fn fork(
    model: &Model,
    from: &Continuation,
    old: usize,
    mut items: Vec<Item>,
) -> Result<Compacted, ModelError> {
    let now = model.backend().items(from).await?;
    items.extend(now.into_iter().skip(old));
    let items = repair(&items).items;
    match from {
        Continuation::Chain { .. } => Ok(Compacted::Chain(items)),
        Continuation::Conversation { .. } => {
            let id = model.backend().create_conversation(items.clone()).await?;
            Ok(Compacted::Conversation { to: Continuation::Conversation { id }, seed: items })
        }
    }
}

fn not_compacted(error: &impl std::fmt::Display) -> Done {
    Done::Event(RunEvent::NotCompacted(error.to_string()))
}

async fn summarize(
    model: &Model,
    way: Way,
    history: &[Item],
    conversation: Option<String>,
) -> Result<Vec<Item>, ModelError> {
    let mut items = repair(history).items;
    let request = ModelRequest::new(model.name());
    match way {
        Way::Provider => model.backend().compact(request.with_items(items)).await,
        Way::Model => {
            items.push(user(PROMPT));
            let request = request.with_items(items);
            let answer = trace::respond(model, request, conversation).await?.finish().await?;
            Ok(vec![summary(&answer.text())])
        }
    }
}
