//! The four lanes of a turn.
//!
//! The lanes are rebuilt from the stored items and the stored report, which names the treatment of
//! each item. A turn of a long conversation has only the cards of the items that something happened
//! to. A page of a lane has all cards of the page.

use antiphon::HeldItem;
use antiphon_store::{ResponseRecord, Seq, StoreError, Usage};

use super::card::{card, reported_card};
use super::forest::{Forest, Path};
use super::inspector::{Inspector, Items};
use super::model::{Card, Fate, Lane, LanePage};
use super::query::{LaneName, PageQuery, limit};
use super::stored_report::{ReportedItem, StoredReport, Treatments};

type Result<T> = std::result::Result<T, StoreError>;

/// A lane with at most this number of items has the cards of all of them in its turn.
pub(super) const SHORT: u64 = 24;
/// The maximum number of cards of a lane in a turn.
pub(super) const MAX_CARDS: usize = 64;

/// The lanes of a turn.
pub(super) struct TurnLanes<'a> {
    record: &'a ResponseRecord,
    report: &'a StoredReport,
    treatments: Treatments,
    before: Usage,
    items: &'a Items,
    shows_bodies: bool,
    /// The stored items of the input, each with its position in the request.
    input: Vec<(usize, Seq, &'a HeldItem)>,
    /// The positions of the request whose items were not stored because they were left out.
    unstored: Vec<usize>,
}

impl<'a> TurnLanes<'a> {
    /// `before` are the live items before the turn. `items` has those of the turn, and some or all
    /// of those before it.
    pub(super) fn new(
        record: &'a ResponseRecord,
        report: &'a StoredReport,
        before: Usage,
        items: &'a Items,
        shows_bodies: bool,
    ) -> Self {
        let treatments = report.treatments();
        let stored: Vec<_> = items.range(record.input.clone()).collect();
        let (input, unstored) = place_input(report.input_items, &treatments, &stored);
        Self { record, report, treatments, before, items, shows_bodies, input, unstored }
    }

    /// The items of the request.
    pub(super) fn received(&self) -> Lane {
        let last = self.input.last().map_or(0, |(at, ..)| at + 1);
        let items = self.report.input_items.max(last);
        let is_short = items as u64 <= SHORT;
        let cards = (0..items).filter_map(|at| self.received_card(at, is_short));
        let own: u64 = self.input.iter().map(|(_, _, item)| item.length() as u64).sum();
        let bytes = own + self.resent_bytes();
        let exact = self.input.iter().all(|(_, _, item)| !item.is_tombstone());
        Lane { items, bytes, cards: cards.take(MAX_CARDS).collect(), exact }
    }

    /// The bytes of the stored items that the request resends.
    fn resent_bytes(&self) -> u64 {
        let resent = &self.treatments.resent;
        if resends_all(resent.len(), self.before) {
            return self.before.bytes;
        }
        let held = resent.values().filter_map(|item| self.items.get(&item.stored?));
        held.map(|item| item.length() as u64).sum()
    }

    /// The card of the item at a position of the request. An item that was stored before, without a
    /// difference, has one only if `is_whole`.
    fn received_card(&self, at: usize, is_whole: bool) -> Option<Card> {
        if let Some(resent) = self.treatments.resent.get(&at) {
            return (is_whole || resent.differs).then(|| self.resent_card(at, resent));
        }
        let reported = self.treatments.input.get(&at).map(Vec::as_slice).unwrap_or_default();
        if self.unstored.binary_search(&at).is_ok() {
            let first = reported.first()?;
            let key = first.item_id.clone().unwrap_or_else(|| format!("input-{at}"));
            let mut card = reported_card(key, &first.kind, first.item_id.clone(), first.fate());
            card.position = Some(at);
            return Some(card);
        }
        let found = self.input.binary_search_by_key(&at, |(position, ..)| *position).ok()?;
        let mut card = self.card(self.input[found].2, Some(at));
        card.fates.push(Fate::New);
        card.fates.extend(reported.iter().map(ReportedItem::fate));
        Some(card)
    }

    fn resent_card(&self, at: usize, resent: &ReportedItem) -> Card {
        let held = match (resent.stored, &resent.item_id) {
            (Some(seq), _) => self.items.get(&seq),
            (None, Some(id)) => self.items.values().find(|item| item.id.as_str() == id),
            (None, None) => None,
        };
        if let Some(held) = held {
            let mut card = self.card(held, Some(at));
            card.fates.push(resent.known());
            return card;
        }
        let (id, kind) = (resent.item_id.clone(), &resent.kind);
        let key = id.clone().unwrap_or_else(|| format!("input-{at}"));
        Card { position: Some(at), ..reported_card(key, kind, id, resent.known()) }
    }

    /// The stored items before the turn.
    pub(super) fn stored_before(&self) -> Lane {
        let cards = match self.before.items <= SHORT {
            true => self.stored_cards(..self.record.input.start, |_| true),
            false => self.reported_stored_cards(),
        };
        let exact = cards.iter().all(|card| !card.fates.contains(&Fate::Deleted));
        Lane {
            items: count(self.before.items),
            bytes: self.before.bytes,
            cards: cards.into_iter().take(MAX_CARDS).collect(),
            exact,
        }
    }

    /// The cards of loaded stored items, with their fates.
    fn stored_cards(
        &self,
        range: impl std::ops::RangeBounds<Seq>,
        is_shown: impl Fn(&HeldItem) -> bool,
    ) -> Vec<Card> {
        let items = self.items.range(range).filter(|(_, item)| is_shown(item));
        items
            .map(|(seq, item)| {
                let mut card = self.card(item, Some(count(*seq)));
                let reported = self.treatments.of_stored(item).into_iter();
                card.fates.extend(reported.map(ReportedItem::fate));
                card
            })
            .collect()
    }

    /// The cards of the stored items that the turn changed, from the report alone.
    fn reported_stored_cards(&self) -> Vec<Card> {
        let mut cards: Vec<Card> = self
            .treatments
            .stored
            .iter()
            .flat_map(|(id, reported)| {
                let card = |item: &ReportedItem| {
                    reported_card(id.clone(), &item.kind, Some(id.clone()), item.fate())
                };
                reported.iter().map(card)
            })
            .collect();
        cards.sort_by(|one, other| one.key.cmp(&other.key));
        cards
    }

    /// The items that the model received.
    pub(super) fn sent(&self) -> Lane {
        let is_short = self.before.items + self.input.len() as u64 <= SHORT;
        let cards = if is_short {
            self.sent_cards(..self.record.output.start)
        } else {
            let mut cards = self.reported_placeholders();
            cards.extend(self.sent_cards(self.record.input.clone()));
            cards
        };
        let live = self.input.iter().filter(|(_, _, item)| !item.is_tombstone());
        let input = Usage::from_items(live.map(|(_, _, item)| *item));
        let all = self.before + input;
        let (left_out, placeholders) = self.count_changes();
        Lane {
            items: (count(all.items) + placeholders).saturating_sub(left_out),
            bytes: all.bytes,
            cards: cards.into_iter().take(MAX_CARDS).collect(),
            exact: self.report.changes_nothing(),
        }
    }

    /// The cards of loaded items that were sent, and of the placeholders after them.
    fn sent_cards(&self, range: impl std::ops::RangeBounds<Seq>) -> Vec<Card> {
        let mut cards = Vec::new();
        for (seq, item) in self.items.range(range).filter(|(_, item)| !item.is_tombstone()) {
            let reported = self.reported(*seq, item);
            if reported.iter().any(|item| item.is_left_out()) {
                continue;
            }
            let mut card = self.card(item, Some(count(*seq)));
            if self.record.input.contains(seq) {
                card.fates.push(Fate::New);
            }
            card.fates.extend(reported.iter().map(|item| item.fate()));
            let call_id = card.call_id.clone();
            cards.push(card);
            for answered in reported.iter().filter(|item| item.has_placeholder()) {
                cards.push(placeholder_card(item, call_id.clone(), answered));
            }
        }
        cards
    }

    /// The cards of the placeholders for stored items, from the report alone.
    fn reported_placeholders(&self) -> Vec<Card> {
        let stored = self.treatments.stored.values().flatten().chain(&self.treatments.others);
        let placeholders = stored.filter(|item| item.has_placeholder());
        placeholders
            .map(|item| {
                let id = item.item_id.clone().unwrap_or_default();
                let kind = format!("{}_output", item.kind);
                reported_card(format!("placeholder-{id}"), &kind, None, item.placeholder_fate())
            })
            .collect()
    }

    /// The treatments of an item of the input, or of a stored one.
    fn reported(&self, seq: Seq, item: &HeldItem) -> Vec<&ReportedItem> {
        let found = self.input.binary_search_by_key(&seq, |(_, at, _)| *at).ok();
        let of_input = found.and_then(|found| self.treatments.input.get(&self.input[found].0));
        match of_input {
            Some(reported) => reported.iter().collect(),
            None => self.treatments.of_stored(item),
        }
    }

    /// The numbers of stored items that were left out, and of placeholders.
    fn count_changes(&self) -> (usize, usize) {
        let stored_input =
            self.treatments.input.iter().filter(|(at, _)| self.unstored.binary_search(at).is_err());
        let of_input = stored_input.map(|(_, reported)| reported);
        let items: Vec<_> = of_input.chain(self.treatments.stored.values()).collect();
        let left_out =
            items.iter().filter(|reported| reported.iter().any(ReportedItem::is_left_out)).count();
        let others = &self.treatments.others;
        let left_out = left_out + others.iter().filter(|other| other.is_left_out()).count();
        let all = items.into_iter().flatten().chain(others);
        (left_out, all.filter(|item| item.has_placeholder()).count())
    }

    /// The items of the answer.
    pub(super) fn returned(&self) -> Lane {
        let output = || self.items.range(self.record.output.clone()).map(|(_, item)| item);
        let usage = Usage::from_items(output().filter(|item| !item.is_tombstone()));
        let mut cards = self.stored_cards(self.record.output.clone(), |_| true);
        for card in &mut cards {
            if card.fates.is_empty() {
                card.fates.push(Fate::New);
            }
        }
        cards.truncate(MAX_CARDS);
        Lane {
            items: count(usage.items),
            bytes: usage.bytes,
            cards,
            exact: output().all(|item| !item.is_tombstone()),
        }
    }

    fn card(&self, held: &HeldItem, position: Option<usize>) -> Card {
        card(held, position, self.shows_bodies)
    }
}

fn placeholder_card(item: &HeldItem, call_id: Option<String>, answered: &ReportedItem) -> Card {
    let output = item.head.kind.output();
    let kind = output.as_ref().map_or("message", antiphon::Kind::as_str);
    let key = format!("placeholder-{}", item.id);
    Card { call_id, ..reported_card(key, kind, None, answered.placeholder_fate()) }
}

fn count(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

/// Finds the position in the request of each stored item of an input. Of the positions that were
/// not resent, those of omitted items may have no stored item: they are returned apart. Items
/// beyond the request's get the positions after it.
fn place_input<'a>(
    input_items: usize,
    treatments: &Treatments,
    stored: &[(&Seq, &'a HeldItem)],
) -> (Vec<(usize, Seq, &'a HeldItem)>, Vec<usize>) {
    let open = (0..input_items).filter(|at| !treatments.resent.contains_key(at));
    let open: Vec<usize> = open.collect();
    let mut surplus = open.len().saturating_sub(stored.len());
    let (mut placed, mut unstored) = (Vec::with_capacity(stored.len()), Vec::new());
    let mut rest = stored.iter().peekable();
    for at in open {
        let reported = treatments.input.get(&at).map(Vec::as_slice).unwrap_or_default();
        let is_next = rest.peek().is_some_and(|(_, item)| {
            reported.iter().all(|it| it.item_id.as_deref().is_none_or(|id| id == item.id.as_str()))
        });
        if surplus > 0
            && reported.iter().any(ReportedItem::is_left_out)
            && !has_id_of(reported, is_next)
        {
            surplus -= 1;
            unstored.push(at);
        } else if let Some((seq, item)) = rest.next() {
            placed.push((at, **seq, *item));
        }
    }
    placed.extend((input_items..).zip(rest).map(|(at, (seq, item))| (at, **seq, *item)));
    (placed, unstored)
}

/// Whether the report names the id of the next stored item.
fn has_id_of(reported: &[ReportedItem], is_next: bool) -> bool {
    is_next && reported.iter().any(|item| item.item_id.is_some())
}

/// The positions in the transcript of the resent items that the view of a turn needs: those with a
/// card, or all of them if their bytes must be added up.
pub(super) fn needed_resent(report: &StoredReport, before: Usage) -> Vec<Seq> {
    let all: Vec<Seq> = report.resent_places(|_| true).collect();
    if !resends_all(all.len(), before) {
        return all;
    }
    let is_short = report.input_items as u64 <= SHORT;
    report.resent_places(move |place| is_short || place.differs).take(MAX_CARDS).collect()
}

/// Whether the request resends all items before the turn.
fn resends_all(resent: usize, before: Usage) -> bool {
    resent as u64 == before.items
}

/// A page of a lane.
pub(super) async fn page(
    inspector: &Inspector<'_>,
    forest: &Forest,
    path: &Path<'_>,
    record: &ResponseRecord,
    name: LaneName,
    query: &PageQuery,
) -> Result<LanePage> {
    let (from, most) = (query.offset(), limit(query.limit));
    let before = path.turns().last().map(|(.., before)| before).unwrap_or_default();
    let report = StoredReport::parse(&record.response.report);
    let own = (record.input.start, record.output.end);
    let mut items = inspector.items(forest, path, own).await?;
    let start = from as Seq;
    let end = start.saturating_add(most as Seq);
    if matches!(name, LaneName::StoredBefore | LaneName::Sent) && start < own.0 {
        items.extend(inspector.items(forest, path, (start, end.min(own.0))).await?);
    }
    if name == LaneName::Received {
        let page = from..from.saturating_add(most);
        let resent = report.resent_places(|place| page.contains(&place.position));
        let needed = resent.chain(needed_resent(&report, before));
        inspector.add_items(forest, path, needed, &mut items).await?;
    }
    let lanes = TurnLanes::new(record, &report, before, &items, inspector.shows_bodies);
    let (lane, last) = match name {
        LaneName::Received => {
            let lane = lanes.received();
            let all = lane.items;
            let cards = (from..all.min(from + most)).filter_map(|at| lanes.received_card(at, true));
            (Lane { cards: cards.collect(), ..lane }, all as Seq)
        }
        LaneName::StoredBefore => {
            let cards = lanes.stored_cards(start..end.min(own.0).max(start), |_| true);
            (Lane { cards, ..lanes.stored_before() }, own.0)
        }
        LaneName::Sent => {
            let last = record.output.start;
            let cards = lanes.sent_cards(start..end.min(last).max(start));
            (Lane { cards, ..lanes.sent() }, last)
        }
        LaneName::Returned => {
            let first = record.output.start.saturating_add(start).min(record.output.end);
            let end = first.saturating_add(most as Seq);
            let cards = lanes.stored_cards(first..end.min(record.output.end), |_| true);
            (Lane { cards, ..lanes.returned() }, record.output.end - record.output.start)
        }
    };
    Ok(LanePage { lane, next: (end < last).then(|| end.to_string()) })
}
