//! Converts items to arrays of statement parameters, and rows to items.

use antiphon::HeldItem;
use bytes::Bytes;
use tokio_postgres::Row;

use super::failure::Failure;
use crate::item_columns::ItemColumns;
pub(super) use crate::item_columns::item_columns;

/// The number of item columns.
pub(super) const COLUMNS: usize = 9;

/// Items by column.
#[derive(Debug, Default)]
pub(super) struct Arrays<'a> {
    pub(super) item_ids: Vec<&'a [u8]>,
    pub(super) own_ids: Vec<Option<&'a [u8]>>,
    pub(super) kinds: Vec<&'a [u8]>,
    pub(super) call_ids: Vec<Option<&'a [u8]>>,
    pub(super) roles: Vec<Option<&'a str>>,
    pub(super) flags: Vec<i64>,
    pub(super) fingerprints: Vec<Option<Vec<u8>>>,
    pub(super) origins: Vec<Option<&'a [u8]>>,
    pub(super) bodies: Vec<Option<&'a [u8]>>,
}

impl<'a> Arrays<'a> {
    pub(super) fn from_items(items: impl Iterator<Item = &'a HeldItem>) -> Self {
        let mut arrays = Self::default();
        for item in items {
            arrays.push(&ItemColumns::from_item(item));
        }
        arrays
    }

    fn push(&mut self, columns: &ItemColumns<'a, &'a [u8]>) {
        self.item_ids.push(columns.item_id.as_bytes());
        self.own_ids.push(columns.own_id.map(str::as_bytes));
        self.kinds.push(columns.kind.as_bytes());
        self.call_ids.push(columns.call_id.map(str::as_bytes));
        self.roles.push(columns.role);
        self.flags.push(columns.flags);
        self.fingerprints.push(columns.fingerprint.map(Vec::from));
        self.origins.push(columns.origin.map(str::as_bytes));
        self.bodies.push(columns.body);
    }
}

/// The arrays as the rows of a table. The column `at` numbers them from 1.
macro_rules! given_items {
    ($from:literal) => {
        concat!(
            "unnest(",
            $from,
            ") WITH ORDINALITY AS given (item_id, own_id, kind, call_id, role, flags, fingerprint, \
             origin, body, at)"
        )
    };
}
pub(super) use given_items;

/// Reads an item from a row's first columns.
pub(super) fn read(row: &Row) -> Result<HeldItem, Failure> {
    let columns = ItemColumns {
        item_id: text(row.try_get(0)?)?,
        own_id: optional_text(row.try_get(1)?)?,
        kind: text(row.try_get(2)?)?,
        call_id: optional_text(row.try_get(3)?)?,
        role: row.try_get(4)?,
        flags: row.try_get(5)?,
        fingerprint: row.try_get::<_, Option<&[u8]>>(6)?.map(sixteen).transpose()?,
        origin: optional_text(row.try_get(7)?)?,
        body: row.try_get::<_, Option<&[u8]>>(8)?.map(Bytes::copy_from_slice),
    };
    Ok(columns.into_item())
}

/// Reads the items of all rows.
pub(super) fn read_all(rows: &[Row]) -> Result<Vec<HeldItem>, Failure> {
    rows.iter().map(read).collect()
}

/// Reads a digest of 16 bytes.
pub(super) fn sixteen(bytes: &[u8]) -> Result<[u8; 16], Failure> {
    bytes.try_into().map_err(|_| Failure::unreadable("a digest that is not 16 bytes long"))
}

/// Reads a text that is stored as bytes.
pub(super) fn text(bytes: &[u8]) -> Result<&str, Failure> {
    std::str::from_utf8(bytes).map_err(|_| Failure::unreadable("a text that is not UTF-8"))
}

fn optional_text(bytes: Option<&[u8]>) -> Result<Option<&str>, Failure> {
    bytes.map(text).transpose()
}
