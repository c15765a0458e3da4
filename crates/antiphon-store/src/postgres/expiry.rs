//! Deletes responses that have passed their retention time.

use std::collections::HashMap;

use super::failure::Failure;
use super::responses::{self, invalid_id};
use super::session::Session;
use super::shared::Shared;
use super::statements::statements;
use super::transaction::{Effect, Lock};
use crate::error::StoreError;
use crate::ids::{ResponseId, Shard, Tenant};
use crate::keys;

/// Deletes the oldest responses that were created before this time, at most `limit`. Returns their
/// number. Each tree of forks has a transaction of its own. If several processes expire responses
/// at once, each response is deleted and counted once.
pub(super) async fn expire(
    shared: &Shared,
    created_before: i64,
    limit: usize,
) -> Result<usize, StoreError> {
    let found = shared
        .run(&(created_before, limit), |db, (created_before, limit)| {
            Box::pin(oldest(db, *created_before, *limit))
        })
        .await?;
    let mut expired = 0;
    for ((tenant, shard), ids) in by_tree(found) {
        let given = (tenant, ids);
        expired += shared
            .write(Effect::Unsynced, Lock::Tree(&given.0, shard), &given, |db, (tenant, ids)| {
                Box::pin(delete_all(db, tenant, ids))
            })
            .await?;
    }
    Ok(expired)
}

fn by_tree(found: Vec<(Tenant, ResponseId)>) -> HashMap<(Tenant, Shard), Vec<ResponseId>> {
    let mut trees = HashMap::<_, Vec<_>>::new();
    for (tenant, id) in found {
        trees.entry((tenant, id.shard())).or_default().push(id);
    }
    trees
}

async fn delete_all(db: &Session, tenant: &Tenant, ids: &[ResponseId]) -> Result<usize, Failure> {
    let mut deleted = 0;
    for id in ids {
        deleted += usize::from(responses::delete(db, tenant, id).await?);
    }
    Ok(deleted)
}

async fn oldest(
    db: &Session,
    created_before: i64,
    limit: usize,
) -> Result<Vec<(Tenant, ResponseId)>, Failure> {
    let limit = keys::limit(limit);
    let rows = db.rows(&OLDEST, &[&created_before, &limit]).await?;
    let found = rows.iter().map(|row| {
        let id = ResponseId::parse(row.get(1)).ok_or_else(invalid_id)?;
        Ok((Tenant::new(row.get::<_, &str>(0)), id))
    });
    found.collect()
}

statements! {
    /// Across all tenants and trees: the index is ordered by creation time.
    OLDEST = "
        SELECT tenant, id FROM segments
        WHERE created_at IS NOT NULL AND created_at < $1
        ORDER BY created_at LIMIT $2";
}
