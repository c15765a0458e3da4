//! Conversations: names of threads.

use antiphon::{HeldItem, ItemId};
use bytes::Bytes;
use futures_util::future;
use tokio_postgres::Row;

use super::failure::Failure;
use super::session::Session;
use super::statements::statements;
use super::{items, jobs, ledger_names, sweep, threads};
use crate::error::StoreError;
use crate::ids::{ConversationId, Tenant, ThreadId};
use crate::keys::{ThreadKey, row_key, seq_from_column, shard, thread, thread_from_column};
use crate::ledger_records::LedgerSubject;
use crate::records::{Conversation, Cursor, Seq};

type Result<T> = std::result::Result<T, Failure>;

/// Creates a conversation, its thread and its first items.
pub(super) async fn create(
    db: &Session,
    tenant: &Tenant,
    conversation: &Conversation,
    names: ThreadId,
    first: &[HeldItem],
) -> Result<()> {
    let key = ThreadKey::new(tenant, conversation.id.shard(), names);
    let (named, begun) =
        future::join(insert(db, tenant, conversation, names), begin(db, key, first)).await;
    named.and(begun)
}

/// Moves the conversation to a new thread that begins with these items, and releases the old
/// thread.
pub(super) async fn rebase(
    db: &Session,
    tenant: &Tenant,
    id: &ConversationId,
    fresh: ThreadId,
    first: &[HeldItem],
) -> Result<()> {
    let named = end(db, tenant, id).await?.ok_or(StoreError::ConversationNotFound)?;
    let key = ThreadKey::new(tenant, id.shard(), fresh);
    let (rebased, begun) = future::join(
        db.execute(&REBASE, &[&key.tenant(), &key.shard(), &id.as_str(), &key.thread()]),
        begin(db, key, first),
    )
    .await;
    rebased?;
    begun?;
    sweep::sweep(db, ThreadKey::from_cursor(tenant, named)).await
}

/// Creates the thread of a conversation, and its first items.
async fn begin(db: &Session, key: ThreadKey<'_>, first: &[HeldItem]) -> Result<()> {
    let (begun, appended) = future::join(
        threads::create_root(db, key, count(first), true),
        items::append(db, key, 0, first.iter()),
    )
    .await;
    begun.and(appended)
}

pub(super) async fn insert(
    db: &Session,
    tenant: &Tenant,
    conversation: &Conversation,
    names: ThreadId,
) -> Result<()> {
    let id = &conversation.id;
    let given = (tenant.as_str(), shard(id.shard()), id.as_str(), thread(names));
    let metadata = &*conversation.metadata;
    db.execute(
        &CREATE,
        &[&given.0, &given.1, &given.2, &given.3, &conversation.created_at, &metadata],
    )
    .await
    .map(drop)
}

/// The conversation and the end of its thread.
pub(super) async fn find(
    db: &Session,
    tenant: &Tenant,
    id: &ConversationId,
) -> Result<Option<(Conversation, Cursor)>> {
    let found = db.row(&FIND, &[&tenant.as_str(), &shard(id.shard()), &id.as_str()]).await?;
    Ok(found.map(|row| (read(&row, 2, id), cursor(&row, id))))
}

/// The end of the conversation's thread.
pub(super) async fn end(
    db: &Session,
    tenant: &Tenant,
    id: &ConversationId,
) -> Result<Option<Cursor>> {
    let found = db.row(&END, &[&tenant.as_str(), &shard(id.shard()), &id.as_str()]).await?;
    Ok(found.map(|row| cursor(&row, id)))
}

/// Replaces the metadata.
pub(super) async fn set_metadata(
    db: &Session,
    tenant: &Tenant,
    id: &ConversationId,
    metadata: &[u8],
) -> Result<Option<Conversation>> {
    let given = row_key(tenant, id);
    let changed = db.row(&SET_METADATA, &[&given.0, &given.1, &given.2, &metadata]).await?;
    Ok(changed.map(|row| read(&row, 0, id)))
}

/// Appends items to the conversation's thread.
pub(super) async fn append(
    db: &Session,
    tenant: &Tenant,
    id: &ConversationId,
    more: &[HeldItem],
) -> Result<()> {
    let end = end(db, tenant, id).await?.ok_or(StoreError::ConversationNotFound)?;
    let key = ThreadKey::from_cursor(tenant, end);
    let (appended, advanced) = future::join(
        items::append(db, key, end.end, more.iter()),
        threads::advance(db, key, end.end.saturating_add(count(more)), None),
    )
    .await;
    appended.and(advanced)
}

/// Erases the live item with this id in the conversation. Returns whether it existed.
pub(super) async fn erase_item(
    db: &Session,
    tenant: &Tenant,
    id: &ConversationId,
    item: &ItemId,
) -> Result<bool> {
    match end(db, tenant, id).await? {
        Some(end) if items::erase(db, ThreadKey::from_cursor(tenant, end), item).await? => {
            jobs::remove_ended_within(db, tenant, id).await?;
            Ok(true)
        }
        _ => Ok(false),
    }
}

/// Deletes the conversation. Returns whether it existed.
pub(super) async fn delete(db: &Session, tenant: &Tenant, id: &ConversationId) -> Result<bool> {
    let given = row_key(tenant, id);
    let subject = LedgerSubject::Conversation(id.clone());
    let (deleted, unnamed) = future::join(
        db.row(&DELETE, &[&given.0, &given.1, &given.2]),
        ledger_names::unname(db, tenant, &subject),
    )
    .await;
    unnamed?;
    let Some(row) = deleted? else { return Ok(false) };
    sweep::sweep(db, ThreadKey::new(tenant, id.shard(), thread_from_column(row.get(0)))).await?;
    Ok(true)
}

/// The number of items, as a difference of positions.
pub(super) fn count(items: &[HeldItem]) -> Seq {
    items.len() as Seq
}

fn read(row: &Row, first: usize, id: &ConversationId) -> Conversation {
    Conversation {
        id: id.clone(),
        created_at: row.get(first),
        metadata: Bytes::copy_from_slice(row.get(first + 1)),
    }
}

fn cursor(row: &Row, id: &ConversationId) -> Cursor {
    Cursor {
        shard: id.shard(),
        thread: thread_from_column(row.get(0)),
        end: seq_from_column(row.get(1)),
    }
}

statements! {
    CREATE = "
        INSERT INTO conversations (tenant, shard, id, thread, created_at, metadata)
        VALUES ($1, $2, $3, $4, $5, $6)";
    FIND = "
        SELECT thread, tip, created_at, metadata
        FROM conversations JOIN threads USING (tenant, shard, thread)
        WHERE tenant = $1 AND shard = $2 AND id = $3";
    END = "
        SELECT thread, tip
        FROM conversations JOIN threads USING (tenant, shard, thread)
        WHERE tenant = $1 AND shard = $2 AND id = $3";
    REBASE = "
        UPDATE conversations SET thread = $4 WHERE tenant = $1 AND shard = $2 AND id = $3";
    SET_METADATA = "
        UPDATE conversations SET metadata = $4
        WHERE tenant = $1 AND shard = $2 AND id = $3
        RETURNING created_at, metadata";
    DELETE = "
        DELETE FROM conversations WHERE tenant = $1 AND shard = $2 AND id = $3
        RETURNING thread";
}
