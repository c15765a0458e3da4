//! The items of the next request, and the reason for each item that is left out.

use std::collections::{HashMap, HashSet};

use super::entry::{Attempt, Entry, Occurrence};
use super::identity::{is_approval_placeholder, server_id};
use super::known::{Coverage, Known};
use super::{Continuation, Tracker};
use crate::item::{CallKey, Exchange, Head, Item, ItemId, Side};

/// The plan of the next request.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// The items to send, in the order of addition.
    pub items: Vec<Planned>,
    /// All other occurrences, in order, with reasons.
    pub left_out: Vec<(Occurrence, Reason)>,
    /// The conversation or response that the request continues: its `conversation` or
    /// `previous_response_id`.
    pub continuation: Continuation,
}

/// An item of the next request.
#[derive(Clone, Debug, PartialEq)]
pub struct Planned {
    /// Its occurrence.
    pub occurrence: Occurrence,
    /// The item to send: byte for byte as added, unless reasoning ids are removed.
    pub item: Item,
    /// Whether it is sent as it was added.
    pub is_as_added: bool,
}

/// Why an occurrence is not in the next request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// The server accepted it.
    Accepted,
    /// It is in a request without a response so far.
    InFlight(Attempt),
    /// The server has an item with its id.
    HeldId,
    /// The server has the reasoning, whose id was removed.
    HeldReasoning,
    /// The server produced the call itself.
    HeldCall,
    /// The server has an output for the same call.
    HeldOutput,
    /// Another occurrence, in this request or in flight, has its id or answers its call.
    Repeated,
    /// It is the placeholder of a call that waits for approval.
    ApprovalPlaceholder,
    /// It is an output, and the server's list of its items does not have the call.
    CallNotHeld,
}

impl Plan {
    /// The occurrences to send, in order.
    pub fn occurrences(&self) -> Vec<Occurrence> {
        self.items.iter().map(|planned| planned.occurrence).collect()
    }

    /// Whether the occurrence is sent.
    pub fn contains(&self, occurrence: Occurrence) -> bool {
        self.items.iter().any(|planned| planned.occurrence == occurrence)
    }

    /// The reason why the occurrence is left out; `None` if it is sent.
    pub fn reason(&self, occurrence: Occurrence) -> Option<Reason> {
        let of = |(left, reason): &(Occurrence, Reason)| (*left == occurrence).then_some(*reason);
        self.left_out.iter().find_map(of)
    }
}

impl Tracker {
    /// Plans the next request. Every occurrence is either in it or left out with a reason.
    ///
    /// Only [`add`](Self::add), [`send`](Self::send), [`send_filtered`](Self::send_filtered),
    /// [`rewind`](Self::rewind), [`accept`](Self::accept) and [`hydrate`](Self::hydrate) change the
    /// plan.
    pub fn plan(&self) -> Plan {
        let mut claims = self.claims();
        let (mut items, mut left_out) = (Vec::new(), Vec::new());
        for (occurrence, entry) in self.entries() {
            match self.try_place(entry, &mut claims) {
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

    /// The claims of the items in flight, which precede all others.
    fn claims(&self) -> Claims<'_> {
        let mut claims = Claims { known: &self.known, ids: HashSet::new(), calls: HashMap::new() };
        for going in self.in_flight.values().flatten() {
            claims.claim(going.item.head());
        }
        claims
    }

    /// The entry's item, or the reason not to send it.
    fn try_place<'a>(&self, entry: &'a Entry, claims: &mut Claims<'_>) -> Result<&'a Item, Reason> {
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

/// Ids and calls claimed by the items of the request and of requests in flight.
struct Claims<'a> {
    known: &'a Known,
    ids: HashSet<ItemId>,
    calls: HashMap<CallKey, Calls>,
}

/// The calls with one key, as they will be at the time of the request.
struct Calls {
    /// Number of unanswered calls.
    open: usize,
    /// Whether the server has one.
    is_held: bool,
    /// Whether the server has an output.
    is_answered: bool,
    /// Whether the request, or one in flight, has an output.
    is_claimed: bool,
}

impl Claims<'_> {
    /// Claims the item's id and call. Returns a reason if it must not be sent.
    fn claim(&mut self, head: &Head) -> Option<Reason> {
        let id = server_id(head);
        if id.is_some_and(|id| self.ids.contains(id)) {
            return Some(Reason::Repeated);
        }
        let extent = self.known.extent;
        let refused = head.pairing().and_then(|(side, key)| match side {
            Side::Call => self.calls(key).claim_call(),
            Side::Output => self.calls(key).claim_output(extent),
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
    fn claim_call(&mut self) -> Option<Reason> {
        if self.is_held {
            return Some(Reason::HeldCall);
        }
        self.open += 1;
        None
    }

    /// An output is sent if a call waits for it. If its call is unknown, it is sent once, unless
    /// the server is known not to have the call.
    fn claim_output(&mut self, extent: Coverage) -> Option<Reason> {
        let refused = match (self.open, extent) {
            (1.., _) => None,
            _ if self.is_claimed => Some(Reason::Repeated),
            _ if self.is_answered => Some(Reason::HeldOutput),
            (0, Coverage::Whole) => Some(Reason::CallNotHeld),
            (0, Coverage::Part) => None,
        };
        if refused.is_none() {
            self.is_claimed = true;
            self.open = self.open.saturating_sub(1);
        }
        refused
    }
}
