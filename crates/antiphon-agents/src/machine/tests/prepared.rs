//! A request that repeats a prepared history has the items of one that is prepared as a whole.

use std::sync::Arc;

use antiphon::Item;
use antiphon::item::given::{assistant, call_under, output, reasoning, user};
use proptest::prelude::*;

use crate::machine::prepared::{Prepared, Source};

/// An item of a run. Numbers repeat, as ids of some servers do.
fn any_item() -> impl Strategy<Value = Item> {
    let number = 0..6_u8;
    (0..5_u8, number.clone(), number).prop_map(|(kind, id, call)| match kind {
        0 => user(&format!("message {id}")),
        1 => assistant(&format!("msg_{id}"), "answer"),
        2 => reasoning(&format!("rs_{id}")),
        3 => call_under(&format!("fc_{id}"), &format!("call_{call}"), "{}"),
        _ => output(&format!("call_{call}"), "found"),
    })
}

/// The items of a turn whose calls have outputs, in any order.
fn any_turn() -> impl Strategy<Value = Vec<Item>> {
    let calls = prop::collection::btree_set(0..40_u8, 1..4);
    (any::<bool>(), calls, any::<bool>()).prop_map(|(thinks, calls, reversed)| {
        let mut turn = Vec::new();
        let mut outputs = Vec::new();
        for (at, call) in calls.into_iter().enumerate() {
            if thinks && at == 0 {
                turn.push(reasoning(&format!("rs_t{call}")));
            }
            turn.push(call_under(&format!("fc_t{call}"), &format!("call_t{call}"), "{}"));
            outputs.push(output(&format!("call_t{call}"), "found"));
        }
        if reversed {
            outputs.reverse();
        }
        turn.extend(outputs);
        turn
    })
}

proptest! {
    #[test]
    fn repeated_history_equals_one_that_is_prepared_anew(
        held in prop::collection::vec(any_item(), 0..8),
        turns in prop::collection::vec(
            prop_oneof![3 => any_turn(), 1 => prop::collection::vec(any_item(), 1..4)], 1..6),
    ) {
        let mut prepared = Prepared::default();
        let mut run = vec![user("go")];
        for turn in turns {
            let source = Source { held: &held, run: &run };
            let whole = Prepared::whole(source, None);
            if let Some(next) = prepared.next_items(source) {
                prop_assert_eq!(prepared.items_with(next), whole.items);
                prop_assert_eq!(&prepared.repairs, &whole.repairs);
            }
            prepared.extend(source);
            run.extend(turn);
        }
    }

    #[test]
    fn turns_of_a_run_are_prepared_alone(turns in prop::collection::vec(any_turn(), 1..4)) {
        let mut prepared = Prepared::default();
        let mut run = vec![user("go")];
        prepared.extend(Source { held: &[], run: &run });
        let mut calls = std::collections::HashSet::new();
        let mut is_new = true;
        for turn in turns {
            // A repeated id needs a repair.
            is_new &= turn.iter().all(|item| {
                let id = item.head().id.clone();
                id.is_none_or(|id| calls.insert(id))
            });
            run.extend(turn);
            let source = Source { held: &[], run: &run };
            prop_assert!(!is_new || prepared.next_items(source).is_some());
            prepared.extend(source);
        }
    }
}

#[test]
fn request_shares_the_items_of_its_history() {
    let run = vec![user("go")];
    let source = Source { held: &[], run: &run };
    let mut prepared = Prepared::default();
    prepared.extend(source);
    let request = prepared.items_with(Vec::new());
    // The request is marked as sent while it is alive.
    prepared.extend(source);
    assert!(Arc::ptr_eq(&request, &prepared.items));
    assert_eq!(request.len(), 1);
}
