//! Properties of the tracker, for any sequence of events.

use std::collections::HashSet;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;

use super::*;
use crate::item::given::{call_under, output, reasoning, user};
use crate::item::{CallId, Head, Kind};
use crate::tracker::OccurrenceState;

/// One event of a run.
#[derive(Clone, Debug)]
enum Event {
    Add(Item),
    /// Sends the planned items that the bits select.
    Send(u64),
    /// Sends the plan through a filter that rebuilds every item and drops the ones that the bits
    /// select.
    Filter(u64),
    Rewind(Index),
    Accept(Index, Vec<Item>),
    Restart,
}

fn added() -> impl Strategy<Value = Item> {
    prop_oneof![
        "[ab]".prop_map(|text| user(&text)),
        "[0-2]".prop_map(|number| output(&format!("call_{number}"), "ok")),
        "[0-2]".prop_map(|number| reasoning(&format!("rs_{number}"))),
        "[0-2]".prop_map(|number| call_under("__fake_id__", &format!("call_{number}"), "{}")),
    ]
}

fn made() -> impl Strategy<Value = Item> {
    prop_oneof![
        (0..9u8, 0..3u8).prop_map(|(id, call)| call_under(
            &format!("fc_{id}"),
            &format!("call_{call}"),
            "{}"
        )),
        (0..3u8).prop_map(|id| reasoning(&format!("rs_{id}"))),
    ]
}

fn event() -> impl Strategy<Value = Event> {
    prop_oneof![
        4 => added().prop_map(Event::Add),
        2 => any::<u64>().prop_map(Event::Send),
        1 => any::<u64>().prop_map(Event::Filter),
        2 => any::<Index>().prop_map(Event::Rewind),
        2 => (any::<Index>(), vec(made(), 0..3)).prop_map(|(at, output)| Event::Accept(at, output)),
        1 => Just(Event::Restart),
    ]
}

/// A run, and an observer's record of it.
struct Observed {
    tracker: Tracker,
    added: Vec<Item>,
    /// The items of each request in flight.
    open: Vec<(Attempt, Vec<Occurrence>)>,
    accepted: HashSet<Occurrence>,
}

impl Observed {
    fn new() -> Self {
        Self { tracker: chain(), added: vec![], open: vec![], accepted: HashSet::new() }
    }

    fn apply(&mut self, event: Event) {
        match event {
            Event::Add(item) => {
                self.tracker.add(item.clone()).unwrap();
                self.added.push(item);
            }
            Event::Send(bits) => {
                let chosen = self.chosen(bits);
                let attempt = self.tracker.send(&chosen).unwrap();
                self.open.push((attempt, chosen));
            }
            Event::Filter(bits) => self.filter(bits),
            Event::Rewind(at) if !self.open.is_empty() => {
                let (attempt, sent) = self.open.remove(at.index(self.open.len()));
                assert_eq!(self.tracker.rewind(attempt), Ok(sent));
            }
            Event::Accept(at, output) if !self.open.is_empty() => {
                let (attempt, sent) = self.open.remove(at.index(self.open.len()));
                self.tracker.accept(attempt, None, &output).unwrap();
                self.accepted.extend(sent);
                self.accepted.extend(self.echoed(&output));
            }
            Event::Rewind(_) | Event::Accept(..) => {}
            Event::Restart => self.tracker = restored(&self.tracker),
        }
    }

    /// The planned items that the bits select, in order.
    fn chosen(&self, bits: u64) -> Vec<Occurrence> {
        let planned = self.tracker.plan().occurrences().into_iter().enumerate();
        planned.filter(|(at, _)| bits >> (at % 64) & 1 == 1).map(|(_, at)| at).collect()
    }

    fn filter(&mut self, bits: u64) {
        let plan = self.tracker.plan();
        let chosen = self.chosen(bits);
        let kept = plan.items.iter().filter(|planned| chosen.contains(&planned.occurrence));
        let returned = kept.map(|planned| rebuilt(&planned.item)).collect();
        match self.tracker.send_filtered(&plan, returned) {
            Ok(attempt) => self.open.push((attempt, chosen)),
            Err(_) => assert_eq!(self.tracker.plan(), plan, "a refusal marks nothing"),
        }
    }

    /// The input that a response echoes: items equal to its output.
    fn echoed(&self, output: &[Item]) -> Vec<Occurrence> {
        let all = (0..).map(Occurrence).zip(&self.added);
        let is_echoed = |(at, item): &(Occurrence, &Item)| {
            self.tracker.standing(*at) == Some(OccurrenceState::Accepted)
                && output.iter().any(|made| made.has_same_content(item))
        };
        all.filter(is_echoed).map(|(at, _)| at).collect()
    }

    fn item(&self, occurrence: Occurrence) -> &Item {
        &self.added[usize::try_from(occurrence.0).unwrap()]
    }

    fn check(&self) {
        let plan = self.tracker.plan();
        let planned = plan.occurrences();
        assert!(planned.is_sorted(), "a plan keeps the order of adding");
        let left_out = plan.left_out.iter().map(|(occurrence, _)| *occurrence);
        let mut all: Vec<_> = planned.iter().copied().chain(left_out).collect();
        all.sort_unstable();
        let expected: Vec<_> = (0..self.added.len() as u64).map(Occurrence).collect();
        assert_eq!(all, expected, "each occurrence is planned or left out with a reason");
        for Occurrence(number) in expected {
            self.check_one(Occurrence(number), &planned);
        }
        for planned in &plan.items {
            assert_eq!(planned.item.raw(), self.item(planned.occurrence).raw());
        }
    }

    fn check_one(&self, occurrence: Occurrence, planned: &[Occurrence]) {
        let open = self.open.iter().find(|(_, sent)| sent.contains(&occurrence));
        let expected = match open {
            _ if self.accepted.contains(&occurrence) => OccurrenceState::Accepted,
            Some((attempt, _)) => OccurrenceState::Sent(*attempt),
            None => OccurrenceState::Pending,
        };
        assert_eq!(self.tracker.standing(occurrence), Some(expected));
        let is_message = self.item(occurrence).head().role.is_some();
        let is_planned = planned.contains(&occurrence);
        assert!(expected == OccurrenceState::Pending || !is_planned, "{expected:?} is planned");
        assert!(
            !is_message || is_planned || expected != OccurrenceState::Pending,
            "lost: {occurrence:?}"
        );
    }
}

proptest! {
    #[test]
    fn accepted_items_stay_and_pending_items_survive(events in vec(event(), 0..40)) {
        let mut observed = Observed::new();
        for event in events {
            observed.apply(event);
            observed.check();
        }
    }

    #[test]
    fn outputs_never_exceed_waiting_calls(events in vec(event(), 0..40)) {
        let of_server = |event: &Event| {
            !matches!(event, Event::Add(item) if item.head().kind == Kind::FunctionCall)
        };
        let mut observed = Observed::new();
        for event in events.into_iter().filter(of_server) {
            observed.apply(event);
            let waiting = observed.tracker.known.unanswered();
            for call_id in ["call_0", "call_1", "call_2"].map(CallId::from) {
                let is_of_call = |head: &Head| head.call_id.as_ref() == Some(&call_id);
                let waiting = waiting.iter().filter(|head| is_of_call(head));
                let items = next(&observed.tracker);
                let outputs = items.iter().filter(|item| is_of_call(item.head()));
                // One output is sent for an unknown call.
                prop_assert!(outputs.count() <= waiting.count().max(1));
            }
        }
    }
}
