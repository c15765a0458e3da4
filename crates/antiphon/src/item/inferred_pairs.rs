//! Pairs calls and outputs of which one has no `call_id`, if only one pairing is possible.

use std::collections::HashSet;

use super::{CallId, Exchange, Exchanges, Item, Kind, PairRole, Side};

/// The pairs of calls and outputs of which one has no `call_id`. Each pair has the positions of its
/// call and of its output.
pub(crate) struct InferredPairs {
    /// The call has no `call_id`, and the `call_id` of the output names no call.
    pub(crate) by_output: Vec<(usize, usize)>,
    /// The output has no `call_id`, and the call has no output.
    pub(crate) by_call: Vec<(usize, usize)>,
    /// The other outputs without a `call_id`.
    pub(crate) unpaired_outputs: Vec<usize>,
}

impl InferredPairs {
    /// Finds the pairs among `items`. `lacking` has the positions of the items without a `call_id`,
    /// each in its form of [`with_pairing`].
    pub(crate) fn find(items: &[(usize, &Item)], lacking: &HashSet<usize>) -> Self {
        let halves = Halves::find(items, lacking);
        let by_output = single_pairs(&halves.calls_without_id, &halves.outputs_without_call);
        let by_call = single_pairs(&halves.unanswered_calls, &halves.outputs_without_id);
        let paired: HashSet<usize> = by_call.iter().map(|(_, output)| *output).collect();
        let outputs = halves.outputs_without_id.iter().map(|half| half.position);
        let unpaired_outputs = outputs.filter(|output| !paired.contains(output)).collect();
        Self { by_output, by_call, unpaired_outputs }
    }

    /// The positions of the outputs among `items` that get a call.
    pub(crate) fn find_outputs(items: &[Item]) -> HashSet<usize> {
        let lacking = (0..items.len()).filter(|at| items[*at].lacks_call_id()).collect();
        let items: Vec<Item> = items.iter().map(with_pairing).collect();
        let items: Vec<(usize, &Item)> = items.iter().enumerate().collect();
        let Self { by_output, by_call, .. } = Self::find(&items, &lacking);
        by_output.into_iter().chain(by_call).map(|(_, output)| output).collect()
    }
}

/// The item, or one that lacks a `call_id` with an empty one, which gives it a pairing.
pub(crate) fn with_pairing(item: &Item) -> Item {
    match item.lacks_call_id() && item.head().pairing().is_none() {
        true => item.with_call_id(&CallId::from("")),
        false => item.clone(),
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
    fn find(items: &[(usize, &Item)], lacking: &HashSet<usize>) -> Self {
        let mut exchanges = Exchanges::default();
        let mut roles = Vec::new();
        for (position, item) in items {
            roles.push((*position, exchanges.push(*position, item.head())));
        }
        let waiting: HashSet<usize> = exchanges.iter().flat_map(Exchange::waiting).collect();
        let mut halves = Self::default();
        let mut met = HashSet::new();
        for ((position, role), (_, item)) in roles.into_iter().zip(items) {
            let Some((side, key)) = item.head().pairing() else {
                continue;
            };
            let half = Half { position, kind: key.kind.clone() };
            let has_no_call = exchanges.get(&key).is_none_or(|exchange| exchange.calls.is_empty());
            match (side, lacking.contains(&position)) {
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
