//! Retries store operations until the store works again.

use std::future::Future;

use antiphon_store::StoreError;
use tokio::time::sleep;

use crate::retry_policy::RetryPolicy;

/// Retries the operation until it succeeds or the attempts are used up. `what` starts the log line
/// about a failed attempt, which ends with "yet".
pub(crate) async fn retry_in_background<F>(what: &str, mut attempt: impl FnMut() -> F)
where
    F: Future<Output = Result<(), StoreError>>,
{
    for retry in 0.. {
        match attempt().await {
            Ok(()) => return,
            Err(error) => tracing::warn!(%error, "{what} yet"),
        }
        let Some(delay) = RetryPolicy::BACKGROUND.delay(retry, None, 0) else { return };
        sleep(delay).await;
    }
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
}
