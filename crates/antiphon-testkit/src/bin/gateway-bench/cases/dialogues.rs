//! Dialogues with conversations, tools, and clients that disconnect.

use futures_util::{StreamExt as _, TryStreamExt as _, stream};

use super::{CONCURRENCY, Stage};
use crate::client::Client;
use crate::dialogue::Dialogue;
use crate::load::Work;
use crate::results::Row;
use crate::upstream::Script;

/// 16 clients write at the same time, each to a conversation of its own.
pub(super) async fn writers(stage: &Stage<'_>) -> anyhow::Result<Vec<Row>> {
    let work = Work::continued(stage.client.clone(), conversations(&stage.client).await?);
    let first = conversations(&stage.client).await?;
    stage.prepare(&Script::deltas(60), &Work::continued(stage.client.clone(), first)).await?;
    Ok(vec![stage.measure("", &work, stage.count(1_600)).await?])
}

async fn conversations(client: &Client) -> anyhow::Result<Vec<Dialogue>> {
    let new = |number| Dialogue::conversation(number, client);
    stream::iter(0..CONCURRENCY as u64).then(new).map_ok(Dialogue::streaming).try_collect().await
}

/// Dialogues of ten turns, half of which are answered with a call.
pub(super) async fn tools(stage: &Stage<'_>) -> anyhow::Result<Vec<Row>> {
    let script = Script { tools: true, ..Script::deltas(60) };
    let dialogue = Dialogue::chain(0).streaming().with_tool();
    let first = Work::first_turns(stage.client.clone(), dialogue.clone());
    stage.prepare(&script, &first).await?;
    let count = stage.count(160);
    let dialogues = (1_000_000..).take(count).map(|number| dialogue.clone().numbered(number));
    let work = Work::continued(stage.client.clone(), dialogues.collect());
    Ok(vec![stage.measure("", &work, 10 * count).await?])
}

/// Each tenth turn is aborted in the middle of its stream, and then sent again.
pub(super) async fn aborts(stage: &Stage<'_>) -> anyhow::Result<Vec<Row>> {
    let script = Script { pause_micros: 1_000, ..Script::deltas(60) };
    let dialogue = Dialogue::chain(0).streaming();
    let first = Work::first_turns(stage.client.clone(), dialogue.clone());
    stage.prepare(&script, &first).await?;
    let count = stage.count(160);
    let dialogues = (1_000_000..).take(count).map(|number| dialogue.clone().numbered(number));
    let work = Work::continued(stage.client.clone(), dialogues.collect()).with_aborts();
    Ok(vec![stage.measure("", &work, 10 * count).await?])
}
