//! The timing of a streamed answer.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::{Stream, stream};
use tokio::sync::watch;
use tokio::time::sleep;

use super::Rendered;
use super::script::Script;

/// The events, with the pauses of the script. `scripts` announces the end of a hold.
pub(super) fn paced(
    events: Vec<Bytes>,
    script: &Script,
    scripts: watch::Receiver<Arc<Rendered>>,
) -> impl Stream<Item = Result<Bytes, Infallible>> + use<> {
    let pause = Duration::from_micros(script.pause_micros);
    let hold_after = script.hold_after;
    let events = events.into_iter().enumerate();
    stream::unfold((events, scripts), move |(mut events, mut scripts)| async move {
        let (index, event) = events.next()?;
        if hold_after == Some(index) {
            drop(scripts.changed().await);
        }
        if !pause.is_zero() {
            sleep(pause).await;
        }
        Some((Ok(event), (events, scripts)))
    })
}
