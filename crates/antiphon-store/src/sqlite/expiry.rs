//! Deletes responses that have passed their retention time.

use rusqlite::{Connection, params};

use super::responses;
use crate::error::StoreError;
use crate::ids::{ResponseId, Tenant};

type Result<T> = std::result::Result<T, StoreError>;

/// Deletes the oldest responses that were created before this time, at most `limit`. Returns their
/// number.
pub(super) fn expire(db: &Connection, created_before: i64, limit: usize) -> Result<usize> {
    let expired = oldest(db, created_before, limit)?;
    for (tenant, id) in &expired {
        responses::delete(db, tenant, id)?;
    }
    Ok(expired.len())
}

fn oldest(db: &Connection, created_before: i64, limit: usize) -> Result<Vec<(Tenant, ResponseId)>> {
    const SQL: &str = "
        SELECT tenant, id FROM responses WHERE created_at < ?1 ORDER BY created_at LIMIT ?2";
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let found = db
        .prepare_cached(SQL)?
        .query_map(params![created_before, limit], |row| {
            let id = ResponseId::parse(row.get_ref(1)?.as_str()?);
            Ok((Tenant::new(row.get_ref(0)?.as_str()?), id.ok_or_else(|| responses::no_id(1))?))
        })?
        .collect::<rusqlite::Result<_>>()?;
    Ok(found)
}
