//! Encodes the items of a segment.
//!
//! Each item is a row of nine fields, in the order of [`ItemColumns`]. A field is its length plus
//! one, or zero if it is absent, and its bytes. Numbers are written seven bits at a time, lowest
//! first; the highest bit of a byte says that more follow.

use std::iter::Peekable;

use antiphon::HeldItem;
use bytes::{Buf as _, Bytes};

use crate::error::StoreError;
use crate::item_columns::ItemColumns;

type Result<T> = std::result::Result<T, StoreError>;

/// The number of encoded bytes after which a segment takes no more items. A reader loads a whole
/// segment.
const FULL: usize = 256 << 10;

/// Takes the items of the next segment, and encodes them. A large item has a segment of its own.
pub(crate) fn fill<'a>(
    items: &mut Peekable<impl Iterator<Item = &'a HeldItem>>,
) -> (Vec<u8>, Vec<&'a HeldItem>) {
    let (mut encoded, mut taken) = (Vec::new(), Vec::new());
    while encoded.len() < FULL
        && let Some(item) = items.next_if(|item| has_room(&encoded, item))
    {
        push(&mut encoded, item);
        taken.push(item);
    }
    (encoded, taken)
}

fn has_room(encoded: &[u8], item: &HeldItem) -> bool {
    encoded.is_empty() || item.length() < FULL - encoded.len().min(FULL)
}

fn push(encoded: &mut Vec<u8>, item: &HeldItem) {
    let columns = ItemColumns::from_item(item);
    push_field(encoded, Some(columns.item_id.as_bytes()));
    push_field(encoded, columns.own_id.map(str::as_bytes));
    push_field(encoded, Some(columns.kind.as_bytes()));
    push_field(encoded, columns.call_id.map(str::as_bytes));
    push_field(encoded, columns.role.map(str::as_bytes));
    push_number(encoded, columns.flags.unsigned_abs());
    push_field(encoded, columns.fingerprint.as_ref().map(<[u8; 16]>::as_slice));
    push_field(encoded, columns.origin.map(str::as_bytes));
    push_field(encoded, columns.body);
}

/// Encodes these items.
pub(crate) fn encode<'a>(items: impl IntoIterator<Item = &'a HeldItem>) -> Vec<u8> {
    let mut encoded = Vec::new();
    items.into_iter().for_each(|item| push(&mut encoded, item));
    encoded
}

/// The items of a segment. Their bodies share the memory of `encoded`.
pub(crate) fn decode(mut encoded: Bytes) -> Result<Vec<HeldItem>> {
    let mut items = Vec::new();
    while encoded.has_remaining() {
        items.push(read(&mut encoded)?);
    }
    Ok(items)
}

fn damaged() -> StoreError {
    StoreError::Unavailable("the items of a stored segment are damaged".into())
}

fn push_field(encoded: &mut Vec<u8>, field: Option<&[u8]>) {
    push_number(encoded, field.map_or(0, |field| field.len() as u64 + 1));
    encoded.extend_from_slice(field.unwrap_or_default());
}

fn push_number(encoded: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        encoded.push(number.to_le_bytes()[0] | 0x80);
        number >>= 7;
    }
    encoded.push(number.to_le_bytes()[0]);
}

fn read(encoded: &mut Bytes) -> Result<HeldItem> {
    let item_id = read_field(encoded)?.ok_or_else(damaged)?;
    let own_id = read_field(encoded)?;
    let kind = read_field(encoded)?.ok_or_else(damaged)?;
    let call_id = read_field(encoded)?;
    let role = read_field(encoded)?;
    let flags = i64::try_from(read_number(encoded)?).map_err(|_| damaged())?;
    let fingerprint = read_field(encoded)?;
    let origin = read_field(encoded)?;
    let body = read_field(encoded)?;
    let fingerprint = fingerprint.map(|it| it.as_ref().try_into().map_err(|_| damaged()));
    let columns = ItemColumns {
        item_id: text(&item_id)?,
        own_id: own_id.as_ref().map(text).transpose()?,
        kind: text(&kind)?,
        call_id: call_id.as_ref().map(text).transpose()?,
        role: role.as_ref().map(text).transpose()?,
        flags,
        fingerprint: fingerprint.transpose()?,
        origin: origin.as_ref().map(text).transpose()?,
        body,
    };
    Ok(columns.into_item())
}

fn text(field: &Bytes) -> Result<&str> {
    std::str::from_utf8(field).map_err(|_| damaged())
}

fn read_field(encoded: &mut Bytes) -> Result<Option<Bytes>> {
    let Some(length) = read_number(encoded)?.checked_sub(1) else { return Ok(None) };
    match usize::try_from(length) {
        Ok(length) if length <= encoded.len() => Ok(Some(encoded.split_to(length))),
        _ => Err(damaged()),
    }
}

fn read_number(encoded: &mut Bytes) -> Result<u64> {
    let mut number = 0;
    for shift in (0..u64::BITS).step_by(7) {
        let byte = encoded.try_get_u8().map_err(|_| damaged())?;
        number |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Ok(number);
        }
    }
    Err(damaged())
}

#[cfg(test)]
mod tests {
    use antiphon::item::FingerprintKey;
    use antiphon::{Body, Item, ItemId, Origin};

    use super::*;

    fn item(id: &str, json: String, origin: Option<&str>) -> HeldItem {
        let item = Item::parse(json.into()).unwrap();
        let origin = origin.map(Origin::new);
        HeldItem::new(ItemId::from(id), &item, FingerprintKey::new([7; 16]), origin)
    }

    fn items() -> Vec<HeldItem> {
        let long = "é".repeat(100_000);
        let call = r#"{"type":"function_call","id":"fc_9","call_id":"call_1","arguments":"{}"}"#;
        let said = format!(r#"{{"type":"message","role":"user","content":"{long}"}}"#);
        let mut erased = item("msg_3", said.clone(), None);
        erased.body = Body::Erased;
        vec![
            item("fc_1", call.to_owned(), Some("openai gpt")),
            item("", said.clone(), None),
            erased,
            item("msg_4", said, Some("")).without_body(),
        ]
    }

    #[test]
    fn items_are_decoded_as_encoded() {
        let encoded = encode(&items());
        assert_eq!(decode(encoded.into()), Ok(items()));
        assert_eq!(decode(Bytes::new()), Ok(Vec::new()));
    }

    #[test]
    fn truncated_segment_is_damaged() {
        let encoded = encode(&items()[..1]);
        for end in 1..encoded.len() {
            assert_eq!(decode(Bytes::copy_from_slice(&encoded[..end])), Err(damaged()), "{end}");
        }
    }
}
