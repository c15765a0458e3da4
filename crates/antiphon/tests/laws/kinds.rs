//! The judge and the fuzz targets have lists of their own. They have to cover every kind of call.

use std::collections::BTreeSet;

use antiphon::Kind;

use crate::judge::CALLS;

#[path = "../../../../fuzz/src/alphabet.rs"]
#[allow(dead_code, unreachable_pub, reason = "only the list of calls is compared")]
mod alphabet;

#[test]
fn judge_checks_every_call_that_needs_an_output() {
    let known = Kind::ALL.iter().filter(|kind| kind.must_be_answered());
    let pairs = known.filter_map(|call| Some((call.as_str(), call.output()?.to_string())));
    let judged = CALLS.map(|(call, output)| (call, output.to_owned()));
    assert_eq!(BTreeSet::from(judged), pairs.collect());
}

#[test]
fn fuzz_targets_create_every_call() {
    let pairs = Kind::ALL
        .iter()
        .filter_map(|call| Some((call.as_str(), call.output()?.to_string(), call.id_prefix())));
    let created = alphabet::CALLS.map(|(call, output, prefix)| (call, output.to_owned(), prefix));
    assert_eq!(BTreeSet::from(created), pairs.collect());
}
