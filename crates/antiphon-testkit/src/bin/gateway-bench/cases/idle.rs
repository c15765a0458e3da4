//! Streams that wait for their model.

use std::fs;

use antiphon_testkit::{Protocol, TlsServer};
use futures_util::{StreamExt as _, stream};

use super::Stage;
use super::stage::as_f64;
use crate::client::OpenReply;
use crate::dialogue::Dialogue;
use crate::load::Work;
use crate::platform::open_file_limit;
use crate::results::{Metric, Row};
use crate::servers::{UPSTREAM, UPSTREAM_CA_FILE};
use crate::upstream::Script;

const STREAMS: u64 = 10_000;
const SHORT: u64 = 1_000;
/// The events of a stream before it waits: the last of them is the first delta.
const EVENTS: usize = 5;
/// The number of streams that open at once.
const AT_ONCE: usize = 64;
/// A server uses two files for each stream, and some more.
const FILES_PER_STREAM: u64 = 2;
const FILES_RESERVED: u64 = 256;

/// Measures an upstream with HTTP/1.1 without TLS, and one with HTTP/2 and TLS, as providers are.
pub(super) async fn run(stage: &Stage<'_>) -> anyhow::Result<Vec<Row>> {
    let mut rows = vec![measure(stage, "HTTP/1.1 upstream").await?];
    if stage.server.is_antiphon {
        let server = TlsServer::start(stage.upstream.address, &[Protocol::Http2]).await?;
        let authority = tempfile::NamedTempFile::new()?;
        fs::write(authority.path(), server.authority())?;
        let environment = [
            (UPSTREAM, server.base_url()),
            (UPSTREAM_CA_FILE, authority.path().display().to_string()),
        ];
        let running = stage.running.start_beside(environment.into()).await?;
        rows.push(measure(&stage.with_running(running), "HTTP/2 upstream").await?);
    }
    Ok(rows)
}

/// Opens many streams, and measures the memory while all of them wait, and after their end. Opens
/// fewer if the limit of open files is too low.
async fn measure(stage: &Stage<'_>, part: &str) -> anyhow::Result<Row> {
    let limit = open_file_limit()?;
    let most = limit.saturating_sub(FILES_RESERVED) / FILES_PER_STREAM;
    let count = most.min(if stage.short { SHORT } else { STREAMS });
    let mut row = stage.row(part, [].into());
    let dialogue = Dialogue::chain(0).streaming();
    let work = Work::first_turns(stage.client.clone(), dialogue.clone());
    stage.prepare(&Script::deltas(60), &work).await?;
    stage.upstream.follow(&Script { hold_after: Some(EVENTS), ..Script::deltas(60) }).await?;

    let before = stage.running.usage().resident;
    let opened = stream::iter(1_000_000..1_000_000 + count)
        .map(|number| open(stage, dialogue.clone().numbered(number)))
        .buffer_unordered(AT_ONCE);
    let opened: Vec<anyhow::Result<OpenReply>> = opened.collect().await;
    let after = stage.running.usage().resident;

    stage.upstream.follow(&Script::deltas(60)).await?;
    let mut completed = 0;
    for open in opened {
        match async { open?.read_to_terminal().await }.await {
            Ok(_) => completed += 1,
            Err(error) if row.notes.is_empty() => {
                row.notes.push(format!("first failure: {error:#}"));
            }
            Err(_) => {}
        }
    }
    row.numbers.extend([
        (Metric::Streams, as_f64(count)),
        (Metric::CompletedStreams, as_f64(completed)),
        (Metric::BytesPerStream, as_f64(after.saturating_sub(before)) / as_f64(count)),
        (Metric::ResidentMegabytes, as_f64(after) / 1e6),
        (Metric::ResidentMegabytesAfterEnd, as_f64(stage.running.usage().resident) / 1e6),
    ]);
    stage.judge(&mut row).await?;
    Ok(row)
}

/// Opens a stream and reads its first delta.
async fn open(stage: &Stage<'_>, dialogue: Dialogue) -> anyhow::Result<OpenReply> {
    let mut open = dialogue.open_turn(&stage.client).await?;
    open.read_until(|received| memchr::memmem::find(received, b".delta").is_some()).await?;
    Ok(open)
}
