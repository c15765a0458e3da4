//! Maps providers' ids of conversations and responses to local ids.

use futures_util::future;
use tokio_postgres::Row;

use super::failure::Failure;
use super::responses::invalid_id;
use super::session::Session;
use super::shared::Shared;
use super::statements::statements;
use super::transaction::{Effect, Lock};
use super::{conversations, pending_turns, responses};
use crate::ids::{ConversationId, ResponseId, ShardedId as _, Tenant};
use crate::keys::{row_key, shard};
use crate::ledger_records::{LedgerEntry, LedgerSubject, LedgerUpdate, UpstreamId};
use crate::records::{Destination, TurnRecord};

type Result<T> = std::result::Result<T, Failure>;

/// The ledger that this name stands for.
pub(super) async fn find(db: &Session, tenant: &Tenant, name: &str) -> Result<Option<LedgerEntry>> {
    let found = db.row(&FIND, &[&tenant.as_str(), &name.as_bytes()]).await?;
    found.map(|row| read(&row, 0)).transpose()
}

/// The name of this conversation or response.
pub(super) async fn upstream_id(
    db: &Session,
    tenant: &Tenant,
    subject: &LedgerSubject,
) -> Result<Option<UpstreamId>> {
    let (within, id) = (shard(subject.shard()), subject.as_str());
    let found = db.row(&NAME_OF, &[&tenant.as_str(), &within, &id]).await?;
    let Some(row) = found else { return Ok(None) };
    let id = String::from_utf8(row.get(1));
    let id = id.map_err(|_| Failure::unreadable("a name that is not UTF-8"))?;
    Ok(Some(UpstreamId { upstream: row.get(0), id }))
}

/// Whether any name exists.
pub(super) async fn any(db: &Session) -> Result<bool> {
    Ok(db.row(&ANY, &[]).await?.is_some())
}

/// Whether this has a name.
pub(super) async fn is_named(
    db: &Session,
    tenant: &Tenant,
    subject: &LedgerSubject,
) -> Result<bool> {
    let (within, id) = (shard(subject.shard()), subject.as_str());
    Ok(db.row(&IS_NAMED, &[&tenant.as_str(), &within, &id]).await?.is_some())
}

/// Reads an entry from the columns upstream, kept, `is_stale`.
pub(super) fn read(row: &Row, first: usize) -> Result<LedgerEntry> {
    Ok(LedgerEntry {
        upstream: row.get(first),
        subject: LedgerSubject::parse(row.get(first + 1)).ok_or_else(invalid_id)?,
        is_stale: row.get(first + 2),
    })
}

/// Assigns a name, unless it is in use. Returns the ledger that it stands for now. The row stays
/// locked until the transaction ends.
pub(super) async fn claim(
    db: &Session,
    tenant: &Tenant,
    named: &UpstreamId,
    subject: &LedgerSubject,
    is_stale: bool,
) -> Result<LedgerEntry> {
    let (owner, name) = (tenant.as_str(), named.id.as_bytes());
    let (within, id) = (shard(subject.shard()), subject.as_str());
    let claimed = db
        .row(&CLAIM, &[&owner, &name, &named.upstream, &within, &id, &is_stale])
        .await?
        .ok_or_else(|| Failure::unreadable("no row for a name just claimed"))?;
    read(&claimed, 0)
}

/// Assigns a name to this conversation or response. Deletes the previous bearer of the name, and
/// removes another name of the same conversation or response.
///
/// If the previous bearer is in another tree of forks, returns it instead: [`delete_outlived`]
/// deletes it after the commit, so that no transaction locks two trees.
pub(super) async fn enter(
    db: &Session,
    tenant: &Tenant,
    named: &UpstreamId,
    subject: &LedgerSubject,
    is_stale: bool,
) -> Result<Option<LedgerSubject>> {
    let (owner, name) = (tenant.as_str(), named.id.as_bytes());
    let (within, id) = (shard(subject.shard()), subject.as_str());
    let (unnamed, before, pointed) = future::join3(
        db.execute(&UNNAME_OTHERS, &[&owner, &name, &within, &id]),
        claim(db, tenant, named, subject, is_stale),
        db.execute(&POINT, &[&owner, &name, &named.upstream, &within, &id, &is_stale]),
    )
    .await;
    unnamed?;
    let before = before?.subject;
    pointed?;
    if before == *subject {
        return Ok(None);
    }
    if before.shard() != subject.shard() {
        return Ok(Some(before));
    }
    delete_subject(db, tenant, &before).await?;
    Ok(None)
}

/// Applies the ledger changes of a committed turn. Returns the result of [`enter`].
pub(super) async fn follow(
    db: &Session,
    tenant: &Tenant,
    turn: &TurnRecord,
) -> Result<Option<LedgerSubject>> {
    let Some(LedgerUpdate { response: named, is_stale }) = &turn.ledger else { return Ok(None) };
    if let Destination::Conversation(id) = &turn.destination {
        set_stale(db, tenant, id, *is_stale).await?;
    }
    match (named, &turn.response) {
        (Some(named), Some(response)) => {
            let subject = LedgerSubject::Response(response.id.clone());
            enter(db, tenant, named, &subject, *is_stale).await
        }
        _ => Ok(None),
    }
}

/// Marks a conversation's ledger as stale or fresh. Returns whether the ledger exists.
pub(super) async fn set_stale(
    db: &Session,
    tenant: &Tenant,
    id: &ConversationId,
    is_stale: bool,
) -> Result<bool> {
    let given = row_key(tenant, id);
    Ok(db.execute(&SET_STALE, &[&given.0, &given.1, &given.2, &is_stale]).await? > 0)
}

/// Deletes a name and its conversation or response, if it still stands for `subject`. Returns
/// whether it did.
pub(super) async fn forget(
    db: &Session,
    tenant: &Tenant,
    name: &str,
    subject: &LedgerSubject,
) -> Result<bool> {
    let given = (tenant.as_str(), name.as_bytes(), shard(subject.shard()), subject.as_str());
    if db.execute(&FORGET, &[&given.0, &given.1, &given.2, &given.3]).await? == 0 {
        return Ok(false);
    }
    if let LedgerSubject::Response(id) = subject {
        pending_turns::remove(db, tenant, id).await?;
    }
    delete_subject(db, tenant, subject).await?;
    Ok(true)
}

/// Deletes the previous bearer of a name, in its own tree. If that fails, the bearer stays in the
/// database, but nothing refers to it.
pub(super) async fn delete_outlived(
    shared: &Shared,
    tenant: &Tenant,
    outlived: Option<LedgerSubject>,
) {
    let Some(subject) = outlived else { return };
    let given = (tenant.clone(), subject);
    let tree = Lock::Tree(tenant, given.1.shard());
    let deleted = shared
        .write(Effect::Unsynced, tree, &given, |db, (tenant, subject)| {
            Box::pin(delete_unnamed(db, tenant, subject))
        })
        .await;
    if let Err(error) = deleted {
        tracing::warn!(
            %error,
            "could not delete the conversation or response that a provider's id stood for before; \
             it stays in the database, unused",
        );
    }
}

async fn delete_unnamed(db: &Session, tenant: &Tenant, subject: &LedgerSubject) -> Result<()> {
    match is_named(db, tenant, subject).await? {
        true => Ok(()),
        false => delete_subject(db, tenant, subject).await,
    }
}

async fn delete_subject(db: &Session, tenant: &Tenant, subject: &LedgerSubject) -> Result<()> {
    match subject {
        LedgerSubject::Conversation(id) => conversations::delete(db, tenant, id).await.map(drop),
        LedgerSubject::Response(id) => responses::delete(db, tenant, id).await.map(drop),
    }
}

/// Removes the name of this conversation or response.
pub(super) async fn unname(db: &Session, tenant: &Tenant, subject: &LedgerSubject) -> Result<()> {
    let given = row_key(tenant, subject);
    db.execute(&UNNAME, &[&given.0, &given.1, &given.2]).await.map(drop)
}

/// Removes the name of a response that was announced but has no record.
pub(super) async fn unname_unrecorded(
    db: &Session,
    tenant: &Tenant,
    id: &ResponseId,
) -> Result<()> {
    let given = responses::key(tenant, id);
    db.execute(&UNNAME_UNRECORDED, &[&given.0, &given.1, &given.3, &given.2]).await.map(drop)
}

statements! {
    NAME_OF = "
        SELECT upstream, provider_id FROM ledgers
        WHERE tenant = $1 AND shard = $2 AND kept = $3";
    /// A name does not reveal the shard of its bearer.
    FIND = "
        SELECT upstream, kept, in_doubt FROM ledgers
        WHERE tenant = $1 AND name = sha256($2::bytea)";
    /// Updates an existing row to its own values, which locks and returns it.
    CLAIM = "
        INSERT INTO ledgers (tenant, name, provider_id, upstream, shard, kept, in_doubt)
        VALUES ($1, sha256($2::bytea), $2, $3, $4, $5, $6)
        ON CONFLICT (tenant, name) DO UPDATE SET in_doubt = ledgers.in_doubt
        RETURNING upstream, kept, in_doubt";
    POINT = "
        UPDATE ledgers SET upstream = $3, shard = $4, kept = $5, in_doubt = $6
        WHERE tenant = $1 AND name = sha256($2::bytea)";
    UNNAME_OTHERS = "
        DELETE FROM ledgers
        WHERE tenant = $1 AND shard = $3 AND kept = $4 AND name <> sha256($2::bytea)";
    SET_STALE = "
        UPDATE ledgers SET in_doubt = $4 WHERE tenant = $1 AND shard = $2 AND kept = $3";
    FORGET = "
        DELETE FROM ledgers
        WHERE tenant = $1 AND name = sha256($2::bytea) AND shard = $3 AND kept = $4";
    ANY = "SELECT FROM ledgers LIMIT 1";
    IS_NAMED = "SELECT FROM ledgers WHERE tenant = $1 AND shard = $2 AND kept = $3";
    UNNAME = "DELETE FROM ledgers WHERE tenant = $1 AND shard = $2 AND kept = $3";
    UNNAME_UNRECORDED = "
        DELETE FROM ledgers
        WHERE tenant = $1 AND shard = $2 AND kept = $3 AND NOT EXISTS (
            SELECT FROM segments
            WHERE tenant = $1 AND shard = $2 AND response = $4 AND id = $3
        )";
}
