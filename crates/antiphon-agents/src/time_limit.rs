//! The limit of a wait.

use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

/// Waits for a future. `None` if it does not end within `limit`.
///
/// A future that ends at once needs no timer, and so no runtime with one.
pub(crate) async fn within<T>(limit: Duration, future: impl Future<Output = T>) -> Option<T> {
    let mut future = pin!(future);
    let at_once = std::future::poll_fn(|context| Poll::Ready(future.as_mut().poll(context))).await;
    match at_once {
        Poll::Ready(done) => Some(done),
        Poll::Pending => tokio::time::timeout(limit, future).await.ok(),
    }
}
