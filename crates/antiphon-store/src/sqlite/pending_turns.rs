//! Pending turns: the data to commit if the process dies before a turn ends.

use antiphon::HeldItem;
use rusqlite::{Connection, OptionalExtension, Row, params};

use super::keys::{
    self, ThreadKey, position, row_key, seq_from_column, shard, thread, thread_from_column,
};
use super::responses::{invalid_id, read_new};
use super::row::{self, item_columns};
use super::writer::attempt;
use super::{ledger_names, notices, sweep, turns};
use crate::error::StoreError;
use crate::ids::{ConversationId, ResponseId, Shard, Tenant, ThreadId};
use crate::records::{Cursor, Destination, NewResponse, RequestDigest, TurnRecord, TurnState};

type Result<T> = std::result::Result<T, StoreError>;

/// Records a pending turn. Replaces an earlier one with the same id.
pub(super) fn record(db: &Connection, tenant: &Tenant, turn: &TurnRecord) -> Result<()> {
    let response = turn.announced()?;
    remove(db, tenant, &response.id)?;
    let ordinal = insert(db, tenant, turn, response)?;
    notices::insert(db, tenant, &response.id, &turn.notices, TurnState::Open)?;
    insert_items(db, ordinal, &turn.input)
}

fn insert(
    db: &Connection,
    tenant: &Tenant,
    turn: &TurnRecord,
    response: &NewResponse,
) -> Result<i64> {
    const SQL: &str = "
        INSERT INTO openings (tenant, shard, id, into_conversation, thread, after, fork,
                              conversation, created_at, envelope, report, request,
                              copy, copy_until)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)";
    let (into, continued, after, fork) = match &turn.destination {
        Destination::New { thread, .. } => (None, Some(*thread), None, None),
        Destination::After { cursor, fork, .. } => {
            (None, Some(cursor.thread), Some(cursor.end), Some(*fork))
        }
        Destination::Conversation(id) => (Some(id.as_str()), None, None, None),
    };
    db.prepare_cached(SQL)?.execute(params![
        tenant.as_str(),
        shard(response.id.shard()),
        response.id.as_str(),
        into,
        continued.map(thread),
        after.map(position),
        fork.map(thread),
        response.conversation.as_ref().map(ConversationId::as_str),
        response.created_at,
        &*response.envelope,
        &*response.report,
        turn.request.map(|request| request.0),
        response.copy.as_ref().map(|copy| &*copy.sealed),
        response.copy.as_ref().map(|copy| copy.expires_at),
    ])?;
    Ok(db.last_insert_rowid())
}

fn insert_items(db: &Connection, ordinal: i64, items: &[HeldItem]) -> Result<()> {
    const SQL: &str = concat!(
        "INSERT INTO opening_items (opening, position, ",
        item_columns!(),
        ") VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)"
    );
    let mut statement = db.prepare_cached(SQL)?;
    for (position, item) in (0_i64..).zip(items) {
        statement.raw_bind_parameter(1, ordinal)?;
        statement.raw_bind_parameter(2, position)?;
        row::bind(&mut statement, 3, item)?;
        statement.raw_execute()?;
    }
    Ok(())
}

/// The pending turns of this request, newest first.
pub(super) fn find_by_request(
    db: &Connection,
    tenant: &Tenant,
    in_shard: Shard,
    request: &RequestDigest,
    limit: usize,
) -> Result<Vec<ResponseId>> {
    const SQL: &str = "
        SELECT id FROM openings WHERE tenant = ?1 AND shard = ?2 AND request = ?3
        ORDER BY ordinal DESC LIMIT ?4";
    let ids = db
        .prepare_cached(SQL)?
        .query_map(
            params![tenant.as_str(), shard(in_shard), request.0, keys::limit(limit)],
            |row| ResponseId::parse(row.get_ref(0)?.as_str()?).ok_or_else(|| invalid_id(0)),
        )?
        .collect::<rusqlite::Result<_>>()?;
    Ok(ids)
}

/// The ordinal of a pending turn.
pub(super) fn ordinal(db: &Connection, tenant: &Tenant, id: &ResponseId) -> Result<Option<i64>> {
    const SQL: &str = "SELECT ordinal FROM openings WHERE tenant = ?1 AND shard = ?2 AND id = ?3";
    let parameters = row_key(tenant, id);
    Ok(db.prepare_cached(SQL)?.query_row(parameters, |row| row.get(0)).optional()?)
}

/// The pending turn with this id.
pub(super) fn find(
    db: &Connection,
    tenant: &Tenant,
    id: &ResponseId,
) -> Result<Option<TurnRecord>> {
    match ordinal(db, tenant, id)? {
        Some(ordinal) => Ok(Some(read(db, ordinal)?.1)),
        None => Ok(None),
    }
}

/// Deletes a pending turn that leaves no record, and the provider's id of its response.
pub(super) fn discard(db: &Connection, tenant: &Tenant, id: &ResponseId) -> Result<()> {
    remove(db, tenant, id)?;
    ledger_names::unname_unrecorded(db, tenant, id)
}

/// Deletes a pending turn, and the items that only it still reached.
pub(super) fn remove(db: &Connection, tenant: &Tenant, id: &ResponseId) -> Result<()> {
    const SQL: &str = "
        DELETE FROM openings WHERE tenant = ?1 AND shard = ?2 AND id = ?3
        RETURNING ordinal, thread, after";
    let removed: Option<(i64, Option<i64>, Option<i64>)> = db
        .prepare_cached(SQL)?
        .query_row(row_key(tenant, id), |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
        .optional()?;
    let Some((ordinal, continued, after)) = removed else {
        return Ok(());
    };
    db.prepare_cached("DELETE FROM opening_items WHERE opening = ?1")?.execute([ordinal])?;
    notices::remove_open(db, tenant, id)?;
    if let (Some(continued), Some(_)) = (continued, after) {
        sweep::sweep(db, ThreadKey::new(tenant, id.shard(), thread_from_column(continued)))?;
    }
    Ok(())
}

/// The greatest ordinal among the recorded turns. Turns that are recorded later get greater ones.
pub(super) fn last(db: &Connection) -> Result<i64> {
    let last =
        db.query_row("SELECT coalesce(max(ordinal), 0) FROM openings", [], |row| row.get(0))?;
    Ok(last)
}

/// Commits the pending turns up to ordinal `last`, oldest first. Returns the number of commits.
/// Drops turns that cannot be committed.
pub(super) fn settle(db: &Connection, last: i64) -> Result<usize> {
    let mut settled = 0;
    for ordinal in ordinals(db, last)? {
        let (tenant, turn) = read(db, ordinal)?;
        match attempt(db, || commit(db, &tenant, &turn))? {
            Ok(()) => settled += 1,
            Err(error) if error.is_outage() => return Err(error),
            Err(_) => {
                if let Some(response) = &turn.response {
                    discard(db, &tenant, &response.id)?;
                }
            }
        }
    }
    Ok(settled)
}

/// Commits an interrupted turn. Its provider may hold more of it, so the ledger becomes stale.
fn commit(db: &Connection, tenant: &Tenant, turn: &TurnRecord) -> Result<()> {
    turns::commit(db, tenant, turn)?;
    match &turn.destination {
        Destination::Conversation(id) => ledger_names::set_stale(db, tenant, id, true).map(drop),
        _ => Ok(()),
    }
}

fn ordinals(db: &Connection, last: i64) -> Result<Vec<i64>> {
    let ordinals = db
        .prepare_cached("SELECT ordinal FROM openings WHERE ordinal <= ?1 ORDER BY ordinal")?
        .query_map([last], |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    Ok(ordinals)
}

fn read(db: &Connection, ordinal: i64) -> Result<(Tenant, TurnRecord)> {
    const SQL: &str = "
        SELECT id, conversation, created_at, envelope, report, copy, copy_until,
               tenant, into_conversation, thread, after, fork, request
        FROM openings WHERE ordinal = ?1";
    let (tenant, destination, response, request) =
        db.prepare_cached(SQL)?.query_row([ordinal], |row| {
            let response = read_new(row)?;
            let request: Option<[u8; 16]> = row.get(12)?;
            let tenant = Tenant::new(row.get_ref(7)?.as_str()?);
            Ok((tenant, read_destination(row, &response.id)?, response, request.map(RequestDigest)))
        })?;
    let turn = TurnRecord {
        destination,
        input: read_items(db, ordinal)?,
        output: Vec::new(),
        notices: notices::find_open(db, &tenant, &response.id)?,
        ledger: None,
        response: Some(response),
        request,
        place: None,
    };
    Ok((tenant, turn))
}

fn read_destination(row: &Row<'_>, id: &ResponseId) -> rusqlite::Result<Destination> {
    let shard = id.shard();
    if let Some(into) = row.get_ref(8)?.as_str_or_null()? {
        let into = ConversationId::parse(into).ok_or_else(|| invalid_id(8))?;
        return Ok(Destination::Conversation(into));
    }
    let thread: ThreadId = thread_from_column(row.get(9)?);
    let after: Option<(i64, i64)> =
        row.get::<_, Option<i64>>(10)?.zip(row.get::<_, Option<i64>>(11)?);
    Ok(match after {
        Some((after, fork)) => Destination::After {
            cursor: Cursor { shard, thread, end: seq_from_column(after) },
            fork: thread_from_column(fork),
            // A turn is never retracted while a pending turn continues from it.
            end_of: None,
        },
        None => Destination::New { shard, thread },
    })
}

fn read_items(db: &Connection, ordinal: i64) -> Result<Vec<HeldItem>> {
    const SQL: &str = concat!(
        "SELECT ",
        item_columns!(),
        " FROM opening_items WHERE opening = ?1 ORDER BY position"
    );
    let items = db
        .prepare_cached(SQL)?
        .query_map([ordinal], row::read)?
        .collect::<rusqlite::Result<_>>()?;
    Ok(items)
}

#[cfg(test)]
mod tests {
    use antiphon::item::FingerprintKey;
    use antiphon::{HeldItem, IdSource, Item, ItemId};

    use super::super::{connection, schema};
    use super::*;
    use crate::ids::{Shard, ThreadId};

    struct Ones;

    impl IdSource for Ones {
        fn fill(&mut self, bytes: &mut [u8]) {
            bytes.fill(0x11);
        }
    }

    fn turn() -> TurnRecord {
        let text = "x".repeat(100_000);
        let json = format!(r#"{{"type":"message","role":"user","content":"{text}"}}"#);
        let item = Item::parse(json.into()).unwrap();
        let key = FingerprintKey::new([0; 16]);
        let shard = Shard(1);
        TurnRecord {
            destination: Destination::New { shard, thread: ThreadId(1) },
            input: vec![HeldItem::new(ItemId::from("msg_1".to_owned()), &item, key, None)],
            output: Vec::new(),
            response: Some(NewResponse {
                id: ResponseId::issue(shard, &mut Ones),
                conversation: None,
                created_at: 0,
                envelope: "{}".into(),
                report: "{}".into(),
                copy: None,
            }),
            request: None,
            place: None,
            notices: Vec::new(),
            ledger: None,
        }
    }

    #[test]
    fn full_disk_discards_no_interrupted_turn() {
        let mut db = connection::open_in_memory().unwrap();
        schema::migrate(&mut db).unwrap();
        let tenant = Tenant::new("acme");
        record(&db, &tenant, &turn()).unwrap();
        let last = last(&db).unwrap();
        let pages: i64 = db.query_row("PRAGMA page_count", [], |row| row.get(0)).unwrap();
        let allow =
            |pages: i64| db.pragma_update_and_check(None, "max_page_count", pages, |_| Ok(()));

        allow(pages).unwrap();
        assert!(matches!(settle(&db, last), Err(StoreError::NoSpace(_))));

        allow(1 << 30).unwrap();
        assert_eq!(settle(&db, last), Ok(1));
    }
}
