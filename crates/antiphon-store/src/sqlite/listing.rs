//! Pages of live items.

use std::ops::Range;

use antiphon::ItemId;
use rusqlite::Connection;

use super::keys::ThreadKey;
use super::{conversations, items, responses};
use crate::error::StoreError;
use crate::ids::Tenant;
use crate::records::{ItemPage, ListScope, Order, PageRequest, Seq};

type Result<T> = std::result::Result<T, StoreError>;

/// A page of the scope. `None` if the scope does not exist.
pub(super) fn list(
    db: &Connection,
    tenant: &Tenant,
    scope: &ListScope,
    page: &PageRequest,
) -> Result<Option<ItemPage>> {
    let Some((key, range)) = scope_range(db, tenant, scope)? else {
        return Ok(None);
    };
    let rest = match &page.after {
        Some(id) => range_after(db, key, range, id, page.order)?,
        None => range,
    };
    items::page(db, key, &rest, page).map(Some)
}

fn scope_range<'a>(
    db: &Connection,
    tenant: &'a Tenant,
    scope: &ListScope,
) -> Result<Option<(ThreadKey<'a>, Range<Seq>)>> {
    let range = match scope {
        ListScope::Conversation(id) => conversations::end(db, tenant, id)?
            .map(|end| (ThreadKey::from_cursor(tenant, end), 0..end.end)),
        ListScope::Input(id) => responses::find(db, tenant, id)?
            .map(|record| (ThreadKey::from_cursor(tenant, record.cursor), record.input)),
    };
    Ok(range)
}

/// The part of `range` that follows the item `after` in this order.
fn range_after(
    db: &Connection,
    key: ThreadKey<'_>,
    range: Range<Seq>,
    after: &ItemId,
    order: Order,
) -> Result<Range<Seq>> {
    let place = items::place(db, key, after)?
        .filter(|place| range.contains(place))
        .ok_or_else(|| StoreError::CursorNotFound(after.to_string()))?;
    Ok(match order {
        Order::Ascending => place + 1..range.end,
        Order::Descending => range.start..place,
    })
}
