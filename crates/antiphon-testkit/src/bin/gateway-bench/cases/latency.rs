//! The latency that a server adds, and the rate at which it adds a millisecond.

use std::sync::Arc;
use std::time::Duration;

use super::Stage;
use crate::client::Client;
use crate::dialogue::Dialogue;
use crate::load::{Latencies, Work, open};
use crate::options::Case;
use crate::results::{Metric, Row};
use crate::upstream::Script;

/// The requests a second at which latencies are compared. Every server can answer so many.
const RATE: f64 = 50.0;
/// The p99, in microseconds, that a server may add at its highest rate.
const ADDED: f64 = 1_000.0;
/// The highest rate that is tried, which the load itself can hardly produce.
const MAX_RATE: f64 = 10_000.0;
const BISECTIONS: usize = 3;

/// Compares the server with the upstream alone, at a low rate and at the highest possible rate.
pub(super) async fn run(stage: &Stage<'_>) -> anyhow::Result<Vec<Row>> {
    let dialogue = match stage.case {
        Case::LatencyStream60 => Dialogue::chain(0).streaming(),
        _ => Dialogue::chain(0),
    };
    let work = |client| Arc::new(Work::first_turns(client, dialogue.clone()));
    let alone = work(Client::new(stage.upstream.address));
    let pair = Pair { server: work(stage.client.clone()), alone };
    stage.prepare(&Script::deltas(60), &pair.server).await?;
    let time = Duration::from_secs(if stage.short { 4 } else { 20 });
    let compared = pair.compare(RATE, time).await?;
    let mut row = stage.row("", [].into());
    row.numbers.extend(compared.numbers());
    if let Some(rate) = pair.highest_rate(time / 4).await? {
        row.numbers.insert(Metric::RateAtOneMillisecond, rate);
    } else {
        row.notes.push(format!("the added p99 exceeds 1 ms at {RATE} requests a second"));
    }
    stage.judge(&mut row).await?;
    Ok(vec![row])
}

/// The same load on the server and on the upstream alone.
struct Pair {
    server: Arc<Work>,
    alone: Arc<Work>,
}

/// Latencies of both.
struct Compared {
    server: Latencies,
    alone: Latencies,
}

impl Pair {
    async fn compare(&self, rate: f64, time: Duration) -> anyhow::Result<Compared> {
        let alone = open(&self.alone, rate, time).await;
        let server = open(&self.server, rate, time).await;
        if let Some(failure) = alone.first_failure.as_ref().or(server.first_failure.as_ref()) {
            anyhow::bail!("{failure}");
        }
        Ok(Compared { server, alone })
    }

    /// The highest rate at which the added p99 stays below its limit.
    async fn highest_rate(&self, time: Duration) -> anyhow::Result<Option<f64>> {
        let (mut good, mut bad) = (None, RATE);
        while bad < MAX_RATE && self.is_within_limit(bad, time).await? {
            (good, bad) = (Some(bad), bad * 2.0);
        }
        let Some(mut good) = good else { return Ok(None) };
        for _ in 0..BISECTIONS {
            let middle = f64::midpoint(good, bad);
            match self.is_within_limit(middle, time).await? {
                true => good = middle,
                false => bad = middle,
            }
        }
        Ok(Some(good))
    }

    /// A second attempt is allowed, because other processes disturb the measurement.
    async fn is_within_limit(&self, rate: f64, time: Duration) -> anyhow::Result<bool> {
        for _ in 0..2 {
            let compared = self.compare(rate, time).await;
            if compared.is_ok_and(|it| it.added(0.99).is_some_and(|added| added < ADDED)) {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

impl Compared {
    fn added(&self, share: f64) -> Option<f64> {
        Some(self.server.quantile(share)? - self.alone.quantile(share)?)
    }

    fn numbers(&self) -> impl Iterator<Item = (Metric, f64)> {
        let numbers = [
            (Metric::P50Micros, self.server.quantile(0.5)),
            (Metric::P99Micros, self.server.quantile(0.99)),
            (Metric::AddedP50Micros, self.added(0.5)),
            (Metric::AddedP99Micros, self.added(0.99)),
        ];
        numbers.into_iter().filter_map(|(metric, number)| Some((metric, number?)))
    }
}
