//! Laws, over calls whose parts are mixed, left out and told again.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::world::*;

/// How one call is told.
#[derive(Clone, Debug)]
struct Telling {
    has_start: bool,
    has_deltas: bool,
    has_end: bool,
    has_call: bool,
    /// How often its `tool-call` comes, beyond once.
    again: usize,
    /// Whether `tool-call` gives the input as a value.
    is_value: bool,
    city: String,
    /// Where the text of the input is cut into pieces.
    cut: prop::sample::Index,
}

fn telling() -> impl Strategy<Value = Telling> {
    let paths = (any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>());
    let input = (0..3_usize, any::<bool>(), "[a-zé\"\\\\ 👋]{0,6}", any::<prop::sample::Index>());
    (paths, input).prop_map(|(paths, (again, is_value, city, cut))| {
        let (has_start, has_deltas, has_end, has_call) = paths;
        // A call that names its tool nowhere is none.
        let has_call = has_call || !has_start;
        Telling { has_start, has_deltas, has_end, has_call, again, is_value, city, cut }
    })
}

impl Telling {
    fn input(&self) -> Value {
        json!({"city": self.city})
    }

    fn parts(&self, id: &str) -> Vec<Value> {
        let text = self.input().to_string();
        let at = text.char_indices().map(|(at, _)| at).collect::<Vec<_>>();
        let (one, two) = text.split_at(at[self.cut.index(at.len())]);
        let given = if self.is_value { self.input() } else { json!(text) };
        let mut parts = Vec::new();
        parts.extend(self.has_start.then(|| start(id)));
        parts.extend(
            [one, two].into_iter().filter(|_| self.has_deltas).map(|piece| delta(id, piece)),
        );
        parts.extend(self.has_end.then(|| end(id)));
        let times = if self.has_call { 1 + self.again } else { 0 };
        parts.extend(std::iter::repeat_n(call(id, given), times));
        parts
    }

    /// The input that it comes to: that of `tool-call`, or of the pieces, or none.
    fn comes_to(&self) -> Value {
        if self.has_call || self.has_deltas { self.input() } else { json!({}) }
    }
}

/// The parts of all calls, one after another from whichever call `turns` says.
fn mixed(tellings: &[Telling], turns: &[prop::sample::Index]) -> Vec<Value> {
    let parts = tellings.iter().enumerate().map(|(n, telling)| telling.parts(&format!("call_{n}")));
    let mut queues: Vec<_> = parts.map(Vec::into_iter).collect();
    let mut turns = turns.iter().cycle();
    let mut mixed = Vec::new();
    while queues.iter().any(|queue| queue.len() > 0) {
        let turn = turns.next().map_or(0, |turn| turn.index(queues.len()));
        let waiting = (0..queues.len()).map(|n| (turn + n) % queues.len());
        let next = waiting.into_iter().find(|n| queues[*n].len() > 0).unwrap();
        mixed.extend(queues[next].next());
    }
    mixed
}

proptest! {
    #[test]
    fn there_is_one_item_for_each_call_with_its_final_input(
        tellings in prop::collection::vec(telling(), 1..5),
        turns in prop::collection::vec(any::<prop::sample::Index>(), 1..20),
    ) {
        let mut parts = mixed(&tellings, &turns);
        parts.push(finish("tool-calls"));
        let told = hears(&parts);
        let calls = told.items("function_call");
        prop_assert_eq!(calls.len(), tellings.len());
        for (n, telling) in tellings.iter().enumerate() {
            let call = calls.iter().find(|call| call["call_id"] == format!("call_{n}")).unwrap();
            let input: Value = serde_json::from_str(call["arguments"].as_str().unwrap()).unwrap();
            prop_assert_eq!(input, telling.comes_to());
        }
        prop_assert!(told.left_out().is_empty());
    }

    /// Whatever the order of the parts, what comes out is one well-formed stream, with one item for
    /// each call that names its tool.
    #[test]
    fn parts_in_any_order_make_one_item_for_each_call(
        tellings in prop::collection::vec(telling(), 1..4),
        order in any::<u64>(),
    ) {
        let mut parts = mixed(&tellings, &[]);
        let count = parts.len() as u64;
        parts.sort_by_key(|part| (part.to_string().len() as u64).wrapping_mul(order | 1) % (count + 1));
        parts.push(finish("tool-calls"));
        let told = World::asking(json!({})).of_a_contradictory_upstream().hears(&parts);
        prop_assert_eq!(told.items("function_call").len(), tellings.len());
        prop_assert_eq!(told.of("output_item.added").len(), tellings.len());
    }

    /// A stream that breaks off anywhere is well formed too, and fails.
    #[test]
    fn a_stream_that_breaks_off_fails(
        tellings in prop::collection::vec(telling(), 1..4),
        at in any::<prop::sample::Index>(),
    ) {
        let mut parts = mixed(&tellings, &[]);
        parts.truncate(at.index(parts.len() + 1));
        let told = hears(&parts);
        prop_assert_eq!(&told.response()["status"], "failed");
    }
}
