//! The 51 behaviours of a conversation's state, shown by runs against the strict provider over a
//! socket. It refuses what OpenAI refuses, and finds duplicates in the input of the model.
//!
//! The number at the start of a test's name is that of its behaviour in the reference agent SDK. A
//! comment says so where a run deliberately does better.

#![allow(clippy::unwrap_used, reason = "a world that cannot be set up fails the test")]

mod cancellation;
mod compaction;
mod history;
mod identity;
mod rate_limits;
mod sessions;
mod staging;
mod tracker;
mod turns;
mod world;

use std::collections::BTreeSet;

const SOURCES: [&str; 8] = [
    include_str!("cancellation.rs"),
    include_str!("compaction.rs"),
    include_str!("history.rs"),
    include_str!("identity.rs"),
    include_str!("sessions.rs"),
    include_str!("staging.rs"),
    include_str!("tracker.rs"),
    include_str!("turns.rs"),
];

#[test]
fn every_behaviour_has_a_test() {
    let shown: BTreeSet<u32> = SOURCES.iter().flat_map(|source| numbers(source)).collect();
    assert_eq!(shown, (1..=51).collect());
}

/// The numbers of the tests of a file: `async fn b07_…` after an attribute.
fn numbers(source: &str) -> Vec<u32> {
    let lines: Vec<&str> = source.lines().collect();
    let pairs = lines.windows(2).filter(|pair| pair[0] == "#[tokio::test]");
    let names = pairs.filter_map(|pair| pair[1].strip_prefix("async fn b"));
    names.filter_map(|name| name.split('_').next()?.parse().ok()).collect()
}
