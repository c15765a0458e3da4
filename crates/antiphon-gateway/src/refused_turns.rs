//! The latest turns that left no response, for their operator and their caller.
//!
//! A refused or failed turn stores nothing, so its context cannot be rebuilt. This list keeps the
//! received items and the error in memory for a short time. It is the only place that has them.

use std::collections::VecDeque;
use std::sync::Mutex;
use std::time::Duration;

use antiphon::Item;
use antiphon_store::Tenant;
use bytes::Bytes;
use tokio::time::Instant;

/// The maximum number of turns, of all tenants. The oldest is dropped first.
const MAX_TURNS: usize = 256;
/// The maximum number of bytes of all turns. The oldest is dropped first.
const MAX_BYTES: usize = 8 << 20;
/// The maximum number of bytes of one turn. Of a longer one, the items are not kept.
const MAX_TURN: usize = 1 << 20;
/// The time for which a turn can be read: an operator may come a day later.
const MAX_AGE: Duration = Duration::from_hours(24);

/// A turn that left no response.
#[derive(Clone, Debug)]
pub(crate) struct RefusedTurn {
    /// The id of its request.
    pub(crate) request_id: String,
    /// Its owner.
    pub(crate) tenant: Tenant,
    /// The end of the turn, in Unix seconds.
    pub(crate) created_at: i64,
    /// All fields of the request except `input`.
    pub(crate) fields: String,
    /// The items of the input.
    pub(crate) items: Vec<Item>,
    /// The code of the error, if it has one.
    pub(crate) code: Option<String>,
    /// The message of the error.
    pub(crate) message: String,
}

/// The latest turns that left no response. Bounded in number, bytes and age.
#[derive(Default)]
pub(crate) struct RefusedTurns(Mutex<List>);

#[derive(Default)]
struct List {
    turns: VecDeque<(Instant, RefusedTurn)>,
    bytes: usize,
}

impl RefusedTurns {
    /// Adds a turn that ended at `now`. Its items share no memory with the request afterwards.
    pub(crate) fn add(&self, turn: RefusedTurn, now: Instant) {
        let items: usize = turn.items.iter().map(|item| item.raw().len()).sum();
        let is_kept = items.saturating_add(turn.fields.len()) <= MAX_TURN;
        let detached =
            |item: &Item| Item::from_parts(Bytes::copy_from_slice(item.raw()), item.head().clone());
        let (fields, items) = match is_kept {
            true => (turn.fields, turn.items.iter().map(detached).collect()),
            false => ("{}".to_owned(), Vec::new()),
        };
        self.with_list(|list| list.push(now, RefusedTurn { fields, items, ..turn }));
    }

    /// The latest turn of this tenant with this request id. `None` if it is older than the list.
    pub(crate) fn find(
        &self,
        tenant: &Tenant,
        request_id: &str,
        now: Instant,
    ) -> Option<RefusedTurn> {
        self.with_list(|list| {
            list.drop_old(now);
            let its = |turn: &&RefusedTurn| turn.tenant == *tenant && turn.request_id == request_id;
            list.turns.iter().rev().map(|(_, turn)| turn).find(its).cloned()
        })
    }

    /// The turns of this tenant, the latest first.
    pub(crate) fn list(&self, tenant: &Tenant, now: Instant) -> Vec<RefusedTurn> {
        self.with_list(|list| {
            list.drop_old(now);
            let turns = list.turns.iter().rev().map(|(_, turn)| turn);
            turns.filter(|turn| turn.tenant == *tenant).cloned().collect()
        })
    }

    fn with_list<T>(&self, act: impl FnOnce(&mut List) -> T) -> T {
        act(&mut self.0.lock().expect("no code panics with this lock"))
    }
}

impl List {
    fn push(&mut self, now: Instant, turn: RefusedTurn) {
        self.bytes += turn.length();
        self.turns.push_back((now, turn));
        self.drop_old(now);
        while self.turns.len() > MAX_TURNS || self.bytes > MAX_BYTES {
            self.drop_first();
        }
    }

    fn drop_old(&mut self, now: Instant) {
        let is_old = |ended: Instant| now.saturating_duration_since(ended) > MAX_AGE;
        while self.turns.front().is_some_and(|(ended, _)| is_old(*ended)) {
            self.drop_first();
        }
    }

    fn drop_first(&mut self) {
        if let Some((_, turn)) = self.turns.pop_front() {
            self.bytes -= turn.length();
        }
    }
}

impl RefusedTurn {
    /// Its bytes in memory, about.
    fn length(&self) -> usize {
        let items: usize = self.items.iter().map(|item| item.raw().len()).sum();
        items + self.fields.len() + self.message.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn turn(request_id: &str, length: usize) -> RefusedTurn {
        let text = format!(r#"{{"role":"user","content":"{}"}}"#, "a".repeat(length));
        RefusedTurn {
            request_id: request_id.into(),
            tenant: Tenant::new("alice"),
            created_at: 0,
            fields: "{}".into(),
            items: vec![Item::parse(text.into()).expect("it is an item")],
            code: None,
            message: "No.".into(),
        }
    }

    #[test]
    fn list_is_bounded_in_number_bytes_and_age() {
        let (turns, start) = (RefusedTurns::default(), Instant::now());
        let alice = Tenant::new("alice");
        for number in 0..=MAX_TURNS {
            turns.add(turn(&format!("req_{number}"), 1), start);
        }
        assert!(turns.find(&alice, "req_0", start).is_none());
        assert!(turns.find(&alice, "req_1", start).is_some());
        assert!(turns.find(&Tenant::new("bob"), "req_1", start).is_none());
        assert_eq!(turns.list(&alice, start)[0].request_id, format!("req_{MAX_TURNS}"));
        assert!(turns.list(&Tenant::new("bob"), start).is_empty());
        assert!(turns.find(&alice, "req_1", start + MAX_AGE * 2).is_none());
        for number in 0..20 {
            turns.add(turn(&format!("long_{number}"), MAX_TURN / 2), start);
        }
        assert!(turns.find(&alice, "long_0", start).is_none());
        turns.with_list(|list| assert!(list.bytes <= MAX_BYTES));
        turns.add(turn("longest", MAX_TURN), start);
        assert!(turns.find(&alice, "longest", start).expect("it is kept").items.is_empty());
    }
}
