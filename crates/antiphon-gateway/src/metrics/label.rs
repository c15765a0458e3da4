//! Labels whose values come from outside.

use std::collections::HashSet;
use std::sync::{PoisonError, RwLock};

/// The value that stands for all values beyond the maximum.
const OTHER: &str = "other";

/// The maximum length of a value in bytes. A longer one is counted as [`OTHER`].
const MAX_LENGTH: usize = 128;

/// A label with a bounded number of values: the first ones keep their names.
#[derive(Debug)]
pub(super) struct BoundedLabel {
    known: RwLock<HashSet<String>>,
    maximum: usize,
}

impl BoundedLabel {
    pub(super) fn new(maximum: usize) -> Self {
        Self { known: RwLock::default(), maximum }
    }

    /// The value itself, or `other` if there are too many or it is too long.
    pub(super) fn bounded<'a>(&self, value: &'a str) -> &'a str {
        let is_known = self.known.read().unwrap_or_else(PoisonError::into_inner).contains(value);
        if is_known || self.add(value) { value } else { OTHER }
    }

    /// Adds a value. Returns whether there was room.
    fn add(&self, value: &str) -> bool {
        if value.len() > MAX_LENGTH {
            return false;
        }
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        known.contains(value) || known.len() < self.maximum && known.insert(value.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_beyond_the_maximum_are_counted_together() {
        let label = BoundedLabel::new(2);
        let long = "x".repeat(MAX_LENGTH + 1);
        let counted = ["a", &long, "b", "c", "a", "c"].map(|value| label.bounded(value));
        assert_eq!(counted, ["a", OTHER, "b", OTHER, "a", OTHER]);
    }
}
