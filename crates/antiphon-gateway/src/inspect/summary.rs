//! Summaries of conversations.

use std::collections::BTreeMap;

use antiphon::json::Object;
use antiphon::{HeldItem, Role};
use antiphon_store::{Conversation, NewResponse, StoreError};

use super::card::card;
use super::forest::{Forest, Group, Path};
use super::inspector::Inspector;
use super::model::{Cost, Owner, RepairedTurn, Summary, ThreadKind, Tokens};
use super::state;
use super::stored_report::StoredReport;
use super::turns::AnswerFields;

type Result<T> = std::result::Result<T, StoreError>;

/// The parts of a conversation that its summary reads.
pub(super) struct Bounds {
    /// The number of the newest turns whose tokens, cost and repairs are counted.
    turns: usize,
    /// The number of items up to which the conversation is checked.
    items: u64,
    /// The number of bytes of items up to which it is checked.
    bytes: u64,
}

/// The bounds in a list.
pub(super) const LISTED: Bounds = Bounds { turns: 50, items: 1000, bytes: 1 << 20 };
/// The bounds in the conversation's own view.
pub(super) const VIEWED: Bounds = Bounds { turns: 1000, items: 50_000, bytes: 16 << 20 };
/// The number of the first items among which the title is.
const TITLE_ITEMS: u64 = 8;

/// The summary of a conversation or chain, within these bounds.
pub(super) async fn summary(
    inspector: &Inspector<'_>,
    forest: &Forest,
    group: &Group,
    path: &Path<'_>,
    bounds: &Bounds,
) -> Result<Summary> {
    let conversation = match group {
        Group::Conversation(id) => forest.conversation(id).map(|(conversation, _)| conversation),
        Group::Chain(_) => None,
    };
    let is_checked = path.usage.items <= bounds.items && path.usage.bytes <= bounds.bytes;
    let end = if is_checked { path.end() } else { TITLE_ITEMS };
    let items: Vec<HeldItem> =
        inspector.items(forest, path, (0, end)).await?.into_values().collect();
    let title = title(&items, inspector.shows_bodies);
    let state = match is_checked {
        true => state::from_items(forest, group, items),
        false => state::without_items(forest, group),
    };
    let counts = Counts::new(inspector, forest, path, bounds.turns).await?;
    let first = path.turns().next().map(|(_, turn, _)| turn.listed.recency.created_at);
    let named = |it: &Conversation| it.created_at;
    Ok(Summary {
        id: forest.id(group).unwrap_or_default(),
        kind: kind(group),
        owner: owner(forest, group),
        created_at: conversation.map(named).or(first).unwrap_or_default(),
        last_response: path.turns().next_back().map(|(_, turn, _)| turn.listed.id.to_string()),
        last_turn_at: path.turns().next_back().map(|(_, turn, _)| turn.listed.recency.created_at),
        metadata: conversation.map(metadata).unwrap_or_default(),
        title,
        state,
        turns: path.count_turns(),
        items: path.usage.items,
        bytes: path.usage.bytes,
        counted_turns: counts.turns,
        tokens: counts.tokens,
        cost: counts.cost,
        repaired_turns: counts.repaired_turns,
        last_repaired: counts.last_repaired,
    })
}

fn kind(group: &Group) -> ThreadKind {
    match group {
        Group::Conversation(_) => ThreadKind::Conversation,
        Group::Chain(_) => ThreadKind::Chain,
    }
}

fn owner(forest: &Forest, group: &Group) -> Owner {
    match forest.ledger(group) {
        Some(_) => Owner::Upstream,
        None => Owner::Gateway,
    }
}

/// The metadata, whose values are texts.
pub(super) fn metadata(conversation: &Conversation) -> BTreeMap<String, String> {
    let object = Object::parse(&conversation.metadata).unwrap_or_default();
    let entries = object
        .iter()
        .filter_map(|(key, _)| Some((key.to_owned(), object.string(key)?.into_owned())));
    entries.collect()
}

/// The beginning of the first message of a user.
fn title(items: &[HeldItem], shows_bodies: bool) -> Option<String> {
    let message = items.iter().find(|item| item.head.role == Some(Role::User))?;
    card(message, None, shows_bodies).text
}

/// The sums over the newest turns.
#[derive(Default)]
struct Counts {
    turns: usize,
    tokens: Tokens,
    cost: Option<Cost>,
    repaired_turns: usize,
    last_repaired: Option<RepairedTurn>,
}

impl Counts {
    async fn new(
        inspector: &Inspector<'_>,
        forest: &Forest,
        path: &Path<'_>,
        most: usize,
    ) -> Result<Self> {
        let skipped = path.count_turns().saturating_sub(most);
        let turns: Vec<_> = path.turns().skip(skipped).collect();
        let mut counts = Self::default();
        for record in inspector.records(forest, &turns).await? {
            counts.add(&record.response, inspector);
        }
        Ok(counts)
    }

    fn add(&mut self, response: &NewResponse, inspector: &Inspector<'_>) {
        let answer = AnswerFields::parse(&response.envelope);
        let report = StoredReport::parse(&response.report);
        self.turns += 1;
        self.tokens += answer.usage.map(Tokens::from).unwrap_or_default();
        if let Some(cost) = answer.cost(&report, inspector) {
            let before = self.cost.take().map_or(0.0, |sum| sum.amount);
            self.cost = Some(Cost { amount: before + cost.amount, ..cost });
        }
        let faults = report.repairs_by_fault();
        if !faults.is_empty() {
            self.repaired_turns += 1;
            let (response, created_at) = (response.id.to_string(), response.created_at);
            self.last_repaired = Some(RepairedTurn { response, created_at, faults });
        }
    }
}
