//! The writes of a turn: synced writes and pages of the write-ahead log, or the round trips to a
//! database. Each turn continues one of 16 dialogues.

use super::stage::as_f64;
use super::{CONCURRENCY, Stage};
use crate::dialogue::Dialogue;
use crate::load::{Latencies, Work, closed};
use crate::results::{Metric, Row};
use crate::servers::{Environment, WalPages};
use crate::upstream::Script;

/// The load of a row.
struct Part {
    name: &'static str,
    is_streamed: bool,
    clients: usize,
    /// The turns of all clients.
    turns: usize,
}

const PARTS: [Part; 4] = [
    Part { name: "JSON, 1 client", is_streamed: false, clients: 1, turns: 400 },
    Part { name: "JSON, 16 clients", is_streamed: false, clients: CONCURRENCY, turns: 1_600 },
    Part { name: "stream, 1 client", is_streamed: true, clients: 1, turns: 400 },
    Part { name: "stream, 16 clients", is_streamed: true, clients: CONCURRENCY, turns: 1_600 },
];

impl Part {
    fn per_turn(&self, stage: &Stage<'_>, total: u64) -> f64 {
        as_f64(total) / as_f64(stage.count(self.turns) as u64)
    }
}

/// strace or a proxy slows the server down, so no times are measured. The pages of the log are
/// those of another process, because fewer turns share a commit on a slower server. All parts of a
/// process write to one file.
pub(super) async fn run(stage: &Stage<'_>) -> anyhow::Result<Vec<Row>> {
    let untraced = match stage.running.has_wal() {
        true => {
            let running = stage.running.start_beside(Environment::new()).await?;
            Some(stage.with_running(running))
        }
        false => None,
    };
    prepare(stage).await?;
    if let Some(untraced) = &untraced {
        prepare(untraced).await?;
    }
    let mut rows = Vec::new();
    for part in &PARTS {
        let mut row = count_calls(stage, part).await?;
        if let Some(untraced) = &untraced {
            count_pages(untraced, part, &mut row).await?;
        }
        rows.push(row);
    }
    Ok(rows)
}

async fn prepare(stage: &Stage<'_>) -> anyhow::Result<()> {
    let first = Work::first_turns(stage.client.clone(), Dialogue::chain(0).streaming());
    stage.prepare(&Script::deltas(60), &first).await
}

/// Counts the synced writes, or the work of the database.
async fn count_calls(stage: &Stage<'_>, part: &Part) -> anyhow::Result<Row> {
    let (syncs, database) = (stage.running.syncs(), stage.database_work().await?);
    let latencies = load(stage, part).await;

    let mut row = stage.row(part.name, [].into());
    if let (Some(before), Some(after)) = (database, stage.database_work().await?) {
        let round_trips = after.round_trips - before.round_trips;
        row.numbers.insert(Metric::RoundTrips, part.per_turn(stage, round_trips));
        row.numbers
            .insert(Metric::WalBytes, part.per_turn(stage, after.wal_bytes - before.wal_bytes));
    } else if let (Some(before), Some(after)) = (syncs, stage.running.syncs()) {
        row.numbers.insert(Metric::Syncs, part.per_turn(stage, after - before));
    } else {
        row.notes.push("strace is not installed: synced writes are not counted".to_owned());
    }
    row.notes.extend(latencies.first_failure);
    stage.judge(&mut row).await?;
    Ok(row)
}

async fn count_pages(stage: &Stage<'_>, part: &Part, row: &mut Row) -> anyhow::Result<()> {
    let counter = stage.running.count_wal_pages();
    let latencies = load(stage, part).await;
    match counter.and_then(WalPages::finish) {
        Some(pages) => {
            row.numbers.insert(Metric::WalPages, part.per_turn(stage, pages));
        }
        None => row.notes.push("the index of the log could not be read".to_owned()),
    }
    row.notes.extend(latencies.first_failure);
    stage.judge(row).await
}

async fn load(stage: &Stage<'_>, part: &Part) -> Latencies {
    let dialogue = |number| match part.is_streamed {
        true => Dialogue::chain(number).streaming(),
        false => Dialogue::chain(number),
    };
    let dialogues = (1_000_000..).take(CONCURRENCY).map(dialogue).collect();
    let work = Work::continued(stage.client.clone(), dialogues);
    closed(&work, stage.count(part.turns), part.clients).await
}
