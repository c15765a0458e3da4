//! What the next request contains, and why each item is or is not in it.

use std::collections::{HashMap, HashSet};

use super::entry::{Attempt, Entry, Occurrence};
use super::identity::{is_approval_placeholder, server_id};
use super::known::{Extent, Known};
use super::{Continuation, Tracker};
use crate::item::{CallKey, Exchange, Head, Item, ItemId, Side};

/// The next request's share of the conversation.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// What goes, in the order in which it was added.
    pub items: Vec<Planned>,
    /// Every other occurrence, in order, each with the reason.
    pub left_out: Vec<(Occurrence, Reason)>,
    /// What the request continues: its `conversation` or `previous_response_id`.
    pub continuation: Continuation,
}

/// An item of the next request.
#[derive(Clone, Debug, PartialEq)]
pub struct Planned {
    /// Where it comes from.
    pub occurrence: Occurrence,
    /// As it goes: byte for byte as it was added, unless reasoning ids are taken off.
    pub item: Item,
    /// Whether it goes as it was added.
    pub is_as_added: bool,
}

/// Why an occurrence is not in the next request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// The server accepted it.
    Accepted,
    /// It is in a request that nobody has answered yet.
    InFlight(Attempt),
    /// The server has the item of its id.
    HeldId,
    /// The server has the reasoning, whose id was taken off.
    HeldReasoning,
    /// The server made the call itself.
    HeldCall,
    /// The server has an output for the call that it answers.
    HeldOutput,
    /// Another occurrence, in this request or in flight, has its id or answers its call.
    Repeated,
    /// It only stands for a call that waits for approval.
    ApprovalPlaceholder,
    /// It is an output, and the server, having listed all its items, does not have the call.
    CallNotHeld,
}

impl Plan {
    /// The occurrences that go, in order.
    pub fn occurrences(&self) -> Vec<Occurrence> {
        self.items.iter().map(|planned| planned.occurrence).collect()
    }

    /// Whether the occurrence goes.
    pub fn contains(&self, occurrence: Occurrence) -> bool {
        self.items.iter().any(|planned| planned.occurrence == occurrence)
    }

    /// Why the occurrence is left out; `None` where it goes.
    pub fn reason(&self, occurrence: Occurrence) -> Option<Reason> {
        let of = |(left, reason): &(Occurrence, Reason)| (*left == occurrence).then_some(*reason);
        self.left_out.iter().find_map(of)
    }
}

impl Tracker {
    /// What the next request contains. Every occurrence is either in it or left out with a reason.
    ///
    /// Changes with [`add`](Self::add), [`send`](Self::send), [`send_filtered`](Self::send_filtered),
    /// [`rewind`](Self::rewind), [`accept`](Self::accept) and [`hydrate`](Self::hydrate) only.
    pub fn plan(&self) -> Plan {
        let mut claims = self.claims();
        let (mut items, mut left_out) = (Vec::new(), Vec::new());
        for (occurrence, entry) in self.entries() {
            match self.place(entry, &mut claims) {
                Ok(item) => items.push(Planned {
                    occurrence,
                    is_as_added: !self.reasoning_ids.changes(item),
                    item: self.reasoning_ids.apply(item),
                }),
                Err(reason) => left_out.push((occurrence, reason)),
            }
        }
        Plan { items, left_out, continuation: self.continuation.clone() }
    }

    /// What is in flight has claimed its ids and calls before anything else.
    fn claims(&self) -> Claims<'_> {
        let mut claims = Claims { known: &self.known, ids: HashSet::new(), calls: HashMap::new() };
        for going in self.in_flight.values().flatten() {
            claims.claim(going.item.head());
        }
        claims
    }

    /// The entry's item, where it goes.
    fn place<'a>(&self, entry: &'a Entry, claims: &mut Claims<'_>) -> Result<&'a Item, Reason> {
        let item = match entry {
            Entry::Accepted => return Err(Reason::Accepted),
            Entry::Sent(_, attempt) => return Err(Reason::InFlight(*attempt)),
            Entry::Pending(queued) => &queued.item,
        };
        if is_approval_placeholder(item) {
            return Err(Reason::ApprovalPlaceholder);
        }
        if self.known.has_id(item.head()) {
            return Err(Reason::HeldId);
        }
        if self.known.has_reasoning(item, self.reasoning_ids) {
            return Err(Reason::HeldReasoning);
        }
        match claims.claim(item.head()) {
            Some(reason) => Err(reason),
            None => Ok(item),
        }
    }
}

/// What the items of the request, and of those in flight, have claimed.
struct Claims<'a> {
    known: &'a Known,
    ids: HashSet<ItemId>,
    calls: HashMap<CallKey, Calls>,
}

/// The calls of one key, as the request will find them.
struct Calls {
    /// How many wait for an output.
    open: usize,
    /// Whether the server made one.
    is_held: bool,
    /// Whether the server has an output.
    is_answered: bool,
    /// Whether the request, or one in flight, has an output.
    is_claimed: bool,
}

impl Claims<'_> {
    /// Claims what the item names; a reason where it may not go.
    fn claim(&mut self, head: &Head) -> Option<Reason> {
        let id = server_id(head);
        if id.is_some_and(|id| self.ids.contains(id)) {
            return Some(Reason::Repeated);
        }
        let extent = self.known.extent;
        let refused = head.pairing().and_then(|(side, key)| match side {
            Side::Call => self.calls(key).ask(),
            Side::Output => self.calls(key).answer(extent),
        });
        if refused.is_none() {
            self.ids.extend(id.cloned());
        }
        refused
    }

    fn calls(&mut self, key: CallKey) -> &mut Calls {
        let exchange = self.known.exchange(&key);
        let calls = || Calls {
            open: exchange.map_or(0, Exchange::pending),
            is_held: exchange.is_some_and(|held| !held.calls.is_empty()),
            is_answered: exchange.is_some_and(|held| !held.outputs.is_empty()),
            is_claimed: false,
        };
        self.calls.entry(key).or_insert_with(calls)
    }
}

impl Calls {
    fn ask(&mut self) -> Option<Reason> {
        if self.is_held {
            return Some(Reason::HeldCall);
        }
        self.open += 1;
        None
    }

    /// An output goes where a call waits for it. One whose call nobody knows of goes once, unless
    /// the server is known not to have the call.
    fn answer(&mut self, extent: Extent) -> Option<Reason> {
        let refused = match (self.open, extent) {
            (1.., _) => None,
            _ if self.is_claimed => Some(Reason::Repeated),
            _ if self.is_answered => Some(Reason::HeldOutput),
            (0, Extent::Whole) => Some(Reason::CallNotHeld),
            (0, Extent::Part) => None,
        };
        if refused.is_none() {
            self.is_claimed = true;
            self.open = self.open.saturating_sub(1);
        }
        refused
    }
}
