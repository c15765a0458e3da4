//! Dialogues of 100 turns that continue by `previous_response_id`.

use super::Stage;
use crate::dialogue::Dialogue;
use crate::load::Work;
use crate::results::Row;
use crate::upstream::Script;

/// The turns of each part, and the parts that the table shows.
const PARTS: [(&str, usize, bool); 3] =
    [("turns 1-10", 10, true), ("turns 11-90", 80, false), ("turns 91-100", 10, true)];

pub(super) async fn run(stage: &Stage<'_>) -> anyhow::Result<Vec<Row>> {
    let chains = stage.count(160);
    let warm_up = Work::first_turns(stage.client.clone(), Dialogue::chain(0));
    stage.prepare(&Script::deltas(60), &warm_up).await?;
    let dialogues = (1_000_000..).take(chains).map(Dialogue::chain).collect();
    let work = Work::continued(stage.client.clone(), dialogues);
    let mut rows = Vec::new();
    for (part, turns, is_shown) in PARTS {
        let row = stage.measure(part, &work, turns * chains).await?;
        if is_shown {
            rows.push(row);
        }
    }
    Ok(rows)
}
