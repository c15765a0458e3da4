//! The points of a process at which a test can kill it.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use antiphon::Item;
use antiphon::item::CallKey;
use antiphon_agents::session::{SessionContent, SessionError, SessionStore};
use async_trait::async_trait;

/// The line that a process prints when it has reached its last point.
pub(crate) const STOPPED: &str = "stopped at its last point";

/// The number of points that this process may pass.
static LEFT: AtomicUsize = AtomicUsize::new(usize::MAX);

/// Lets this process pass so many points.
pub(crate) fn allow(points: usize) {
    LEFT.store(points, Ordering::SeqCst);
}

/// Passes a point. After the last one, all threads of the run stand still until the process is
/// killed.
pub(crate) fn pass() {
    let left = LEFT.fetch_sub(1, Ordering::SeqCst);
    if left == 0 {
        println!("{STOPPED}");
        loop {
            std::thread::park();
        }
    }
}

/// A store with a point before and after each change.
pub(crate) struct Watched(pub(crate) Arc<dyn SessionStore>);

#[async_trait]
impl SessionStore for Watched {
    async fn load(&self, key: &str) -> Result<SessionContent, SessionError> {
        self.0.load(key).await
    }

    async fn append(
        &self,
        key: &str,
        items: &[Item],
        started: &[CallKey],
    ) -> Result<(), SessionError> {
        pass();
        self.0.append(key, items, started).await?;
        pass();
        Ok(())
    }

    async fn replace(&self, key: &str, old: usize, new: &[Item]) -> Result<(), SessionError> {
        pass();
        self.0.replace(key, old, new).await?;
        pass();
        Ok(())
    }

    async fn pop(&self, key: &str, tail: &[Item]) -> Result<bool, SessionError> {
        self.0.pop(key, tail).await
    }

    async fn clear(&self, key: &str) -> Result<(), SessionError> {
        self.0.clear(key).await
    }

    async fn save_run(&self, key: &str, state: Option<&str>) -> Result<(), SessionError> {
        pass();
        self.0.save_run(key, state).await?;
        pass();
        Ok(())
    }

    async fn run(&self, key: &str) -> Result<Option<String>, SessionError> {
        self.0.run(key).await
    }
}
