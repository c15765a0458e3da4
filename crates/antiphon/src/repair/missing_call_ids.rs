//! Repairs calls and outputs without a `call_id`, if only one pairing is possible.

use std::collections::{HashMap, HashSet};

use super::calls::call_id_fault;
use super::{Action, Draft, OnOutputWithoutCall, Policy};
use crate::faults::Fault;
use crate::item::{CallId, Exchange, Exchanges, Kind, PairRole, Side};

/// Pairs calls without a `call_id` with outputs whose call is missing, and outputs without one with
/// unanswered calls. Leaves out every other output without a `call_id`. Calls without one that no
/// output names are left for the repair of calls.
pub(super) fn repair(draft: &mut Draft, policy: &Policy) {
    let fresh = draft.items().filter(|(position, _)| !draft.is_held(*position));
    let lacking: HashMap<usize, Fault> = fresh
        .filter(|(_, item)| item.lacks_call_id())
        .map(|(position, item)| (position, call_id_fault(item)))
        .collect();
    if lacking.is_empty() {
        return;
    }
    for position in lacking.keys() {
        if draft.item(*position).head().pairing().is_none() {
            draft.change(*position, |item| item.with_call_id(&CallId::from("")));
        }
    }
    let halves = Halves::find(draft, &lacking);
    if policy.outputs_without_call != OnOutputWithoutCall::Keep {
        for (call, output) in single_pairs(&halves.calls_without_id, &halves.outputs_without_call) {
            copy_call_id(draft, output, call, &lacking);
        }
    }
    let pairs = single_pairs(&halves.unanswered_calls, &halves.outputs_without_id);
    for (call, output) in &pairs {
        copy_call_id(draft, *call, *output, &lacking);
    }
    let paired: HashSet<usize> = pairs.into_iter().map(|(_, output)| output).collect();
    let unpaired = halves.outputs_without_id.iter().map(|half| half.position);
    for output in unpaired.filter(|output| !paired.contains(output)) {
        draft.leave_out(output, lacking[&output].clone(), Action::Dropped);
    }
}

/// Gives the item at `to`, one of those in `lacking`, the `call_id` of the item at `from`.
fn copy_call_id(draft: &mut Draft, from: usize, to: usize, lacking: &HashMap<usize, Fault>) {
    if let Some((_, key)) = draft.item(from).head().pairing() {
        draft.note(to, lacking[&to].clone(), Action::CallIdAdded);
        draft.change(to, |item| item.with_call_id(&key.call_id));
    }
}

/// A call or an output that pairs with nothing.
#[derive(Clone)]
struct Half {
    position: usize,
    /// The kind of the call.
    kind: Kind,
}

/// The calls and outputs without their other half, in order.
#[derive(Default)]
struct Halves {
    calls_without_id: Vec<Half>,
    outputs_without_call: Vec<Half>,
    unanswered_calls: Vec<Half>,
    outputs_without_id: Vec<Half>,
}

impl Halves {
    /// `lacking` has the positions of the items without a `call_id`.
    fn find(draft: &Draft, lacking: &HashMap<usize, Fault>) -> Self {
        let mut exchanges = Exchanges::default();
        let mut roles = Vec::new();
        for (position, item) in draft.items() {
            roles.push((position, exchanges.push(position, item.head())));
        }
        let waiting: HashSet<usize> = exchanges.iter().flat_map(Exchange::waiting).collect();
        let mut halves = Self::default();
        let mut met = HashSet::new();
        for (position, role) in roles {
            let Some((side, key)) = draft.item(position).head().pairing() else {
                continue;
            };
            let half = Half { position, kind: key.kind.clone() };
            let has_no_call = exchanges.get(&key).is_none_or(|exchange| exchange.calls.is_empty());
            match (side, lacking.contains_key(&position)) {
                (Side::Call, _) if !waiting.contains(&position) => {}
                (Side::Call, true) => halves.calls_without_id.push(half),
                (Side::Call, false) => halves.unanswered_calls.push(half),
                (Side::Output, true) if !matches!(role, Some(PairRole::Output(_))) => {
                    halves.outputs_without_id.push(half);
                }
                (Side::Output, false) if has_no_call && met.insert(key) => {
                    halves.outputs_without_call.push(half);
                }
                (Side::Output, _) => {}
            }
        }
        halves
    }
}

/// The pairs of one call and one output of its kind that nothing contradicts: no other call and no
/// other output of the two lists comes next to them.
fn single_pairs(calls: &[Half], outputs: &[Half]) -> Vec<(usize, usize)> {
    let kinds: HashSet<&Kind> = calls.iter().map(|call| &call.kind).collect();
    let mut pairs: Vec<_> =
        kinds.into_iter().flat_map(|kind| single_pairs_of_kind(kind, calls, outputs)).collect();
    pairs.sort_unstable();
    pairs
}

fn single_pairs_of_kind(kind: &Kind, calls: &[Half], outputs: &[Half]) -> Vec<(usize, usize)> {
    let of_kind = |halves: &[Half], side: Side| {
        let halves = halves.iter().filter(|half| half.kind == *kind);
        halves.map(|half| (half.position, side)).collect::<Vec<_>>()
    };
    let mut sequence = [of_kind(calls, Side::Call), of_kind(outputs, Side::Output)].concat();
    sequence.sort_unstable_by_key(|(position, _)| *position);
    let runs: Vec<_> = sequence.chunk_by(|one, two| one.1 == two.1).collect();
    let pair = |runs: &[&[(usize, Side)]]| match runs {
        [[(call, Side::Call)], [(output, Side::Output)]] => Some((*call, *output)),
        _ => None,
    };
    runs.windows(2).filter_map(pair).collect()
}
