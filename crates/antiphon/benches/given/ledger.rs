//! Turns of a conversation that a provider stores, of which only heads and fingerprints are known.

use antiphon::reconcile::reconcile;
use antiphon::repair::{Policy, repair_after};
use antiphon::{HeldItem, Item};

use super::history::{KEY, Turn};

impl Turn {
    /// The same turn if a provider has the bodies of the stored items.
    pub(crate) fn owned_by_upstream(self) -> Self {
        let held: Vec<HeldItem> = self.held.into_iter().map(HeldItem::without_body).collect();
        Self { transcript: held.iter().cloned().collect(), held, incoming: self.incoming }
    }

    /// The input for the provider: the fresh items, repaired as the continuation of the stored
    /// ones.
    pub(crate) fn sent(&self) -> Vec<Item> {
        let verdicts = reconcile(&self.transcript, &self.incoming, KEY).into_iter();
        let mut items: Vec<Item> =
            self.transcript.items().iter().filter_map(HeldItem::outline).collect();
        let held = items.len();
        let fresh = self.incoming.iter().zip(verdicts).filter(|(_, verdict)| verdict.is_fresh());
        items.extend(fresh.map(|(item, _)| item.clone()));
        repair_after(held, &items, &Policy::default()).items
    }
}
