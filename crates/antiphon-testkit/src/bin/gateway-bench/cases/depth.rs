//! Turns after a history of 1 to 1,000 turns: with one new item, and with all items again.

use futures_util::{StreamExt as _, TryStreamExt as _, stream};

use super::{CONCURRENCY, Stage};
use crate::dialogue::Dialogue;
use crate::load::{Work, closed};
use crate::results::Row;
use crate::upstream::Script;

/// The number of turns before the measured ones, of dialogues, and of measured turns in each.
const DEPTHS: [(usize, usize, usize); 4] =
    [(1, 800, 1), (10, 400, 1), (100, 64, 10), (1_000, 16, 25)];
/// The limit of a short run.
const SHORT: usize = 100;

/// The dialogues continue by `previous_response_id`.
pub(super) async fn chains(stage: &Stage<'_>) -> anyhow::Result<Vec<Row>> {
    let mut rows = Vec::new();
    for (depth, dialogues, turns) in depths(stage) {
        let dialogues = (1..).take(dialogues).map(Dialogue::chain).collect();
        let work = Work::continued(stage.client.clone(), dialogues);
        rows.push(measure(stage, &work, (depth, turns)).await?);
    }
    Ok(rows)
}

/// The measured turns have all earlier items in their input, and name the conversation that holds
/// them.
pub(super) async fn replays(stage: &Stage<'_>) -> anyhow::Result<Vec<Row>> {
    let mut rows = Vec::new();
    for (depth, dialogues, turns) in depths(stage) {
        let new = |number| Dialogue::conversation(number, &stage.client);
        let numbers = stream::iter((1..).take(dialogues));
        let dialogues = numbers.then(new).map_ok(Dialogue::recording).try_collect().await?;
        let work = Work::continued(stage.client.clone(), dialogues);
        rows.push(measure(stage, &work, (depth, turns)).await?);
    }
    Ok(rows)
}

fn depths(stage: &Stage<'_>) -> impl Iterator<Item = (usize, usize, usize)> {
    let short = stage.short;
    DEPTHS.into_iter().filter(move |&(depth, ..)| !short || depth <= SHORT).map(
        move |(depth, dialogues, turns)| match short {
            true => (depth, (dialogues / 4).max(CONCURRENCY), turns),
            false => (depth, dialogues, turns),
        },
    )
}

async fn measure(
    stage: &Stage<'_>,
    work: &Work,
    (depth, turns): (usize, usize),
) -> anyhow::Result<Row> {
    stage.upstream.follow(&Script::deltas(60)).await?;
    closed(work, depth * work.dialogues(), CONCURRENCY).await.check()?;
    work.change_each(Dialogue::resending);
    stage.measure(&format!("depth {depth}"), work, turns * work.dialogues()).await
}
