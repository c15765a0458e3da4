//! A closed load: so many clients, each of which sends its next request after its last answer.

use futures_util::{StreamExt as _, stream};

use super::{Latencies, Work};

/// Performs `count` turns, `concurrency` at a time.
pub(crate) async fn closed(work: &Work, count: usize, concurrency: usize) -> Latencies {
    let turns = stream::iter(0..count).map(|_| work.turn());
    let results: Vec<_> = turns.buffer_unordered(concurrency).collect().await;
    results.into_iter().collect()
}
