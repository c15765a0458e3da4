//! One case on one server, and the measurement of its loads.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use super::CONCURRENCY;
use crate::client::Client;
use crate::database::{CountingProxy, DatabaseWork};
use crate::judged_upstream::JudgedUpstream;
use crate::load::{Latencies, Work, closed, closed_requests};
use crate::options::Case;
use crate::results::{Metric, Row};
use crate::servers::{Running, Server};
use crate::upstream::Script;

/// A running server with its upstream.
pub(crate) struct Stage<'a> {
    pub(crate) case: Case,
    pub(crate) server: &'a Server,
    pub(crate) running: Running,
    pub(crate) upstream: &'a JudgedUpstream,
    pub(crate) client: Client,
    /// The proxy in front of the server's database, in the case that counts round trips.
    pub(crate) database: Option<CountingProxy>,
    pub(crate) short: bool,
}

/// The number of deltas before the first measurement. They start threads and fill caches.
const WARM_UP_DELTAS: usize = 12_000;
const WARM_UP_REQUESTS: usize = 200;

impl<'a> Stage<'a> {
    /// The same case on another process of the server.
    pub(crate) fn with_running(&self, running: Running) -> Stage<'a> {
        let client = Client::new(running.address());
        let Self { case, server, upstream, short, .. } = *self;
        Stage { case, server, running, upstream, client, database: None, short }
    }

    /// Makes the upstream follow the script, and performs turns that are not measured.
    pub(crate) async fn prepare(&self, script: &Script, work: &Work) -> anyhow::Result<()> {
        self.upstream.follow(script).await?;
        closed(work, WARM_UP_DELTAS / script.deltas, CONCURRENCY).await.check()?;
        self.upstream.take_verdict().await?;
        Ok(())
    }

    /// Measures a closed load. `part` names it within its case.
    pub(crate) async fn measure(
        &self,
        part: &str,
        work: &Work,
        count: usize,
    ) -> anyhow::Result<Row> {
        self.measure_load(part, count, closed(work, count, CONCURRENCY)).await
    }

    /// Measures a closed load of requests with numbers, after some that are not measured.
    pub(super) async fn measure_requests<F>(
        &self,
        part: &str,
        send: impl Fn(usize) -> F,
        count: usize,
    ) -> anyhow::Result<Row>
    where
        F: Future<Output = anyhow::Result<Duration>>,
    {
        closed_requests(&send, WARM_UP_REQUESTS, CONCURRENCY).await.check()?;
        self.upstream.take_verdict().await?;
        self.measure_load(part, count, closed_requests(&send, count, CONCURRENCY)).await
    }

    /// Measures a load of so many requests, which begins when it is first polled.
    pub(super) async fn measure_load(
        &self,
        part: &str,
        count: usize,
        load: impl Future<Output = Latencies>,
    ) -> anyhow::Result<Row> {
        let (before, started) = (self.running.usage(), Instant::now());
        let latencies = load.await;
        let (took, after) = (started.elapsed(), self.running.usage());
        let per_turn = |total: f64| total / as_f64(count as u64);
        let mut numbers: BTreeMap<Metric, f64> = [
            (Metric::CpuMicros, per_turn(after.processor_time_since(&before).as_secs_f64() * 1e6)),
            (Metric::WrittenBytes, per_turn(as_f64(after.written_since(&before)))),
            (Metric::RequestsPerSecond, as_f64(count as u64) / took.as_secs_f64()),
            (Metric::ResidentMegabytes, as_f64(after.resident) / 1e6),
        ]
        .into();
        for (metric, share) in [(Metric::P50Micros, 0.5), (Metric::P99Micros, 0.99)] {
            numbers.extend(latencies.quantile(share).map(|it| (metric, it)));
        }
        let mut row = self.row(part, numbers);
        if let Some(failure) = latencies.first_failure {
            row.notes.push(format!("{} of {count} failed, first: {failure}", latencies.failed));
        }
        self.judge(&mut row).await?;
        Ok(row)
    }

    /// Voids the numbers if the server sent a wrong history upstream since the last judgement.
    pub(crate) async fn judge(&self, row: &mut Row) -> anyhow::Result<()> {
        let verdict = self.upstream.take_verdict().await?;
        if let Some(fault) = verdict.first_fault {
            row.void = Some(format!("{} wrong inputs, first: {fault}", verdict.wrong));
        }
        if verdict.delegated > 0 {
            row.delegated = true;
            let note = "the upstream gets `previous_response_id` instead of the items";
            row.notes.push(note.to_owned());
        }
        Ok(())
    }

    /// The work of the server's database so far, if a proxy counts it.
    pub(crate) async fn database_work(&self) -> anyhow::Result<Option<DatabaseWork>> {
        match &self.database {
            Some(database) => database.work().await.map(Some),
            None => Ok(None),
        }
    }

    /// The number of requests of a part: a quarter in a short run.
    pub(crate) fn count(&self, full: usize) -> usize {
        if self.short { full / 4 } else { full }
    }

    /// Starts the killed server again.
    pub(crate) async fn restart(&mut self) -> anyhow::Result<()> {
        self.running.restart().await?;
        self.client = Client::new(self.running.address());
        Ok(())
    }

    /// The row of a part, named within its case.
    pub(crate) fn row(&self, part: &str, numbers: BTreeMap<Metric, f64>) -> Row {
        let case = match part {
            "" => self.case.name(),
            part => format!("{}, {part}", self.case.name()),
        };
        Row {
            server: self.server.name.to_owned(),
            durability: self.server.durability.text(),
            case,
            numbers,
            delegated: false,
            notes: Vec::new(),
            void: None,
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "counts and bytes of one run are small")]
pub(super) fn as_f64(count: u64) -> f64 {
    count as f64
}
