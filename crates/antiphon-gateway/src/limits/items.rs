//! Limits on the number and the size of items.

use antiphon::Item;

use crate::error::ApiError;
use crate::settings::Limits;

/// Rejects items over the limits with the provider's error texts. `path` is the path of the array.
pub(crate) fn check_items(items: &[Item], path: &str, limits: &Limits) -> Result<(), ApiError> {
    if items.len() > limits.max_items {
        return Err(ApiError::ArrayTooLong {
            path: path.into(),
            maximum: limits.max_items,
            length: items.len(),
        });
    }
    let mut lengths = items.iter().map(|item| item.raw().len()).enumerate();
    match lengths.find(|(_, length)| *length > limits.max_item_bytes) {
        None => Ok(()),
        Some((position, length)) => check_item(length, &format!("{path}[{position}]"), limits),
    }
}

/// Rejects an item whose length in bytes exceeds the limit.
pub(crate) fn check_item(length: usize, path: &str, limits: &Limits) -> Result<(), ApiError> {
    let maximum = limits.max_item_bytes;
    if length <= maximum {
        return Ok(());
    }
    Err(ApiError::ItemTooLong { path: path.into(), maximum, length })
}
