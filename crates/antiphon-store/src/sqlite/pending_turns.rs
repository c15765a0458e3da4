//! Pending turns: the data to commit if the process dies before a turn ends.

use rusqlite::{Connection, OptionalExtension, Row, params};

use super::keys::{self, ThreadKey, position, seq_from_column, shard, thread, thread_from_column};
use super::responses::{invalid_id, read_new};
use super::writer::attempt;
use super::{ledger_names, notices, sweep, turns};
use crate::encoding;
use crate::error::StoreError;
use crate::ids::{ConversationId, ResponseId, Shard, Tenant, ThreadId};
use crate::records::{Cursor, Destination, NewResponse, RequestDigest, TurnRecord, TurnState};

type Result<T> = std::result::Result<T, StoreError>;

/// The number of places for the pending turns of a shard, less one.
const LAST_PLACE: u64 = 0xffff;

/// The first and the last place of the pending turns of a shard. Other shards may use them too.
pub(super) fn places(in_shard: Shard) -> (i64, i64) {
    let first = in_shard.0 & !LAST_PLACE;
    (first.cast_signed(), (first | LAST_PLACE).cast_signed())
}

/// Records a pending turn. Replaces an earlier one with the same id. Its ordinal is greater than
/// those of the turns that were recorded before.
pub(super) fn record(
    db: &Connection,
    tenant: &Tenant,
    turn: &TurnRecord,
    ordinal: i64,
) -> Result<()> {
    let response = turn.announced()?;
    remove(db, tenant, &response.id)?;
    insert(db, tenant, turn, response, ordinal)?;
    notices::insert(db, tenant, &response.id, &turn.notices, TurnState::Open)
}

fn insert(
    db: &Connection,
    tenant: &Tenant,
    turn: &TurnRecord,
    response: &NewResponse,
    ordinal: i64,
) -> Result<()> {
    const SQL: &str = "
        INSERT INTO pending_turns (place, ordinal, tenant, shard, id, into_conversation, thread,
                                   after, fork, conversation, created_at, envelope, report,
                                   request, copy, copy_until, items)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17)";
    let (into, continued, after, fork) = match &turn.destination {
        Destination::New { thread, .. } => (None, Some(*thread), None, None),
        Destination::After { cursor, fork, .. } => {
            (None, Some(cursor.thread), Some(cursor.end), Some(*fork))
        }
        Destination::Conversation(id) => (Some(id.as_str()), None, None, None),
    };
    db.prepare_cached(SQL)?.execute(params![
        free_place(db, response.id.shard())?,
        ordinal,
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
        encoding::encode(&turn.input),
    ])?;
    Ok(())
}

/// The first free place of a shard.
pub(super) fn free_place(db: &Connection, in_shard: Shard) -> Result<i64> {
    const SQL: &str =
        "SELECT place FROM pending_turns WHERE place BETWEEN ?1 AND ?2 ORDER BY place";
    let (first, last) = places(in_shard);
    let mut statement = db.prepare_cached(SQL)?;
    let mut taken = statement.query_map([first, last], |row| row.get::<_, i64>(0))?;
    for place in first..=last {
        if taken.next().transpose()? != Some(place) {
            return Ok(place);
        }
    }
    Err(StoreError::Unavailable("too many open turns continue from one conversation".into()))
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
        SELECT id FROM pending_turns
        WHERE place BETWEEN ?1 AND ?2 AND tenant = ?3 AND shard = ?4 AND request = ?5
        ORDER BY ordinal DESC LIMIT ?6";
    let (first, last) = places(in_shard);
    let given =
        params![first, last, tenant.as_str(), shard(in_shard), request.0, keys::limit(limit)];
    let ids = db
        .prepare_cached(SQL)?
        .query_map(given, |row| {
            ResponseId::parse(row.get_ref(0)?.as_str()?).ok_or_else(|| invalid_id(0))
        })?
        .collect::<rusqlite::Result<_>>()?;
    Ok(ids)
}

/// The ordinal of a pending turn.
pub(super) fn ordinal(db: &Connection, tenant: &Tenant, id: &ResponseId) -> Result<Option<i64>> {
    const SQL: &str = "
        SELECT ordinal FROM pending_turns
        WHERE place BETWEEN ?1 AND ?2 AND tenant = ?3 AND id = ?4";
    let (first, last) = places(id.shard());
    let given = params![first, last, tenant.as_str(), id.as_str()];
    Ok(db.prepare_cached(SQL)?.query_row(given, |row| row.get(0)).optional()?)
}

/// The pending turn with this id.
pub(super) fn find(
    db: &Connection,
    tenant: &Tenant,
    id: &ResponseId,
) -> Result<Option<TurnRecord>> {
    match ordinal(db, tenant, id)? {
        Some(ordinal) => Ok(Some(read(db, places(id.shard()), ordinal)?.1)),
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
    match forget(db, tenant, id)? {
        Some(reached) => sweep::sweep(db, ThreadKey::from_cursor(tenant, reached)),
        None => Ok(()),
    }
}

/// Deletes a pending turn. Returns the point in a thread that it continued from.
pub(super) fn forget(db: &Connection, tenant: &Tenant, id: &ResponseId) -> Result<Option<Cursor>> {
    const FIND: &str = "
        SELECT place, thread, after FROM pending_turns
        WHERE place BETWEEN ?1 AND ?2 AND tenant = ?3 AND id = ?4";
    const DELETE: &str = "DELETE FROM pending_turns WHERE place = ?1";
    let (first, last) = places(id.shard());
    let found: Option<(i64, Option<i64>, Option<i64>)> = db
        .prepare_cached(FIND)?
        .query_row(params![first, last, tenant.as_str(), id.as_str()], |row| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?))
        })
        .optional()?;
    let Some((place, continued, after)) = found else {
        return Ok(None);
    };
    db.prepare_cached(DELETE)?.execute([place])?;
    notices::remove_open(db, tenant, id)?;
    Ok(continued.zip(after).map(|(thread, after)| Cursor {
        shard: id.shard(),
        thread: thread_from_column(thread),
        end: seq_from_column(after),
    }))
}

/// The greatest ordinal among the recorded turns. Turns that are recorded later get greater ones.
pub(super) fn last(db: &Connection) -> Result<i64> {
    let last =
        db.query_row("SELECT coalesce(max(ordinal), 0) FROM pending_turns", [], |row| row.get(0))?;
    Ok(last)
}

/// Commits the pending turns up to ordinal `last`, oldest first. Returns the number of commits.
/// Drops turns that cannot be committed.
pub(super) fn settle(db: &Connection, last: i64) -> Result<usize> {
    let mut settled = 0;
    for (place, ordinal) in left(db, last)? {
        let (tenant, turn) = read(db, (place, place), ordinal)?;
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

/// The places and ordinals of the pending turns up to ordinal `last`, oldest first.
fn left(db: &Connection, last: i64) -> Result<Vec<(i64, i64)>> {
    const SQL: &str =
        "SELECT place, ordinal FROM pending_turns WHERE ordinal <= ?1 ORDER BY ordinal";
    let left = db
        .prepare_cached(SQL)?
        .query_map([last], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<rusqlite::Result<_>>()?;
    Ok(left)
}

fn read(db: &Connection, (first, last): (i64, i64), ordinal: i64) -> Result<(Tenant, TurnRecord)> {
    const SQL: &str = "
        SELECT id, conversation, created_at, envelope, report, copy, copy_until,
               tenant, into_conversation, thread, after, fork, request, items
        FROM pending_turns WHERE place BETWEEN ?1 AND ?2 AND ordinal = ?3";
    let (tenant, destination, response, request, items) =
        db.prepare_cached(SQL)?.query_row([first, last, ordinal], |row| {
            let response = read_new(row)?;
            let request: Option<[u8; 16]> = row.get(12)?;
            let tenant = Tenant::new(row.get_ref(7)?.as_str()?);
            let (destination, items) =
                (read_destination(row, &response.id)?, row.get::<_, Vec<u8>>(13)?);
            Ok((tenant, destination, response, request.map(RequestDigest), items))
        })?;
    let turn = TurnRecord {
        destination,
        input: encoding::decode(items.into())?,
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
        record(&db, &tenant, &turn(), 1).unwrap();
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
