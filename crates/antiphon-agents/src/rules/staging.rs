//! Input that waits for the next request of a run.

use antiphon::item::Item;
use antiphon::tracker::RunFinished;
use serde::{Deserialize, Serialize};

use crate::item_json;

/// Input for a run, in order. It is admitted once, after the outputs of the open calls.
///
/// It is serialized with the run. Items keep their bytes if the serialized text is restored
/// unchanged.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Staging {
    #[serde(with = "item_json::list")]
    waiting: Vec<Item>,
    is_finished: bool,
}

impl Staging {
    /// Adds an item. Adding the same item twice stages it twice.
    pub(crate) fn stage(&mut self, item: Item) -> Result<(), RunFinished> {
        if self.is_finished {
            return Err(RunFinished);
        }
        self.waiting.push(item);
        Ok(())
    }

    /// The staged items.
    pub(crate) fn waiting(&self) -> &[Item] {
        &self.waiting
    }

    /// Takes the staged items.
    pub(crate) fn take(&mut self) -> Vec<Item> {
        std::mem::take(&mut self.waiting)
    }

    /// Records the end of the run: no more items can be staged. The staged items stay.
    pub(crate) fn finish(&mut self) {
        self.is_finished = true;
    }
}
