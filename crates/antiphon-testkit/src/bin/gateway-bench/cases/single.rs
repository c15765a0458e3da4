//! One turn of a new dialogue.

use super::Stage;
use crate::dialogue::Dialogue;
use crate::load::Work;
use crate::options::Case;
use crate::results::Row;
use crate::upstream::Script;

pub(super) async fn run(stage: &Stage<'_>) -> anyhow::Result<Vec<Row>> {
    let (script, requests, dialogue) = match stage.case {
        Case::Stream60 => (Script::deltas(60), 4_000, Dialogue::chain(0).streaming()),
        Case::Stream60Paced => {
            let script = Script { pause_micros: 1_000, ..Script::deltas(60) };
            (script, 4_000, Dialogue::chain(0).streaming())
        }
        Case::Stream2000 => (Script::deltas(2_000), 400, Dialogue::chain(0).streaming()),
        _ => (Script::deltas(60), 4_000, Dialogue::chain(0)),
    };
    let work = Work::first_turns(stage.client.clone(), dialogue);
    stage.prepare(&script, &work).await?;
    Ok(vec![stage.measure("", &work, stage.count(requests)).await?])
}
