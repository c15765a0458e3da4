//! A closed load: so many clients, each of which sends its next request after its last answer.

use std::time::Duration;

use futures_util::{StreamExt as _, stream};

use super::{Latencies, Work};

/// Performs `count` turns, `concurrency` at a time.
pub(crate) async fn closed(work: &Work, count: usize, concurrency: usize) -> Latencies {
    closed_requests(|_| work.turn(), count, concurrency).await
}

/// Sends requests with the numbers below `count`, `concurrency` at a time.
pub(crate) async fn closed_requests<F>(
    send: impl Fn(usize) -> F,
    count: usize,
    concurrency: usize,
) -> Latencies
where
    F: Future<Output = anyhow::Result<Duration>>,
{
    let requests = stream::iter(0..count).map(send);
    let results: Vec<_> = requests.buffer_unordered(concurrency).collect().await;
    results.into_iter().collect()
}
