//! Retries store operations until the store works again.

use std::future::Future;
use std::time::Duration;

use antiphon_store::StoreError;
use tokio::time::sleep;

/// The pause after the first attempt. It doubles with each attempt, up to the longest pause.
const PAUSE: Duration = Duration::from_millis(10);
const LONGEST: Duration = Duration::from_mins(1);

/// The number of attempts, which last for a day. A disk may be full for a long time, and while this
/// process lives, no other process does this work.
const ATTEMPTS: usize = 24 * 60 + 13;

/// Retries the operation until it succeeds or the attempts are used up. `what` starts the log line
/// about a failed attempt, which ends with "yet".
pub(crate) async fn retry_in_background<F>(what: &str, mut attempt: impl FnMut() -> F)
where
    F: Future<Output = Result<(), StoreError>>,
{
    for pause in pauses() {
        match attempt().await {
            Ok(()) => return,
            Err(error) => tracing::warn!(%error, "{what} yet"),
        }
        sleep(pause).await;
    }
}

fn pauses() -> impl Iterator<Item = Duration> {
    let pauses = std::iter::successors(Some(PAUSE), |pause| Some((*pause * 2).min(LONGEST)));
    pauses.take(ATTEMPTS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn it_is_attempted_until_it_is_done() {
        let mut answers = [true, true, false].into_iter();
        retry_in_background("it is not done", || {
            let fails = answers.next().expect("nothing is left to be done");
            async move { if fails { Err(StoreError::LeaseLost) } else { Ok(()) } }
        })
        .await;
        assert_eq!(answers.next(), None);
    }

    #[test]
    fn first_attempt_is_at_once_and_retries_last_a_day() {
        assert!(pauses().take(5).sum::<Duration>() < Duration::from_secs(1));
        assert_eq!(pauses().max(), Some(LONGEST));
        assert_eq!(pauses().sum::<Duration>().as_secs() / 60 / 60, 24);
    }
}
