//! Conversations: names of threads.

use antiphon::{HeldItem, ItemId};
use bytes::Bytes;
use rusqlite::{Connection, OptionalExtension, Row, params};

use super::keys::{ThreadKey, row_key, seq_from_column, shard, thread, thread_from_column};
use super::{items, jobs, ledger_names, sweep, threads};
use crate::error::StoreError;
use crate::ids::{ConversationId, Tenant, ThreadId};
use crate::ledger_records::LedgerSubject;
use crate::records::{Conversation, Cursor};

type Result<T> = std::result::Result<T, StoreError>;

/// Creates a conversation, its thread and its first items.
pub(super) fn create(
    db: &Connection,
    tenant: &Tenant,
    conversation: &Conversation,
    names: ThreadId,
    first: &[HeldItem],
) -> Result<()> {
    insert(db, tenant, conversation, names)?;
    begin(db, ThreadKey::new(tenant, conversation.id.shard(), names), first)
}

/// Stores the record of a conversation that names this thread.
pub(super) fn insert(
    db: &Connection,
    tenant: &Tenant,
    conversation: &Conversation,
    names: ThreadId,
) -> Result<()> {
    const SQL: &str = "
        INSERT INTO conversations (tenant, shard, id, thread, created_at, metadata)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
    let id = &conversation.id;
    db.prepare_cached(SQL)?.execute(params![
        tenant.as_str(),
        shard(id.shard()),
        id.as_str(),
        thread(names),
        conversation.created_at,
        &*conversation.metadata,
    ])?;
    Ok(())
}

/// Moves the conversation to a new thread that begins with these items, and releases the old
/// thread.
pub(super) fn rebase(
    db: &Connection,
    tenant: &Tenant,
    id: &ConversationId,
    fresh: ThreadId,
    first: &[HeldItem],
) -> Result<()> {
    const SQL: &str = "
        UPDATE conversations SET thread = ?4 WHERE tenant = ?1 AND shard = ?2 AND id = ?3";
    let named = end(db, tenant, id)?.ok_or(StoreError::ConversationNotFound)?;
    let parameters = params![tenant.as_str(), shard(id.shard()), id.as_str(), thread(fresh)];
    db.prepare_cached(SQL)?.execute(parameters)?;
    begin(db, ThreadKey::new(tenant, id.shard(), fresh), first)?;
    sweep::sweep(db, ThreadKey::from_cursor(tenant, named))
}

/// Creates the thread of a conversation, and its first items.
fn begin(db: &Connection, key: ThreadKey<'_>, first: &[HeldItem]) -> Result<()> {
    threads::create_root(db, key, true, first.len() as u64)?;
    items::append(db, key, 0, first)?;
    Ok(())
}

/// The conversation and the end of its thread.
pub(super) fn find(
    db: &Connection,
    tenant: &Tenant,
    id: &ConversationId,
) -> Result<Option<(Conversation, Cursor)>> {
    const SQL: &str = "
        SELECT thread, tip, created_at, metadata
        FROM conversations JOIN threads USING (tenant, shard, thread)
        WHERE tenant = ?1 AND shard = ?2 AND id = ?3 AND first = 0x7fffffffffffffff";
    let found = db
        .prepare_cached(SQL)?
        .query_row(row_key(tenant, id), |row| Ok((read(row, 2, id)?, cursor(row, id)?)))
        .optional()?;
    Ok(found)
}

/// The end of the conversation's thread.
pub(super) fn end(db: &Connection, tenant: &Tenant, id: &ConversationId) -> Result<Option<Cursor>> {
    const SQL: &str = "
        SELECT thread, tip
        FROM conversations JOIN threads USING (tenant, shard, thread)
        WHERE tenant = ?1 AND shard = ?2 AND id = ?3 AND first = 0x7fffffffffffffff";
    let end =
        db.prepare_cached(SQL)?.query_row(row_key(tenant, id), |row| cursor(row, id)).optional()?;
    Ok(end)
}

/// Replaces the metadata.
pub(super) fn set_metadata(
    db: &Connection,
    tenant: &Tenant,
    id: &ConversationId,
    metadata: &[u8],
) -> Result<Option<Conversation>> {
    const SQL: &str = "
        UPDATE conversations SET metadata = ?4
        WHERE tenant = ?1 AND shard = ?2 AND id = ?3
        RETURNING created_at, metadata";
    let conversation = db
        .prepare_cached(SQL)?
        .query_row(params![tenant.as_str(), shard(id.shard()), id.as_str(), metadata], |row| {
            read(row, 0, id)
        })
        .optional()?;
    Ok(conversation)
}

/// Appends items to the conversation's thread.
pub(super) fn append(
    db: &Connection,
    tenant: &Tenant,
    id: &ConversationId,
    more: &[HeldItem],
) -> Result<()> {
    let end = end(db, tenant, id)?.ok_or(StoreError::ConversationNotFound)?;
    let key = ThreadKey::from_cursor(tenant, end);
    let tip = items::append(db, key, end.end, more)?;
    threads::advance(db, key, tip, None)
}

/// The live item with this id in the conversation.
pub(super) fn item(
    db: &Connection,
    tenant: &Tenant,
    id: &ConversationId,
    item: &ItemId,
) -> Result<Option<HeldItem>> {
    match end(db, tenant, id)? {
        Some(end) => items::find(db, ThreadKey::from_cursor(tenant, end), item),
        None => Ok(None),
    }
}

/// Erases the live item with this id in the conversation. Returns whether it existed.
pub(super) fn erase_item(
    db: &Connection,
    tenant: &Tenant,
    id: &ConversationId,
    item: &ItemId,
) -> Result<bool> {
    match end(db, tenant, id)? {
        Some(end) if items::erase(db, ThreadKey::from_cursor(tenant, end), item)? => {
            jobs::remove_ended_within(db, tenant, id)?;
            Ok(true)
        }
        _ => Ok(false),
    }
}

/// Deletes the conversation. Returns whether it existed.
pub(super) fn delete(db: &Connection, tenant: &Tenant, id: &ConversationId) -> Result<bool> {
    const SQL: &str = "
        DELETE FROM conversations WHERE tenant = ?1 AND shard = ?2 AND id = ?3
        RETURNING thread";
    let named: Option<i64> =
        db.prepare_cached(SQL)?.query_row(row_key(tenant, id), |row| row.get(0)).optional()?;
    if let Some(named) = named {
        ledger_names::unname(db, tenant, &LedgerSubject::Conversation(id.clone()))?;
        sweep::sweep(db, ThreadKey::new(tenant, id.shard(), thread_from_column(named)))?;
    }
    Ok(named.is_some())
}

fn read(row: &Row<'_>, first: usize, id: &ConversationId) -> rusqlite::Result<Conversation> {
    Ok(Conversation {
        id: id.clone(),
        created_at: row.get(first)?,
        metadata: Bytes::from(row.get::<_, Vec<u8>>(first + 1)?),
    })
}

fn cursor(row: &Row<'_>, id: &ConversationId) -> rusqlite::Result<Cursor> {
    Ok(Cursor {
        shard: id.shard(),
        thread: thread_from_column(row.get(0)?),
        end: seq_from_column(row.get(1)?),
    })
}
