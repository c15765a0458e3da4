//! Turns in front of a provider that keeps the conversation: here are its heads and fingerprints.

use antiphon::reconcile::reconcile;
use antiphon::repair::{Policy, repair_behind};
use antiphon::{HeldItem, Item};

use super::history::{KEY, Turn};

impl Turn {
    /// The same turn where a provider has the bytes of what is held.
    pub(crate) fn kept_upstream(self) -> Self {
        let held: Vec<HeldItem> = self.held.into_iter().map(HeldItem::elsewhere).collect();
        Self { transcript: held.iter().cloned().collect(), held, incoming: self.incoming }
    }

    /// What the provider is sent: what it does not have, mended as the continuation of what it has.
    pub(crate) fn sent(&self) -> Vec<Item> {
        let verdicts = reconcile(&self.transcript, &self.incoming, KEY).into_iter();
        let mut items: Vec<Item> =
            self.transcript.items().iter().filter_map(HeldItem::outline).collect();
        let held = items.len();
        let fresh = self.incoming.iter().zip(verdicts).filter(|(_, verdict)| verdict.is_fresh());
        items.extend(fresh.map(|(item, _)| item.clone()));
        repair_behind(held, &items, &Policy::default()).items
    }
}
