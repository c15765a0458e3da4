//! The time until a started process listens.

use std::time::Duration;

use super::Stage;
use crate::results::{Metric, Row};

const STARTS: usize = 20;

/// Restarts the server on its files. A database that is new to a server costs more once.
pub(super) async fn run(stage: &mut Stage<'_>) -> anyhow::Result<Vec<Row>> {
    let mut times = Vec::new();
    for _ in 0..stage.count(STARTS) {
        stage.running.kill();
        times.push(stage.running.restart_until_it_listens().await?);
    }
    times.sort_unstable();
    let mut row = stage.row("", [].into());
    let milliseconds = |time: &Duration| time.as_secs_f64() * 1e3;
    let (median, slowest) = (times.get(times.len() / 2), times.last());
    row.numbers.extend(median.map(|it| (Metric::StartMilliseconds, milliseconds(it))));
    row.numbers.extend(slowest.map(|it| (Metric::SlowestStartMilliseconds, milliseconds(it))));
    Ok(vec![row])
}
