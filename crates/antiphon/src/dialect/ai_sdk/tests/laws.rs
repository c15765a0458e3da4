//! Properties of calls whose parts are mixed, missing or repeated.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::world::*;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Path {
    Start,
    Deltas,
    End,
    Call,
}

/// The parts of one call.
#[derive(Clone, Debug)]
struct Telling {
    /// The types of its parts, in order.
    paths: Vec<Path>,
    /// The number of repetitions of its `tool-call`.
    again: usize,
    /// Whether the input in `tool-call` is a value.
    is_value: bool,
    city: String,
    /// The positions that split the text of the input into deltas.
    cut: prop::sample::Index,
}

fn telling() -> impl Strategy<Value = Telling> {
    let paths = vec![Path::Start, Path::Deltas, Path::End, Path::Call];
    let paths = prop::sample::subsequence(paths, 1..=4).prop_filter("it names its tool", |paths| {
        paths.contains(&Path::Start) || paths.contains(&Path::Call)
    });
    let city = "[a-zé\"\\\\ 👋]{0,6}";
    let input = (0..3_usize, any::<bool>(), city, any::<prop::sample::Index>());
    (paths, input).prop_map(|(paths, (again, is_value, city, cut))| Telling {
        paths,
        again,
        is_value,
        city,
        cut,
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
        let parts = self.paths.iter().flat_map(|path| match path {
            Path::Start => vec![start(id)],
            Path::Deltas => vec![delta(id, one), delta(id, two)],
            Path::End => vec![end(id)],
            Path::Call => vec![call(id, given.clone()); 1 + self.again],
        });
        parts.collect()
    }

    /// The expected input: from `tool-call`, or from the deltas, or none.
    fn comes_to(&self) -> Value {
        let says_it = |path: &Path| matches!(path, Path::Call | Path::Deltas);
        if self.paths.iter().any(says_it) { self.input() } else { json!({}) }
    }
}

/// The parts of all calls, interleaved in the order of `turns`.
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
    fn each_call_is_one_item_with_final_input(
        tellings in prop::collection::vec(telling(), 1..5),
        turns in prop::collection::vec(any::<prop::sample::Index>(), 1..20),
    ) {
        let mut parts = mixed(&tellings, &turns);
        parts.push(finish("tool-calls"));
        let received = decode(&parts);
        let calls = received.items("function_call");
        prop_assert_eq!(calls.len(), tellings.len());
        for (n, telling) in tellings.iter().enumerate() {
            let call = calls.iter().find(|call| call["call_id"] == format!("call_{n}")).unwrap();
            let input: Value = serde_json::from_str(call["arguments"].as_str().unwrap()).unwrap();
            prop_assert_eq!(input, telling.comes_to());
        }
        prop_assert!(received.left_out().is_empty());
    }

    /// Parts in any order yield one well-formed stream, with one item for each call that names its
    /// tool.
    #[test]
    fn parts_in_any_order_yield_one_item(
        tellings in prop::collection::vec(telling(), 1..4),
        order in any::<u64>(),
    ) {
        let mut parts = mixed(&tellings, &[]);
        let count = parts.len() as u64;
        parts.sort_by_key(|part| {
            (part.to_string().len() as u64).wrapping_mul(order | 1) % (count + 1)
        });
        parts.push(finish("tool-calls"));
        let received = World::asking(json!({})).with_contradictory_upstream().decode(&parts);
        prop_assert_eq!(received.items("function_call").len(), tellings.len());
        prop_assert_eq!(received.events_named("output_item.added").len(), tellings.len());
    }

    /// A stream that is truncated at any point is well formed, and fails.
    #[test]
    fn truncated_stream_fails(
        tellings in prop::collection::vec(telling(), 1..4),
        at in any::<prop::sample::Index>(),
    ) {
        let mut parts = mixed(&tellings, &[]);
        parts.truncate(at.index(parts.len() + 1));
        let received = decode(&parts);
        prop_assert_eq!(&received.response()["status"], "failed");
    }
}
