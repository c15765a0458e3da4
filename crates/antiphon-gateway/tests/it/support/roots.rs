//! Where requests go.

use std::sync::{Arc, Mutex, MutexGuard};

/// The gateways that a caller reaches: each request goes to the next, as a load balancer would have
/// it. It is shared with the world, which takes a gateway out before it stops it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Roots(Arc<Mutex<Rotation>>);

#[derive(Debug, Default)]
struct Rotation {
    roots: Vec<String>,
    next: usize,
}

impl Roots {
    /// One gateway alone.
    pub(crate) fn one(root: &str) -> Self {
        let roots = Self::default();
        roots.add(root);
        roots
    }

    pub(super) fn add(&self, root: &str) {
        self.rotation().roots.push(root.to_owned());
    }

    pub(super) fn remove(&self, root: &str) {
        self.rotation().roots.retain(|other| other != root);
    }

    /// Where the next request goes: `http://127.0.0.1:PORT`.
    pub(super) fn next(&self) -> String {
        let mut rotation = self.rotation();
        rotation.next += 1;
        let index = rotation.next % rotation.roots.len().max(1);
        rotation.roots.get(index).expect("a gateway runs").clone()
    }

    fn rotation(&self) -> MutexGuard<'_, Rotation> {
        self.0.lock().expect("no holder panics")
    }
}
