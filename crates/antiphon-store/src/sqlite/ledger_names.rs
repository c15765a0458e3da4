//! Maps providers' ids of conversations and responses to local ids.

use rusqlite::{Connection, OptionalExtension, Row, params};

use super::keys::{row_key, shard};
use super::responses::invalid_id;
use super::{conversations, pending_turns, responses};
use crate::error::StoreError;
use crate::ids::{ConversationId, ResponseId, ShardedId as _, Tenant};
use crate::ledger_records::{LedgerEntry, LedgerSubject, LedgerUpdate, UpstreamId};
use crate::records::{Destination, TurnRecord};

type Result<T> = std::result::Result<T, StoreError>;

/// The ledger that this name stands for.
pub(super) fn find(db: &Connection, tenant: &Tenant, name: &str) -> Result<Option<LedgerEntry>> {
    const SQL: &str = "
        SELECT upstream, kept, in_doubt FROM ledgers WHERE tenant = ?1 AND provider_id = ?2";
    let entry = db
        .prepare_cached(SQL)?
        .query_row(params![tenant.as_str(), name], |row| read(row, 0))
        .optional()?;
    Ok(entry)
}

/// The name of this conversation or response.
pub(super) fn upstream_id(
    db: &Connection,
    tenant: &Tenant,
    subject: &LedgerSubject,
) -> Result<Option<UpstreamId>> {
    const SQL: &str = "
        SELECT upstream, provider_id FROM ledgers
        WHERE tenant = ?1 AND shard = ?2 AND kept = ?3";
    let parameters = row_key(tenant, subject);
    let named = db
        .prepare_cached(SQL)?
        .query_row(parameters, |row| Ok(UpstreamId { upstream: row.get(0)?, id: row.get(1)? }))
        .optional()?;
    Ok(named)
}

/// Whether any name exists.
pub(super) fn any(db: &Connection) -> Result<bool> {
    Ok(db.prepare_cached("SELECT 1 FROM ledgers LIMIT 1")?.exists([])?)
}

/// Whether this has a name.
pub(super) fn is_named(db: &Connection, tenant: &Tenant, subject: &LedgerSubject) -> Result<bool> {
    const SQL: &str = "SELECT 1 FROM ledgers WHERE tenant = ?1 AND shard = ?2 AND kept = ?3";
    let parameters = row_key(tenant, subject);
    Ok(db.prepare_cached(SQL)?.exists(parameters)?)
}

/// Reads an entry from the columns upstream, kept, `is_stale`.
pub(super) fn read(row: &Row<'_>, first: usize) -> rusqlite::Result<LedgerEntry> {
    let subject = LedgerSubject::parse(row.get_ref(first + 1)?.as_str()?);
    Ok(LedgerEntry {
        upstream: row.get(first)?,
        subject: subject.ok_or_else(|| invalid_id(first + 1))?,
        is_stale: row.get(first + 2)?,
    })
}

/// Assigns a name to this conversation or response. Deletes the previous bearer of the name, and
/// removes another name of the same conversation or response.
pub(super) fn enter(
    db: &Connection,
    tenant: &Tenant,
    named: &UpstreamId,
    subject: &LedgerSubject,
    is_stale: bool,
) -> Result<()> {
    const SQL: &str = "
        INSERT INTO ledgers (tenant, provider_id, upstream, shard, kept, in_doubt)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6)
        ON CONFLICT (tenant, provider_id) DO UPDATE
        SET upstream = ?3, shard = ?4, kept = ?5, in_doubt = ?6";
    let before = find(db, tenant, &named.id)?;
    if before.as_ref().is_none_or(|entry| entry.subject != *subject) {
        unname(db, tenant, subject)?;
    }
    db.prepare_cached(SQL)?.execute(params![
        tenant.as_str(),
        named.id,
        named.upstream,
        shard(subject.shard()),
        subject.as_str(),
        is_stale,
    ])?;
    match before {
        Some(entry) if entry.subject != *subject => delete_subject(db, tenant, &entry.subject),
        _ => Ok(()),
    }
}

/// Applies the ledger changes of a committed turn.
pub(super) fn follow(
    db: &Connection,
    tenant: &Tenant,
    turn: &TurnRecord,
    ledger: &LedgerUpdate,
) -> Result<()> {
    if let Destination::Conversation(id) = &turn.destination {
        set_stale(db, tenant, id, ledger.is_stale)?;
    }
    match (&ledger.response, &turn.response) {
        (Some(named), Some(response)) => {
            let subject = LedgerSubject::Response(response.id.clone());
            enter(db, tenant, named, &subject, ledger.is_stale)
        }
        _ => Ok(()),
    }
}

/// Marks a conversation's ledger as stale or fresh. Returns whether the ledger exists.
pub(super) fn set_stale(
    db: &Connection,
    tenant: &Tenant,
    id: &ConversationId,
    is_stale: bool,
) -> Result<bool> {
    const SQL: &str = "
        UPDATE ledgers SET in_doubt = ?4 WHERE tenant = ?1 AND shard = ?2 AND kept = ?3";
    let parameters = params![tenant.as_str(), shard(id.shard()), id.as_str(), is_stale];
    Ok(db.prepare_cached(SQL)?.execute(parameters)? > 0)
}

/// Deletes a name and the conversation or response that it stands for. Returns whether it existed.
pub(super) fn forget(db: &Connection, tenant: &Tenant, name: &str) -> Result<bool> {
    let Some(entry) = find(db, tenant, name)? else { return Ok(false) };
    unname(db, tenant, &entry.subject)?;
    if let LedgerSubject::Response(id) = &entry.subject {
        pending_turns::remove(db, tenant, id)?;
    }
    delete_subject(db, tenant, &entry.subject)?;
    Ok(true)
}

fn delete_subject(db: &Connection, tenant: &Tenant, subject: &LedgerSubject) -> Result<()> {
    match subject {
        LedgerSubject::Conversation(id) => conversations::delete(db, tenant, id).map(drop),
        LedgerSubject::Response(id) => responses::delete(db, tenant, id).map(drop),
    }
}

/// Removes the name of this conversation or response.
pub(super) fn unname(db: &Connection, tenant: &Tenant, subject: &LedgerSubject) -> Result<()> {
    const SQL: &str = "DELETE FROM ledgers WHERE tenant = ?1 AND shard = ?2 AND kept = ?3";
    let parameters = row_key(tenant, subject);
    db.prepare_cached(SQL)?.execute(parameters)?;
    Ok(())
}

/// Removes the name of a response that was announced but has no record.
pub(super) fn unname_unrecorded(db: &Connection, tenant: &Tenant, id: &ResponseId) -> Result<()> {
    match responses::find(db, tenant, id)? {
        Some(_) => Ok(()),
        None => unname(db, tenant, &LedgerSubject::Response(id.clone())),
    }
}
