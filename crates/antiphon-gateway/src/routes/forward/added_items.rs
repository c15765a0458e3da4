//! Repairs the items that a body adds to a conversation of an upstream.

use antiphon::Item;
use antiphon::item::parse_items;
use antiphon::json::{Object, range_of_slice, replace_array};
use antiphon::repair::repair_missing_ids;
use bytes::Bytes;

/// The body with ids for the items that need one and come without it, and the number of repairs.
/// `None` if there is nothing to repair, or nothing would be left to add.
pub(super) fn with_missing_ids(body: &Bytes) -> Option<(Bytes, usize)> {
    let text = std::str::from_utf8(body).ok()?;
    let fields = Object::parse(body).ok()?;
    let items = fields.present("items")?;
    let repaired = repair_missing_ids(&parse_items(&body.slice_ref(items.as_bytes())).ok()?);
    if repaired.repairs.is_empty() || repaired.items.is_empty() {
        return None;
    }
    let items = (range_of_slice(text, items), repaired.items.iter().map(Item::text));
    Some((replace_array(text, items.0, items.1).into(), repaired.repairs.len()))
}
