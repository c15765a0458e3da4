//! The cases: loads with their scripts.

mod chain;
mod chat;
mod depth;
mod dialogues;
mod idle;
mod io;
mod kill;
mod latency;
mod single;
mod stage;
mod start;
mod telemetry;
mod translated;

pub(crate) use self::stage::Stage;
use crate::options::Case;
use crate::results::Row;

/// The concurrency of a closed load.
pub(crate) const CONCURRENCY: usize = 16;

/// Runs a case on a server that was just started.
pub(crate) async fn run(stage: &mut Stage<'_>) -> anyhow::Result<Vec<Row>> {
    match stage.case {
        Case::Json | Case::Stream60 | Case::Stream60Paced | Case::Stream2000 => {
            single::run(stage).await
        }
        Case::Chat => chat::run(stage).await,
        Case::Translated => translated::run(stage).await,
        Case::Chain100 => chain::run(stage).await,
        Case::Depth => depth::chains(stage).await,
        Case::Replay => depth::replays(stage).await,
        Case::Writers => dialogues::writers(stage).await,
        Case::Tools => dialogues::tools(stage).await,
        Case::Aborts => dialogues::aborts(stage).await,
        Case::LatencyJson | Case::LatencyStream60 => latency::run(stage).await,
        Case::Io => io::run(stage).await,
        Case::Telemetry => telemetry::run(stage).await,
        Case::Idle => idle::run(stage).await,
        Case::Kill => kill::run(stage).await,
        Case::Start => start::run(stage).await,
    }
}
