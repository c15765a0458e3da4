//! Counts the bytes of input that a client sends per turn, and the bytes that reach a provider
//! which stores the conversation. The numbers do not depend on the machine.

#[expect(dead_code, unused_imports, reason = "the other benchmarks use the rest")]
mod given;

use antiphon::Item;
use given::{Turn, list_of};

/// Lengths of conversations, in items.
const HELD: [usize; 5] = [10, 100, 1_000, 10_000, 100_000];

fn main() {
    println!("{:<44} {:>8} {:>13} {:>13}", "", "items", "bytes come", "bytes go");
    for (caller, turn) in CALLERS {
        for held in HELD {
            let turn = turn(held).owned_by_upstream();
            let (come, go) = (size(&turn.incoming), size(&turn.sent()));
            println!("{:<44} {held:>8} {come:>13} {go:>13}", format!("kept_upstream::{caller}"));
        }
    }
}

/// A client of a conversation with the given number of items.
type Caller = (&'static str, fn(usize) -> Turn);

const CALLERS: [Caller; 3] = [
    ("replayed", Turn::full_replay),
    ("replayed, with rewritten JSON", Turn::rewritten_replay),
    ("continued", Turn::delta),
];

fn size(input: &[Item]) -> usize {
    list_of(input).len()
}
