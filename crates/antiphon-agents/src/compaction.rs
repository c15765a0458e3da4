//! Compaction: replaces a long history with a shorter one.

use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;

use antiphon::{Item, Role};
use antiphon_client::text_of;

use crate::input::user;
use crate::rules::{MIN_CANDIDATES, candidates};

/// The decision when to compact, and the way.
///
/// The history up to the last answer is replaced in the session at once, or not at all: a failure
/// or a cancellation changes nothing. Items that the model has not read yet stay as they are.
///
/// While the model has not read the outputs of tools, a compaction that is due waits, and happens
/// as soon as the model has.
///
/// A server's state does not change. If a server owns it, the run leaves it for a new chain, or for
/// a new conversation, that begins with the compacted items. [`RunEvent::Compacted`] and
/// [`RunResult::next_state`] have the new state, and [`RunState::forks`] the old one. This happens
/// before a request only, and lists the server's items first.
///
/// [`RunEvent::Compacted`]: crate::RunEvent::Compacted
/// [`RunResult::next_state`]: crate::RunResult::next_state
/// [`RunState::forks`]: crate::machine::RunState::forks
///
/// ```
/// use antiphon_agents::Compaction;
///
/// let compaction = Compaction::by_model().at_tokens(100_000).pin(|item| {
///     item.text().contains("order number")
/// });
/// # let _ = compaction;
/// ```
#[derive(Clone)]
pub struct Compaction {
    pub(crate) way: Way,
    trigger: Trigger,
    pin: Predicate,
}

type HistoryPredicate = Arc<dyn Fn(&[Item]) -> bool + Send + Sync>;
type Predicate = Arc<dyn Fn(&Item) -> bool + Send + Sync>;

/// The way to compact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// By the provider's endpoint.
    Provider,
    /// By a summary that the agent's model writes.
    Model,
}

#[derive(Clone)]
enum Trigger {
    Items(usize),
    Tokens(u64),
    When(HistoryPredicate),
}

/// The beginning of a summary that a model wrote.
const INTRODUCTION: &str = "Summary of the conversation so far:";

/// The message of the user that stands in for the items that a model summarized.
pub(crate) fn summary(text: &str) -> Item {
    user(&format!("{INTRODUCTION}\n\n{text}"))
}

/// Whether the item is the summary of an earlier compaction.
fn is_summary(item: &Item) -> bool {
    let has_role = item.head().role == Some(Role::User);
    has_role && text_of(std::slice::from_ref(item)).starts_with(INTRODUCTION)
}

/// The bytes of a token, on average, before the first answer has counted them.
const BYTES_PER_TOKEN: u64 = 4;

impl Compaction {
    /// Compacts by the provider's endpoint, `POST /responses/compact`.
    pub fn by_provider() -> Self {
        Self::new(Way::Provider)
    }

    /// Compacts by a summary that the agent's model writes.
    pub fn by_model() -> Self {
        Self::new(Way::Model)
    }

    fn new(way: Way) -> Self {
        Self { way, trigger: Trigger::Items(MIN_CANDIDATES), pin: Arc::new(|_| false) }
    }

    /// Compacts once so many items would be replaced: all except user messages, earlier compactions
    /// and those that are pinned. The default is 10.
    #[must_use]
    pub fn at_items(self, items: usize) -> Self {
        Self { trigger: Trigger::Items(items), ..self }
    }

    /// Compacts once the history has so many tokens, by the count of the last answer.
    #[must_use]
    pub fn at_tokens(self, tokens: u64) -> Self {
        Self { trigger: Trigger::Tokens(tokens), ..self }
    }

    /// Compacts once this function of the history is true.
    #[must_use]
    pub fn when(self, is_due: impl Fn(&[Item]) -> bool + Send + Sync + 'static) -> Self {
        Self { trigger: Trigger::When(Arc::new(is_due)), ..self }
    }

    /// Keeps the items for which this function is true. A kept call keeps its output, and a kept
    /// output its call. The summary of an earlier compaction is never kept: the next one has it.
    #[must_use]
    pub fn pin(self, is_pinned: impl Fn(&Item) -> bool + Send + Sync + 'static) -> Self {
        Self { pin: Arc::new(is_pinned), ..self }
    }

    /// Whether to compact this history. `tokens` is the count of the last answer, if there is one.
    pub(crate) fn is_due(&self, history: &[Item], tokens: Option<u64>) -> bool {
        match &self.trigger {
            Trigger::Items(items) => {
                let kept = candidates(&self.pinned(history));
                candidates(history) - kept >= *items
            }
            Trigger::When(is_due) => is_due(history),
            Trigger::Tokens(limit) => {
                let bytes: u64 = history.iter().map(|item| item.raw().len() as u64).sum();
                tokens.unwrap_or(bytes / BYTES_PER_TOKEN) >= *limit
            }
        }
    }

    /// The items that stay, in order.
    pub(crate) fn pinned(&self, history: &[Item]) -> Vec<Item> {
        let key = |item: &Item| item.head().pairing().map(|(_, key)| key);
        let is_pinned = |item: &Item| !is_summary(item) && (self.pin)(item);
        let pinned = || history.iter().filter(|item| is_pinned(item));
        let pairs: HashSet<_> = pinned().filter_map(key).collect();
        let stays =
            |item: &&Item| is_pinned(item) || key(item).is_some_and(|key| pairs.contains(&key));
        history.iter().filter(stays).cloned().collect()
    }
}

impl fmt::Debug for Compaction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Compaction").field("way", &self.way).finish_non_exhaustive()
    }
}
