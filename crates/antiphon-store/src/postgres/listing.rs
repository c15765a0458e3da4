//! Pages of live items.

use std::ops::Range;

use antiphon::ItemId;

use super::failure::Failure;
use super::session::Session;
use super::{conversations, item_ids, items, responses};
use crate::error::StoreError;
use crate::ids::Tenant;
use crate::keys::ThreadKey;
use crate::records::{ItemPage, ListScope, Order, PageRequest, Seq};

type Result<T> = std::result::Result<T, Failure>;

/// A page of the scope. `None` if the scope does not exist.
pub(super) async fn list(
    db: &Session,
    tenant: &Tenant,
    scope: &ListScope,
    page: &PageRequest,
) -> Result<Option<ItemPage>> {
    let Some((key, range)) = scope_range(db, tenant, scope).await? else {
        return Ok(None);
    };
    let rest = match &page.after {
        Some(id) => range_after(db, key, range, id, page.order).await?,
        None => range,
    };
    items::page(db, key, &rest, page).await.map(Some)
}

async fn scope_range<'a>(
    db: &Session,
    tenant: &'a Tenant,
    scope: &ListScope,
) -> Result<Option<(ThreadKey<'a>, Range<Seq>)>> {
    let range = match scope {
        ListScope::Conversation(id) => {
            let end = conversations::end(db, tenant, id).await?;
            end.map(|end| (ThreadKey::from_cursor(tenant, end), 0..end.end))
        }
        ListScope::Input(id) => {
            let record = responses::find(db, tenant, id).await?;
            record.map(|record| (ThreadKey::from_cursor(tenant, record.cursor), record.input))
        }
    };
    Ok(range)
}

/// The part of `range` that follows the item `after` in this order.
async fn range_after(
    db: &Session,
    key: ThreadKey<'_>,
    range: Range<Seq>,
    after: &ItemId,
    order: Order,
) -> Result<Range<Seq>> {
    let place = item_ids::place(db, key, after).await?;
    let place = place
        .filter(|place| range.contains(place))
        .ok_or_else(|| StoreError::CursorNotFound(after.to_string()))?;
    Ok(match order {
        Order::Ascending => place + 1..range.end,
        Order::Descending => range.start..place,
    })
}
