//! Kills the server at the moment when a client has received a terminal event. After a restart,
//! each dialogue must continue with all of its acknowledged turns.

use std::sync::atomic::{AtomicUsize, Ordering};

use futures_util::future::join_all;

use super::stage::as_f64;
use super::{CONCURRENCY, Stage};
use crate::dialogue::Dialogue;
use crate::results::{Metric, Row};
use crate::upstream::Script;

const KILLS: usize = 5;
/// The number of terminal events before the first kill; each later kill comes seven events later.
const EVENTS: usize = 40;

pub(super) async fn run(stage: &mut Stage<'_>) -> anyhow::Result<Vec<Row>> {
    stage.upstream.follow(&Script::deltas(60)).await?;
    let kills = if stage.short { 1 } else { KILLS };
    let (mut acknowledged, mut lost, mut first_loss) = (0, 0, None);
    for kill in 0..kills {
        let mut dialogues: Vec<Dialogue> = (0..CONCURRENCY as u64)
            .map(|index| Dialogue::chain(index + 1_000 * kill as u64).streaming())
            .collect();
        run_until_kill(stage, &mut dialogues, EVENTS + 7 * kill).await?;
        stage.restart().await?;
        stage.upstream.take_verdict().await?;
        for dialogue in &mut dialogues {
            acknowledged += dialogue.turns();
            let continued = dialogue.turn(&stage.client).await;
            let verdict = stage.upstream.take_verdict().await?;
            let failure = continued.err().map(|error| format!("{error:#}"));
            if let Some(loss) = failure.or(verdict.first_fault) {
                lost += 1;
                first_loss.get_or_insert(loss);
            }
        }
    }
    let mut row = stage.row("", [].into());
    row.numbers.extend([
        (Metric::Kills, as_f64(kills as u64)),
        (Metric::AcknowledgedTurns, as_f64(acknowledged)),
        (Metric::BrokenDialogues, as_f64(lost)),
    ]);
    row.notes.extend(first_loss.map(|loss| format!("first loss: {loss}")));
    Ok(vec![row])
}

/// Continues all dialogues at once until `events` turns are acknowledged; then kills the server.
async fn run_until_kill(
    stage: &Stage<'_>,
    dialogues: &mut [Dialogue],
    events: usize,
) -> anyhow::Result<()> {
    let (left, killed) = (&AtomicUsize::new(events), &AtomicUsize::new(0));
    let chains = dialogues.iter_mut().map(async |dialogue| {
        while killed.load(Ordering::Relaxed) == 0 {
            let Ok(mut open) = dialogue.open_turn(&stage.client).await else { break };
            let Ok(reply) = open.read_to_terminal().await else { break };
            if left.fetch_sub(1, Ordering::Relaxed) == 1 {
                stage.running.kill();
                killed.store(1, Ordering::Relaxed);
            }
            dialogue.accept(&reply);
        }
    });
    join_all(chains).await;
    anyhow::ensure!(killed.load(Ordering::Relaxed) == 1, "every dialogue failed before the kill");
    Ok(())
}
