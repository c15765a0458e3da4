//! The writes of a turn: synced writes and pages of the write-ahead log, or the round trips to a
//! database. Each turn continues one of 16 dialogues and is streamed.

use super::stage::as_f64;
use super::{CONCURRENCY, Stage};
use crate::dialogue::Dialogue;
use crate::load::{Work, closed};
use crate::results::{Metric, Row};
use crate::upstream::Script;

/// The clients of each part, and their turns in all.
const PARTS: [(&str, usize, usize); 2] = [("1 client", 1, 400), ("16 clients", CONCURRENCY, 1_600)];

/// strace or a proxy that counts slow the server down, so no times are measured.
pub(super) async fn run(stage: &Stage<'_>) -> anyhow::Result<Vec<Row>> {
    let first = Work::first_turns(stage.client.clone(), Dialogue::chain(0).streaming());
    stage.prepare(&Script::deltas(60), &first).await?;
    let mut rows = Vec::new();
    for (part, clients, count) in PARTS {
        rows.push(measure(stage, part, clients, stage.count(count)).await?);
    }
    Ok(rows)
}

async fn measure(
    stage: &Stage<'_>,
    part: &str,
    clients: usize,
    count: usize,
) -> anyhow::Result<Row> {
    let dialogues = (1_000_000..).take(CONCURRENCY).map(|it| Dialogue::chain(it).streaming());
    let work = Work::continued(stage.client.clone(), dialogues.collect());
    let calls = stage.running.file_calls();
    let database = stage.database_work().await?;
    let latencies = closed(&work, count, clients).await;
    let per_turn = |total: u64| as_f64(total) / as_f64(count as u64);

    let mut row = stage.row(part, [].into());
    if let (Some(before), Some(after)) = (database, stage.database_work().await?) {
        let round_trips = after.round_trips - before.round_trips;
        row.numbers.insert(Metric::RoundTrips, per_turn(round_trips));
        row.numbers.insert(Metric::WalBytes, per_turn(after.wal_bytes - before.wal_bytes));
    } else if let (Some(before), Some(after)) = (calls, stage.running.file_calls()) {
        row.numbers.insert(Metric::Syncs, per_turn(after.syncs - before.syncs));
        row.numbers.insert(Metric::WalPages, per_turn(after.wal_pages - before.wal_pages));
    } else {
        row.notes.push("strace is not installed: synced writes are not counted".to_owned());
    }
    row.notes.extend(latencies.first_failure);
    stage.judge(&mut row).await?;
    Ok(row)
}
