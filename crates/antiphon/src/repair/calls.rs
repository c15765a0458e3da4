//! Calls and outputs, paired by order.
//!
//! An output answers the nearest earlier unanswered call of its kind and `call_id`; of several in
//! one group of parallel calls, the first. So histories of servers that restart their call ids, or
//! send one constant id, keep every real output.

use std::collections::{HashMap, VecDeque};

use super::silence::silence;
use super::{Action, Draft};
use crate::faults::Fault;
use crate::item::{CallId, CallKey, Item, Side};

pub(super) fn mend(draft: &mut Draft) {
    let pairs = Pairs::of(draft);
    for (position, fault) in pairs.surplus {
        draft.drop_item(position, fault);
    }
    for (position, fault) in pairs.replaced {
        draft.note(position, fault, Action::Replaced);
        draft.slots[position].item = None;
    }
    let mut names = Names::of(&pairs.calls);
    for call in &pairs.calls {
        answer(draft, call);
        rename(draft, call, &mut names);
    }
}

/// One call, as positions.
struct Call {
    key: CallKey,
    position: usize,
    /// The end of the run of calls that it belongs to: where a made-up output goes.
    group: usize,
    output: Option<usize>,
}

#[derive(Default)]
struct Pairs {
    calls: Vec<Call>,
    /// Items that repeat another or answer nothing.
    surplus: Vec<(usize, Fault)>,
    /// Outputs that gave way to a later one of the same call.
    replaced: Vec<(usize, Fault)>,
    by_key: HashMap<CallKey, Waiting>,
}

/// The calls under one key, as indexes into [`Pairs::calls`].
#[derive(Default)]
struct Waiting {
    all: Vec<usize>,
    /// Those without an output, by group; in each group the first one is answered first.
    open: Vec<(usize, VecDeque<usize>)>,
}

impl Waiting {
    fn push(&mut self, call: usize, group: usize) {
        self.all.push(call);
        match self.open.last_mut() {
            Some((latest, calls)) if *latest == group => calls.push_back(call),
            _ => self.open.push((group, VecDeque::from([call]))),
        }
    }

    /// Takes the first unanswered call of the latest group that has one.
    fn take_nearest(&mut self) -> Option<usize> {
        let (_, calls) = self.open.last_mut()?;
        let nearest = calls.pop_front();
        if calls.is_empty() {
            self.open.pop();
        }
        nearest
    }
}

impl Pairs {
    fn of(draft: &Draft) -> Self {
        let mut pairs = Self::default();
        let groups = groups(draft);
        for (position, item) in draft.items() {
            match item.head().pairing() {
                Some((Side::Call, key)) => pairs.call(draft, key, position, groups[position]),
                Some((Side::Output, key)) => pairs.output(draft, &key, position),
                None if item.head().kind.call().is_some() => pairs.orphan(item, position),
                None => {}
            }
        }
        pairs.drop_unanswered_copies(draft);
        pairs
    }

    fn call(&mut self, draft: &Draft, key: CallKey, position: usize, group: usize) {
        let last = self.by_key.get(&key).and_then(|waiting| waiting.all.last());
        if let Some(last) = last.map(|at| &self.calls[*at])
            && last.output.is_none()
            && last.group != group
            && draft.same(last.position, position)
        {
            self.surplus.push((position, duplicate_call(&key, true)));
            return;
        }
        self.by_key
            .entry(key.clone())
            .or_default()
            .push(self.calls.len(), group);
        self.calls.push(Call {
            key,
            position,
            group,
            output: None,
        });
    }

    fn output(&mut self, draft: &Draft, key: &CallKey, position: usize) {
        let Some(waiting) = self.by_key.get_mut(key) else {
            return self.orphan(draft.item(position), position);
        };
        if let Some(asked) = waiting.take_nearest() {
            self.calls[asked].output = Some(position);
            return;
        }
        let last = *waiting
            .all
            .last()
            .expect("a key is entered with its first call");
        self.repeated_output(draft, last, position);
    }

    /// A second output: the same again is dropped, another one takes the place of the first.
    fn repeated_output(&mut self, draft: &Draft, call: usize, position: usize) {
        let call = &mut self.calls[call];
        let earlier = call.output.expect("no call of this key is unanswered");
        let (kind, call_id) = (
            draft.item(position).head().kind.clone(),
            call.key.call_id.clone(),
        );
        let fault = Fault::DuplicateOutput { kind, call_id };
        if draft.same(earlier, position) {
            self.surplus.push((position, fault));
        } else {
            call.output = Some(position);
            self.replaced.push((earlier, fault));
        }
    }

    fn orphan(&mut self, item: &Item, position: usize) {
        let head = item.head();
        let fault = Fault::OutputWithoutCall {
            kind: head.kind.clone(),
            call_id: head.call_id.clone(),
        };
        self.surplus.push((position, fault));
    }

    /// A call without an output of its own that says what an earlier call of its key said is a
    /// copy of it.
    fn drop_unanswered_copies(&mut self, draft: &Draft) {
        let (by_key, surplus) = (&self.by_key, &mut self.surplus);
        let calls = &self.calls;
        let is_copy = |at: usize, call: &Call| {
            let first = by_key[&call.key].all[0];
            first != at && call.output.is_none() && draft.same(calls[first].position, call.position)
        };
        let copies: Vec<bool> = calls
            .iter()
            .enumerate()
            .map(|(at, call)| is_copy(at, call))
            .collect();
        let mut copies = copies.into_iter();
        self.calls.retain(|call| {
            let is_copy = copies.next().unwrap_or(false);
            if is_copy {
                surplus.push((call.position, duplicate_call(&call.key, true)));
            }
            !is_copy
        });
    }
}

impl Draft {
    fn item(&self, position: usize) -> &Item {
        self.slots[position]
            .item
            .as_ref()
            .expect("only items that are there are paired")
    }

    fn same(&self, one: usize, two: usize) -> bool {
        self.item(one).says_the_same_as(self.item(two))
    }
}

fn duplicate_call(key: &CallKey, identical: bool) -> Fault {
    Fault::DuplicateCall {
        kind: key.kind.clone(),
        call_id: key.call_id.clone(),
        identical,
    }
}

/// For each position the last position of the run of calls that it stands in.
fn groups(draft: &Draft) -> Vec<usize> {
    let mut groups = vec![0; draft.slots.len()];
    let mut end = None;
    for (position, item) in draft.items().rev() {
        let is_call = matches!(item.head().pairing(), Some((Side::Call, _)));
        end = is_call.then(|| end.unwrap_or(position));
        groups[position] = end.unwrap_or(position);
    }
    groups
}

/// Puts an output behind the group of a call that has none.
fn answer(draft: &mut Draft, call: &Call) {
    if call.output.is_some() || !call.key.kind.must_be_answered() {
        return;
    }
    let CallKey { kind, call_id } = call.key.clone();
    let fault = Fault::UnansweredCall { kind, call_id };
    match silence(&call.key.kind, &call.key.call_id) {
        Some(output) => {
            draft.note(call.position, fault, Action::Answered);
            draft.slots[call.group].behind.push(output);
        }
        None => draft.drop_item(call.position, fault),
    }
}

/// Gives the call and its output a `call_id` of their own where theirs is taken or empty.
fn rename(draft: &mut Draft, call: &Call, names: &mut Names) {
    let Some(name) = names.for_call(&call.key) else {
        return;
    };
    let fault = match call.key.call_id.as_str() {
        "" => Fault::EmptyCallId {
            kind: call.key.kind.clone(),
        },
        _ => duplicate_call(&call.key, false),
    };
    if draft.slots[call.position].item.is_none() {
        return;
    }
    draft.note(call.position, fault, Action::Renamed);
    let renamed = |item: &Item| item.with(|object| object.set_string("call_id", name.as_str()));
    draft.change(call.position, renamed);
    match call.output {
        Some(output) => draft.change(output, renamed),
        None => rename_made_up(draft, call, renamed),
    }
}

/// The output was made up for this call just before, so it is the last one behind its group.
fn rename_made_up(draft: &mut Draft, call: &Call, renamed: impl Fn(&Item) -> Item) {
    if let Some(made_up) = draft.slots[call.group].behind.last_mut() {
        *made_up = renamed(made_up);
    }
}

/// The call ids that are in use. New ones are made from the old, so that the same history is always
/// sent as the same bytes.
struct Names(HashMap<CallKey, usize>);

impl Names {
    fn of(calls: &[Call]) -> Self {
        Self(calls.iter().map(|call| (call.key.clone(), 0)).collect())
    }

    /// Another name for the call; `None` where its own is free.
    fn for_call(&mut self, key: &CallKey) -> Option<CallId> {
        let uses = self.0.entry(key.clone()).or_default();
        *uses += 1;
        let first = if key.call_id.as_str().is_empty() {
            0
        } else {
            1
        };
        let mut number = *uses;
        if number <= first {
            return None;
        }
        loop {
            let base = if first == 0 {
                "call"
            } else {
                key.call_id.as_str()
            };
            let name = CallId::from(format!("{base}_{number}"));
            let other = CallKey {
                kind: key.kind.clone(),
                call_id: name.clone(),
            };
            if !self.0.contains_key(&other) {
                self.0.insert(other, 1);
                self.0.insert(key.clone(), number);
                return Some(name);
            }
            number += 1;
        }
    }
}
