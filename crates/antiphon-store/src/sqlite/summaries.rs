//! Summaries of the segments: the usage of each tenant, and the responses by the time of their
//! creation.
//!
//! They cover the segments up to a number, and triggers adjust them if one of these changes. The
//! segments after it are fewer than two steps, so reading them one by one is cheap. Updating
//! the summaries with each turn would write two more pages.

use rusqlite::{Connection, params};

use super::keys;
use super::responses::invalid_id;
use crate::error::StoreError;
use crate::ids::{ResponseId, Tenant};
use crate::usage::Usage;

type Result<T> = std::result::Result<T, StoreError>;

/// The number of segments after which the summaries are updated.
const STEP: i64 = 64;

/// Whether the summaries must be updated after this segment. The numbers have no gaps: that of a
/// segment that was deleted or undone at the end is given again, unless the summaries cover it.
pub(super) fn completes_step(segment: i64) -> bool {
    segment % STEP == 0
}

/// Updates the summaries.
pub(super) fn update(db: &Connection) -> Result<()> {
    const USAGE: &str = "
        INSERT INTO tenant_usage (tenant, items, bytes)
        SELECT owner, sum(live), sum(bytes) FROM segments
        WHERE number > (SELECT segment FROM summarized) GROUP BY owner HAVING sum(live) > 0
        ON CONFLICT (tenant) DO UPDATE
        SET items = items + excluded.items, bytes = bytes + excluded.bytes";
    const CREATIONS: &str = "
        INSERT INTO creations (created_at, segment)
        SELECT created_at, number FROM segments
        WHERE number > (SELECT segment FROM summarized) AND created_at IS NOT NULL";
    const COVERED: &str = "UPDATE summarized SET segment = (SELECT max(number) FROM segments)";
    for sql in [USAGE, CREATIONS, COVERED] {
        db.prepare_cached(sql)?.execute([])?;
    }
    Ok(())
}

/// The usage of a tenant.
pub(super) fn usage(db: &Connection, tenant: &Tenant) -> Result<Usage> {
    const SQL: &str = "
        SELECT coalesce(sum(items), 0), coalesce(sum(bytes), 0) FROM (
            SELECT items, bytes FROM tenant_usage WHERE tenant = ?1
            UNION ALL
            SELECT live, bytes FROM segments
            WHERE number > (SELECT segment FROM summarized) AND owner = ?1
        )";
    let usage = db
        .prepare_cached(SQL)?
        .query_row([tenant.as_str()], |row| Ok(Usage::from_columns(row.get(0)?, row.get(1)?)))?;
    Ok(usage)
}

/// The oldest responses that were created before this time, at most `limit`.
pub(super) fn oldest(
    db: &Connection,
    created_before: i64,
    limit: usize,
) -> Result<Vec<(Tenant, ResponseId)>> {
    const SQL: &str = "
        SELECT owner, id FROM (
            SELECT created_at, segment FROM (
                SELECT created_at, segment FROM creations
                WHERE created_at < ?1 ORDER BY created_at, segment LIMIT ?2
            )
            UNION ALL
            SELECT created_at, number FROM segments
            WHERE number > (SELECT segment FROM summarized) AND created_at < ?1
        ) AS found CROSS JOIN segments ON number = found.segment
        ORDER BY found.created_at, number LIMIT ?2";
    let found = db
        .prepare_cached(SQL)?
        .query_map(params![created_before, keys::limit(limit)], |row| {
            let id = ResponseId::parse(row.get_ref(1)?.as_str()?);
            Ok((Tenant::new(row.get_ref(0)?.as_str()?), id.ok_or_else(|| invalid_id(1))?))
        })?
        .collect::<rusqlite::Result<_>>()?;
    Ok(found)
}

#[cfg(test)]
mod tests {
    use antiphon::item::FingerprintKey;
    use antiphon::{HeldItem, Item, ItemId};

    use super::super::keys::ThreadKey;
    use super::super::segments::append;
    use super::super::writer::attempt;
    use super::super::{connection, schema};
    use super::*;
    use crate::ids::{Shard, ThreadId};

    fn database() -> Connection {
        let mut db = connection::open_in_memory().unwrap();
        schema::migrate(&mut db).unwrap();
        db
    }

    /// Appends so many segments with an item each, each in a thread of its own.
    fn append_segments(db: &Connection, tenant: &Tenant, threads: std::ops::Range<u64>) {
        let json = r#"{"type":"message","role":"user","content":"x"}"#;
        let item = Item::parse(json.into()).unwrap();
        let key = FingerprintKey::new([0; 16]);
        let item = HeldItem::new(ItemId::from("msg_1".to_owned()), &item, key, None);
        for thread in threads {
            append(db, ThreadKey::new(tenant, Shard(1), ThreadId(thread)), 0, [&item], None)
                .unwrap();
        }
    }

    fn last_covered(db: &Connection) -> i64 {
        db.query_row("SELECT segment FROM summarized", [], |row| row.get(0)).unwrap()
    }

    #[test]
    fn summaries_cover_all_complete_steps() {
        let (db, tenant) = (database(), Tenant::new("acme"));
        append_segments(&db, &tenant, 0..63);
        assert_eq!((last_covered(&db), usage(&db, &tenant).unwrap().items), (0, 63));
        append_segments(&db, &tenant, 63..130);
        assert_eq!((last_covered(&db), usage(&db, &tenant).unwrap().items), (128, 130));
    }

    #[test]
    fn number_that_is_given_again_completes_its_step() {
        let (db, tenant) = (database(), Tenant::new("acme"));
        append_segments(&db, &tenant, 0..63);
        let undone = attempt(&db, || {
            append_segments(&db, &tenant, 63..64);
            Err::<(), _>(StoreError::ConversationNotFound)
        });
        undone.unwrap().unwrap_err();
        assert_eq!((last_covered(&db), usage(&db, &tenant).unwrap().items), (0, 63));
        append_segments(&db, &tenant, 63..64);
        assert_eq!((last_covered(&db), usage(&db, &tenant).unwrap().items), (64, 64));

        // The newest segments are deleted, and their numbers are given again.
        append_segments(&db, &tenant, 64..100);
        db.execute("DELETE FROM segments WHERE number > 80", []).unwrap();
        append_segments(&db, &tenant, 100..148);
        assert_eq!((last_covered(&db), usage(&db, &tenant).unwrap().items), (128, 128));
    }
}
