//! A bound on waiting, so that what never happens fails its test instead of hanging it.

use std::future::Future;
use std::time::Duration;

/// Far more than anything here takes; nothing depends on its length.
const BOUND: Duration = Duration::from_mins(1);

/// What `future` comes to; `what` says what was awaited, should it never come.
pub(crate) async fn soon<T>(what: &str, future: impl Future<Output = T>) -> T {
    let bounded = tokio::time::timeout(BOUND, future).await;
    bounded.unwrap_or_else(|_| panic!("this never happened: {what}"))
}
