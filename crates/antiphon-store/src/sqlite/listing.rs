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
    let Some((key, whole)) = extent(db, tenant, scope)? else {
        return Ok(None);
    };
    let rest = match &page.after {
        Some(id) => behind(db, key, whole, id, page.order)?,
        None => whole,
    };
    items::page(db, key, &rest, page).map(Some)
}

fn extent<'a>(
    db: &Connection,
    tenant: &'a Tenant,
    scope: &ListScope,
) -> Result<Option<(ThreadKey<'a>, Range<Seq>)>> {
    let extent = match scope {
        ListScope::Conversation(id) => conversations::end(db, tenant, id)?
            .map(|end| (ThreadKey::from_cursor(tenant, end), 0..end.end)),
        ListScope::Input(id) => responses::find(db, tenant, id)?
            .map(|record| (ThreadKey::from_cursor(tenant, record.cursor), record.input)),
    };
    Ok(extent)
}

/// The part of `whole` that follows the item `after` in this order.
fn behind(
    db: &Connection,
    key: ThreadKey<'_>,
    whole: Range<Seq>,
    after: &ItemId,
    order: Order,
) -> Result<Range<Seq>> {
    let place = items::place(db, key, after)?
        .filter(|place| whole.contains(place))
        .ok_or_else(|| StoreError::CursorNotFound(after.to_string()))?;
    Ok(match order {
        Order::Ascending => place + 1..whole.end,
        Order::Descending => whole.start..place,
    })
}
