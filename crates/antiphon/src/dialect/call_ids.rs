//! Call ids that are unique in a request.

use std::collections::{HashMap, HashSet};

/// The ids in use. An API may restrict ids more than the Responses API does, so a call may need
/// another id. An id never depends on later calls: the next request of the conversation begins with
/// the same bytes, as prompt caches need it.
#[derive(Default)]
pub(super) struct CallIds {
    taken: HashSet<String>,
    /// The last number that was appended to each stem.
    numbers: HashMap<String, usize>,
}

impl CallIds {
    /// The id for the next call: `id` if the API allows it and it is free, or else the first free
    /// one of `stem_2`, `stem_3` and so on.
    pub(super) fn next(&mut self, id: Option<&str>, stem: &str) -> String {
        if let Some(id) = id.filter(|id| self.taken.insert((*id).to_owned())) {
            return id.to_owned();
        }
        let number = self.numbers.entry(stem.to_owned()).or_insert(1);
        loop {
            *number += 1;
            let id = format!("{stem}_{number}");
            if self.taken.insert(id.clone()) {
                return id;
            }
        }
    }
}
