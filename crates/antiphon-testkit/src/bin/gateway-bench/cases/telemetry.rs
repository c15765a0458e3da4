//! Turns of servers that export their traces, in comparison with one that does not.
//!
//! The servers of a load take turns in short rounds, so that other work on the machine slows each
//! of them about as much.

use std::collections::BTreeMap;
use std::time::Duration;

use antiphon_testkit::otlp::Receiver;

use super::Stage;
use super::stage::as_f64;
use crate::dialogue::Dialogue;
use crate::load::Work;
use crate::results::{Metric, Row};
use crate::servers::Environment;
use crate::upstream::Script;

/// The shares of sampled requests.
const SHARES: [(&str, &str); 2] = [("1 % sampled", "0.01"), ("all sampled", "1")];
/// The requests of a load to one server, in so many rounds.
const REQUESTS: usize = 4_200;
const ROUNDS: usize = 6;
/// A server exports at least once in this time, and a round includes that.
const EXPORT_DELAY: Duration = Duration::from_millis(500);

/// A server with its receiver; without one, it exports nothing.
struct Measured<'a> {
    name: &'static str,
    stage: &'a Stage<'a>,
    receiver: Option<Receiver>,
}

pub(super) async fn run(stage: &Stage<'_>) -> anyhow::Result<Vec<Row>> {
    let mut receivers = Vec::new();
    let mut stages = Vec::new();
    for (name, share) in SHARES {
        let receiver = Receiver::start().await;
        let running = stage.running.start_beside(environment(&receiver, share)).await?;
        stages.push(stage.with_running(running));
        receivers.push((name, receiver));
    }
    let mut servers = vec![Measured { name: "no exporter", stage, receiver: None }];
    servers.extend(stages.iter().zip(receivers).map(|(stage, (name, receiver))| Measured {
        name,
        stage,
        receiver: Some(receiver),
    }));
    let mut rows = measure(&servers, "JSON", &Dialogue::chain(0)).await?;
    rows.extend(measure(&servers, "stream of 60", &Dialogue::chain(0).streaming()).await?);
    Ok(rows)
}

fn environment(receiver: &Receiver, share: &str) -> Environment {
    let endpoint = format!("{}/v1/traces", receiver.endpoint());
    let delay = EXPORT_DELAY.as_millis().to_string();
    [
        ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", endpoint),
        ("OTEL_TRACES_SAMPLER", "traceidratio".to_owned()),
        ("OTEL_TRACES_SAMPLER_ARG", share.to_owned()),
        ("OTEL_BSP_SCHEDULE_DELAY", delay),
    ]
    .into()
}

/// The rows of one load, one for each server.
async fn measure(
    servers: &[Measured<'_>],
    load: &str,
    dialogue: &Dialogue,
) -> anyhow::Result<Vec<Row>> {
    let mut loads = Vec::new();
    for server in servers {
        let work = Work::first_turns(server.stage.client.clone(), dialogue.clone());
        server.stage.prepare(&Script::deltas(60), &work).await?;
        tokio::time::sleep(2 * EXPORT_DELAY).await;
        let row = server.stage.row(&format!("{load}, {}", server.name), BTreeMap::new());
        loads.push((work, row, server.spans()));
    }
    let count = servers[0].stage.count(REQUESTS) / ROUNDS;
    for round in 0..ROUNDS {
        // Each server is the first in some rounds.
        for position in 0..servers.len() {
            let at = (round + position) % servers.len();
            let (work, row, _) = &mut loads[at];
            servers[at].run_round(work, count, row).await?;
        }
    }
    let requests = as_f64((count * ROUNDS) as u64);
    for (server, (_, row, spans)) in servers.iter().zip(&mut loads) {
        if server.receiver.is_some() {
            row.numbers.insert(Metric::Spans, as_f64(server.spans() - *spans) / requests);
        }
    }
    Ok(with_ratios(loads.into_iter().map(|(_, row, _)| row).collect()))
}

impl Measured<'_> {
    /// Adds the share of one round to the row, the exports of its spans included.
    async fn run_round(&self, work: &Work, count: usize, row: &mut Row) -> anyhow::Result<()> {
        let before = self.stage.running.usage();
        let round = self.stage.measure("", work, count).await?;
        tokio::time::sleep(2 * EXPORT_DELAY).await;
        let spent = self.stage.running.usage().processor_time_since(&before).as_secs_f64();
        let micros = spent * 1e6 / as_f64((count * ROUNDS) as u64);
        *row.numbers.entry(Metric::CpuMicros).or_default() += micros;
        row.notes.extend(round.notes);
        row.void = row.void.take().or(round.void);
        Ok(())
    }

    /// The number of spans that were exported so far.
    fn spans(&self) -> u64 {
        self.receiver.as_ref().map_or(0, |receiver| receiver.span_count() as u64)
    }
}

/// The rows with their processor time in proportion to that of the first.
fn with_ratios(mut rows: Vec<Row>) -> Vec<Row> {
    let of_first = rows.first().and_then(|row| row.numbers.get(&Metric::CpuMicros)).copied();
    for row in &mut rows {
        if let (Some(first), Some(own)) = (of_first, row.numbers.get(&Metric::CpuMicros)) {
            row.numbers.insert(Metric::CpuRatio, own / first);
        }
    }
    rows
}
