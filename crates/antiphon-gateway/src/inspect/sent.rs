//! The exact prompt of a turn, from its context.

use antiphon::item::CallId;

use super::card::{content_card, reported_card};
use super::lanes::{MAX_CARDS, SHORT};
use super::model::{Card, Fate, Lane, TurnView};
use crate::context::{Context, ContextItem, LeftOutItem, Source};

/// The card of an item of a prompt.
fn card(item: &ContextItem, position: usize, shows_bodies: bool) -> Card {
    let call_id = item.head.call_id.as_ref().map(CallId::as_str);
    let created = || format!("placeholder-{}", call_id.unwrap_or("message"));
    let key = item.id.clone().unwrap_or_else(created);
    let raw = item.item.as_ref().map(antiphon::Item::raw);
    let mut card = content_card(key, &item.head, raw, shows_bodies);
    card.id.clone_from(&item.id);
    card.position = Some(position);
    card.fates = fates(item);
    card
}

fn fates(item: &ContextItem) -> Vec<Fate> {
    let mut fates = Vec::new();
    if item.is_deleted {
        fates.push(Fate::Deleted);
    }
    if item.source == Source::Input {
        fates.push(Fate::New);
    }
    if let Some(repair) = &item.repair {
        let (fault, message) = (repair.fault.clone(), repair.message.clone());
        fates.push(match item.source {
            Source::Placeholder => Fate::Placeholder { fault, message },
            _ => Fate::Repaired { fault, action: repair.action.clone(), message },
        });
    }
    fates
}

/// The lane of a prompt, with the cards that are `shown`.
fn lane(context: &Context, shows_bodies: bool, shown: impl Fn(usize, &[Fate]) -> bool) -> Lane {
    let length = |item: &ContextItem| item.item.as_ref().map_or(0, |item| item.raw().len() as u64);
    let items = context.items.iter().enumerate();
    let cards = items.filter(|(at, item)| shown(*at, &fates(item)));
    Lane {
        items: context.items.len(),
        bytes: context.items.iter().map(length).sum(),
        cards: cards.map(|(at, item)| card(item, at, shows_bodies)).collect(),
        exact: context.exact,
    }
}

/// The cards of a page of a prompt: `count` from the position `from` on.
pub(super) fn page(context: &Context, (from, count): (usize, usize), shows_bodies: bool) -> Lane {
    lane(context, shows_bodies, |at, _| (from..from.saturating_add(count)).contains(&at))
}

/// Puts the exact prompt into the view of a turn, and the reasons for the stored items that it does
/// not have.
pub(super) fn complete(view: &mut TurnView, context: &Context, shows_bodies: bool) {
    let is_short = context.items.len() as u64 <= SHORT;
    let mut sent = lane(context, shows_bodies, |_, fates| is_short || !fates.is_empty());
    sent.cards.truncate(MAX_CARDS);
    view.sent = sent;
    for item in &context.left_out {
        explain(view, item);
    }
}

/// Adds the reason to the card of a stored item that a prompt does not have. An item that the turn
/// brought has it already.
fn explain(view: &mut TurnView, item: &LeftOutItem) {
    let is_input = view.received.cards.iter().any(|card| card.key == item.id);
    let cards = &mut view.stored_before.cards;
    let is_full = cards.len() >= MAX_CARDS;
    match cards.iter_mut().find(|card| card.key == item.id) {
        Some(card) if card.fates.iter().any(explains) => {}
        Some(card) => card.fates.push(left_out_fate(item)),
        None if is_input || is_full => {}
        None => {
            let (kind, id) = (item.head.kind.as_str(), item.id.clone());
            let card = reported_card(id.clone(), kind, Some(id), left_out_fate(item));
            cards.push(Card { position: usize::try_from(item.seq).ok(), ..card });
        }
    }
}

/// Whether a fate says why an item is not in a prompt.
fn explains(fate: &Fate) -> bool {
    matches!(fate, Fate::LeftOut { .. } | Fate::Deleted | Fate::Compacted | Fate::Truncated)
}

fn left_out_fate(item: &LeftOutItem) -> Fate {
    match &*item.reason.fault {
        "truncated" => Fate::Truncated,
        "compacted" => Fate::Compacted,
        "deleted" => Fate::Deleted,
        fault => Fate::LeftOut { fault: fault.to_owned(), message: item.reason.message.clone() },
    }
}
