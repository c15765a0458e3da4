//! A held item as columns: its head is read back without a look at its bytes.

use antiphon::{CallId, Fingerprint, Head, HeldItem, ItemId, Kind, Origin, Role};
use bytes::Bytes;
use rusqlite::{Result, Row, Statement};

/// The columns that hold an item, in the order of [`bind`] and [`read`].
macro_rules! item_columns {
    () => {
        "item_id, own_id, kind, call_id, role, flags, fingerprint, origin, body"
    };
}
pub(super) use item_columns;

/// How many columns there are.
pub(super) const COLUMNS: usize = 9;

/// The bytes carry an id: the one that the item is held under, unless `own_id` names another.
const OWN_ID: i64 = 1;
const UNFINISHED: i64 = 1 << 1;
const ENCRYPTED: i64 = 1 << 2;
const SUPERSEDES: i64 = 1 << 3;

/// Binds the item's columns to the parameters from `first` on.
pub(super) fn bind(statement: &mut Statement<'_>, first: usize, item: &HeldItem) -> Result<()> {
    let head = &item.head;
    let own_id = head.id.as_ref().filter(|id| **id != item.id);
    let fingerprint = item.fingerprint.map(|it| it.as_u128().to_be_bytes());
    statement.raw_bind_parameter(first, item.id.as_str())?;
    statement.raw_bind_parameter(first + 1, own_id.map(ItemId::as_str))?;
    statement.raw_bind_parameter(first + 2, head.kind.as_str())?;
    statement.raw_bind_parameter(first + 3, head.call_id.as_ref().map(CallId::as_str))?;
    statement.raw_bind_parameter(first + 4, head.role.map(role_name))?;
    statement.raw_bind_parameter(first + 5, flags(item))?;
    statement.raw_bind_parameter(first + 6, fingerprint)?;
    statement.raw_bind_parameter(first + 7, item.origin.as_ref().map(Origin::as_str))?;
    statement.raw_bind_parameter(first + 8, item.body.as_deref())
}

/// Reads an item from a row's first columns.
pub(super) fn read(row: &Row<'_>) -> Result<HeldItem> {
    let id = ItemId::from(row.get_ref(0)?.as_str()?);
    let flags: i64 = row.get(5)?;
    let own_id = row.get_ref(1)?.as_str_or_null()?.map(ItemId::from);
    let head = Head {
        kind: Kind::parse(row.get_ref(2)?.as_str()?),
        id: own_id.or_else(|| (flags & OWN_ID != 0).then(|| id.clone())),
        call_id: row.get_ref(3)?.as_str_or_null()?.map(CallId::from),
        role: row.get_ref(4)?.as_str_or_null()?.map(Role::parse),
        unfinished: flags & UNFINISHED != 0,
        encrypted: flags & ENCRYPTED != 0,
    };
    let fingerprint: Option<[u8; 16]> = row.get(6)?;
    Ok(HeldItem {
        id,
        head,
        fingerprint: fingerprint.map(|it| Fingerprint::from_u128(u128::from_be_bytes(it))),
        origin: row.get_ref(7)?.as_str_or_null()?.map(Origin::new),
        supersedes: flags & SUPERSEDES != 0,
        body: row.get_ref(8)?.as_bytes_or_null()?.map(Bytes::copy_from_slice),
    })
}

fn flags(item: &HeldItem) -> i64 {
    let flag = |is_set: bool, flag: i64| if is_set { flag } else { 0 };
    flag(item.head.id.is_some(), OWN_ID)
        | flag(item.head.unfinished, UNFINISHED)
        | flag(item.head.encrypted, ENCRYPTED)
        | flag(item.supersedes, SUPERSEDES)
}

/// What [`Role::parse`] reads back.
fn role_name(role: Role) -> &'static str {
    match role {
        Role::User => "user",
        Role::Assistant => "assistant",
        Role::System => "system",
        Role::Developer => "developer",
        Role::Other => "other",
    }
}
