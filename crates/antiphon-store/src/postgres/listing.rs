//! Pages of live items.

use std::ops::Range;

use antiphon::ItemId;

use super::failure::Failure;
use super::session::Session;
use super::{conversations, items, responses};
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
    let Some((key, whole)) = extent(db, tenant, scope).await? else {
        return Ok(None);
    };
    let rest = match &page.after {
        Some(id) => behind(db, key, whole, id, page.order).await?,
        None => whole,
    };
    items::page(db, key, &rest, page).await.map(Some)
}

async fn extent<'a>(
    db: &Session,
    tenant: &'a Tenant,
    scope: &ListScope,
) -> Result<Option<(ThreadKey<'a>, Range<Seq>)>> {
    let extent = match scope {
        ListScope::Conversation(id) => {
            let end = conversations::end(db, tenant, id).await?;
            end.map(|end| (ThreadKey::from_cursor(tenant, end), 0..end.end))
        }
        ListScope::Input(id) => {
            let record = responses::find(db, tenant, id).await?;
            record.map(|record| (ThreadKey::from_cursor(tenant, record.cursor), record.input))
        }
    };
    Ok(extent)
}

/// The part of `whole` that follows the item `after` in this order.
async fn behind(
    db: &Session,
    key: ThreadKey<'_>,
    whole: Range<Seq>,
    after: &ItemId,
    order: Order,
) -> Result<Range<Seq>> {
    let place = items::place(db, key, after).await?;
    let place = place
        .filter(|place| whole.contains(place))
        .ok_or_else(|| StoreError::CursorNotFound(after.to_string()))?;
    Ok(match order {
        Order::Ascending => place + 1..whole.end,
        Order::Descending => whole.start..place,
    })
}
