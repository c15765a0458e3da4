//! An opening that is not needed any more.

use std::sync::Arc;
use std::time::Duration;

use antiphon_store::{ResponseId, Store, Tenant};
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

/// How long to wait before it is tried again to drop an opening, at first and at the longest.
const PAUSES: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(30));

/// The opening of a turn that leaves nothing.
///
/// It has to go even if the store fails just now: it would be settled one day, behind turns that came
/// later, though its caller was told that nothing was changed; and whoever goes on from its response
/// would wait for a turn that has ended.
pub(super) struct Obsolete {
    pub(super) store: Arc<dyn Store>,
    pub(super) tenant: Tenant,
    pub(super) response: ResponseId,
}

impl Obsolete {
    /// Drops it; says whether it could.
    pub(super) async fn drop_now(&self) -> bool {
        let dropped = self.store.drop_opening(&self.tenant, &self.response).await;
        if let Err(error) = &dropped {
            tracing::warn!(%error, response = %self.response, "an opening is not dropped yet");
        }
        dropped.is_ok()
    }

    /// Tries again until it is dropped, or the gateway closes: the next start settles it then.
    pub(super) async fn drop_later(self, closing: CancellationToken) {
        let mut pause = PAUSES.0;
        loop {
            tokio::select! {
                () = sleep(pause) => {}
                () = closing.cancelled() => return,
            }
            if self.drop_now().await {
                return;
            }
            pause = (pause * 2).min(PAUSES.1);
        }
    }
}
