//! Finds the item of an upstream's event.

use std::collections::HashMap;

use crate::item::{CallKey, Item};
use crate::stream::output_item::call_key;

/// An output item, and one of its announcements by the upstream.
#[derive(Clone, Copy, Debug)]
pub(super) struct Route {
    /// The item's position in the output.
    pub(super) at: usize,
    /// The number of the announcement, from 0.
    pub(super) announcement: u32,
}

impl Route {
    /// Routes to the item at this position, by its first announcement.
    pub(super) fn first(at: usize) -> Self {
        Self { at, announcement: 0 }
    }
}

/// The output items by the upstream's names: output index, item id, call. If the upstream gives two
/// items the same name, the later announcement wins.
#[derive(Default)]
pub(super) struct Routes {
    by_index: HashMap<u64, Route>,
    by_id: HashMap<String, Route>,
    by_call: HashMap<CallKey, Route>,
}

impl Routes {
    /// Adds an announcement.
    pub(super) fn add(&mut self, index: Option<u64>, item: &Item, route: Route) {
        if let Some(index) = index {
            self.by_index.insert(index, route);
        }
        if let Some(id) = &item.head().id {
            self.by_id.insert(id.as_str().to_owned(), route);
        }
        if let Some(key) = call_key(item) {
            self.by_call.insert(key, route);
        }
    }

    pub(super) fn by_index(&self, index: Option<u64>) -> Option<Route> {
        self.by_index.get(&index?).copied()
    }

    pub(super) fn by_id(&self, id: &str) -> Option<Route> {
        self.by_id.get(id).copied()
    }

    pub(super) fn by_call(&self, key: &CallKey) -> Option<Route> {
        self.by_call.get(key).copied()
    }

    /// The routes by the item's call and by its id.
    pub(super) fn by_names(&self, item: &Item) -> [Option<Route>; 2] {
        let by_call = call_key(item).and_then(|key| self.by_call(&key));
        let id = item.head().id.as_ref();
        [by_call, id.and_then(|id| self.by_id(id.as_str()))]
    }
}
