//! What has to be done in the store, and can wait until the store works again.

use std::future::Future;
use std::time::Duration;

use antiphon_store::StoreError;
use tokio::time::sleep;

/// The pause behind the first attempt. Each later one is twice as long as the last.
const PAUSE: Duration = Duration::from_millis(10);

/// How many attempts there are: they last for some minutes.
const ATTEMPTS: u32 = 15;

/// Attempts it until it is done, or given up; `what` is not done yet as long as that.
pub(crate) async fn eventually<F>(what: &str, mut attempt: impl FnMut() -> F)
where
    F: Future<Output = Result<(), StoreError>>,
{
    let mut pause = PAUSE;
    for _ in 0..ATTEMPTS {
        match attempt().await {
            Ok(()) => return,
            Err(error) => tracing::warn!(%error, "{what} yet"),
        }
        sleep(pause).await;
        pause *= 2;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn it_is_attempted_until_it_is_done() {
        let mut answers = [true, true, false].into_iter();
        eventually("it is not done", || {
            let fails = answers.next().expect("nothing is left to be done");
            async move { if fails { Err(StoreError::LeaseLost) } else { Ok(()) } }
        })
        .await;
        assert_eq!(answers.next(), None);
    }
}
