//! The values that the inspector shows: the same on its pages, as JSON and in the terminal.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// A page of conversations, the latest first.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct ConversationPage {
    /// The conversations.
    pub data: Vec<Summary>,
    /// The cursor of the next page; `None` on the last one.
    pub next: Option<String>,
    /// Whether the page ended because a list examines a bounded number of conversations. The next
    /// page continues there.
    pub is_cut: bool,
}

/// A turn that left no response: it was refused, or failed before its answer began.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RefusedTurnView {
    /// The id of its request, by which its context is found.
    pub request_id: String,
    /// The end of the turn, in Unix seconds.
    pub created_at: i64,
    /// The model that the request names.
    pub model: Option<String>,
    /// The conversation or response that the request continues.
    pub continues: Option<String>,
    /// The user that the request names in `safety_identifier` or `user`.
    pub user: Option<String>,
    /// The code of the error.
    pub code: Option<String>,
    /// The fault that the error reports, if it has a description.
    pub fault: Option<String>,
    /// The message of the error.
    pub message: String,
}

/// A conversation, or a chain of responses without one.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Summary {
    /// The id of the conversation, or of the first response of the chain.
    pub id: String,
    /// Whether a conversation names the turns.
    pub kind: ThreadKind,
    /// The owner of its state.
    pub owner: Owner,
    /// Unix seconds.
    pub created_at: i64,
    /// The response of its last turn; `None` without turns.
    pub last_response: Option<String>,
    /// The start of its last turn, in Unix seconds; `None` without turns.
    pub last_turn_at: Option<i64>,
    /// The metadata of the conversation.
    pub metadata: BTreeMap<String, String>,
    /// The beginning of its first user message; `None` if there is none, or bodies are not shown.
    pub title: Option<String>,
    /// Whether the next turn can run.
    pub state: ConversationState,
    /// The number of turns.
    pub turns: usize,
    /// The number of live items.
    pub items: u64,
    /// The bytes of the live items.
    pub bytes: u64,
    /// The number of the newest turns that `tokens`, `cost` and the repairs cover.
    pub counted_turns: usize,
    /// The tokens of these turns.
    pub tokens: Tokens,
    /// The cost of those of these turns that have a price.
    pub cost: Option<Cost>,
    /// The number of these turns that had repairs.
    pub repaired_turns: usize,
    /// The last of them.
    pub last_repaired: Option<RepairedTurn>,
}

/// A turn whose prompt was repaired.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RepairedTurn {
    /// The id of its response.
    pub response: String,
    /// Unix seconds.
    pub created_at: i64,
    /// The number of repairs by fault.
    pub faults: BTreeMap<String, usize>,
}

/// How a thread of turns is named.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ThreadKind {
    /// By a conversation.
    Conversation,
    /// By `previous_response_id`.
    Chain,
}

/// The party that stores the items.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Owner {
    /// The gateway.
    Gateway,
    /// The upstream.
    Upstream,
}

/// Whether the next turn of a conversation can run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum ConversationState {
    /// Nothing is open.
    Healthy,
    /// A turn runs.
    OpenTurn {
        /// Its response, if it has an id already.
        response: Option<String>,
    },
    /// Calls wait for their outputs or approvals.
    Waiting {
        /// The ids of the calls or of the approval requests.
        calls: Vec<String>,
    },
    /// The provider would reject the stored items as they are.
    Poisoned {
        /// The fault that the provider names first.
        fault: String,
        /// The key of the item.
        item: String,
        /// The provider's error.
        message: String,
    },
    /// The upstream may store other items than the ledger lists. The next turn syncs it first.
    Stale,
    /// The conversation is too long for a list to check. Its own view checks it.
    Unchecked,
}

/// Tokens as the upstreams reported them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tokens {
    /// Tokens of the prompts.
    pub input: u64,
    /// Those of the prompts that came from the provider's cache.
    pub cached: u64,
    /// Tokens of the answers.
    pub output: u64,
    /// Those of the answers that are reasoning.
    pub reasoning: u64,
}

/// An amount of money.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cost {
    /// The amount.
    pub amount: f64,
    /// The currency of the settings, if they name one.
    pub currency: Option<String>,
}

/// A conversation with a page of its turns, oldest first.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ConversationView {
    /// The conversation.
    pub summary: Summary,
    /// The turns of the page.
    pub turns: Vec<TurnView>,
    /// The cursor of the next page; `None` on the last one.
    pub next: Option<String>,
    /// All turns that share items with it, as a tree. Parents come before their children.
    pub tree: Vec<TreeTurn>,
    /// Its open turn, queue and lease.
    pub live: Live,
}

/// A turn in the tree of forks and chains.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct TreeTurn {
    /// Its response.
    pub response: String,
    /// The response that it continues.
    pub parent: Option<String>,
    /// Whether it is on the path that the page shows.
    pub shown: bool,
}

/// The present state of a conversation, in this process and in others that share the store.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Live {
    /// Whether a turn has the lease.
    pub leased: bool,
    /// The number of turns that wait for the lease.
    pub queued: usize,
    /// The response of the open turn, if it is known.
    pub response: Option<String>,
    /// Whether that turn runs in the background.
    pub background: bool,
}

/// One turn, with its four lanes.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct TurnView {
    /// Its response, or the id of the request of a turn without a response.
    pub id: String,
    /// The conversation that it belongs to.
    pub conversation: Option<String>,
    /// The response that it continues.
    pub previous: Option<String>,
    /// Unix seconds.
    pub created_at: i64,
    /// The model of the request.
    pub model: String,
    /// `completed`, `incomplete`, `failed`, `cancelled`, `in_progress` or `refused`.
    pub status: String,
    /// The error of a failed or refused turn.
    pub error: Option<TurnFailure>,
    /// The tokens.
    pub tokens: Option<Tokens>,
    /// The cost.
    pub cost: Option<Cost>,
    /// The items of the request.
    pub received: Lane,
    /// The stored items before the turn.
    pub stored_before: Lane,
    /// The items that the model received.
    pub sent: Lane,
    /// The items of the answer.
    pub returned: Lane,
    /// The report of the turn.
    pub report: serde_json::Value,
}

/// The error of a turn.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TurnFailure {
    /// The code of the error.
    pub code: String,
    /// The words for the caller.
    pub message: String,
}

/// A page of a lane.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct LanePage {
    /// The lane, with the cards of the page.
    pub lane: Lane,
    /// The cursor of the next page; `None` on the last one.
    pub next: Option<String>,
}

/// The items of one stage of a turn. A lane can be long.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Lane {
    /// The number of all items of the lane.
    pub items: usize,
    /// The bytes of all items of the lane.
    pub bytes: u64,
    /// The cards of the items that something happened to; those of all items if the lane is short.
    /// A page of a lane has all cards of the page.
    pub cards: Vec<Card>,
    /// Whether the lane is exactly what it was at the time of the turn. It is not if items were
    /// deleted since then.
    pub exact: bool,
}

/// An item of a lane.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Card {
    /// The key of the item: the same in all lanes and turns.
    pub key: String,
    /// Its place in the lane, from 0; `None` if only the whole lane shows it.
    pub position: Option<usize>,
    /// Its `type`.
    pub kind: String,
    /// Its role, if it is a message.
    pub role: Option<String>,
    /// Its id.
    pub id: Option<String>,
    /// The id of its call.
    pub call_id: Option<String>,
    /// The bytes of its JSON.
    pub bytes: u64,
    /// Its estimated tokens.
    pub tokens: Option<u64>,
    /// The beginning of its text; `None` if it has none, or bodies are not shown.
    pub text: Option<String>,
    /// Its JSON; `None` if it is deleted or too long, or bodies are not shown.
    pub body: Option<String>,
    /// What became of it.
    pub fates: Vec<Fate>,
}

/// The treatment of an item in a turn.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "fate", rename_all = "snake_case")]
pub enum Fate {
    /// The turn added it.
    New,
    /// It was stored before.
    Known {
        /// The rule that found it: `same_id`, `same_call` and so on.
        rule: String,
        /// Whether its content differs from the stored item, which wins.
        differs: bool,
    },
    /// It was repaired.
    Repaired {
        /// The fault.
        fault: String,
        /// The repair.
        action: String,
        /// The provider's error that was avoided.
        message: String,
    },
    /// It was left out of the prompt.
    LeftOut {
        /// The reason.
        fault: String,
        /// The reason in words.
        message: String,
    },
    /// It stands for an item that is missing.
    Placeholder {
        /// The fault.
        fault: String,
        /// The provider's error that was avoided.
        message: String,
    },
    /// It was deleted.
    Deleted,
    /// A compaction replaced it.
    Compacted,
    /// It was cut because the prompt was too long.
    Truncated,
}
