//! Named values, each stored once for the whole store.

use bytes::Bytes;

use super::failure::Failure;
use super::session::Session;
use super::statements::statements;

/// Returns the value stored under `name`. If there is none, stores and returns `candidate`.
pub(super) async fn keep(db: &Session, name: &str, candidate: &[u8]) -> Result<Bytes, Failure> {
    db.execute(&KEEP, &[&name, &candidate]).await?;
    let value = db.row(&READ, &[&name]).await?;
    let value = value.ok_or_else(|| Failure::unreadable("no value for a name just stored"))?;
    Ok(Bytes::copy_from_slice(value.get(0)))
}

/// The value stored under `name`.
pub(super) async fn find(db: &Session, name: &str) -> Result<Option<Bytes>, Failure> {
    let value = db.row(&READ, &[&name]).await?;
    Ok(value.map(|row| Bytes::copy_from_slice(row.get(0))))
}

/// Replaces `old` by `new`. Returns whether `old` was the stored value.
pub(super) async fn replace(
    db: &Session,
    name: &str,
    old: &[u8],
    new: &[u8],
) -> Result<bool, Failure> {
    Ok(db.execute(&REPLACE, &[&name, &old, &new]).await? == 1)
}

statements! {
    KEEP = "INSERT INTO kept (name, value) VALUES ($1, $2) ON CONFLICT DO NOTHING";
    READ = "SELECT value FROM kept WHERE name = $1";
    REPLACE = "UPDATE kept SET value = $3 WHERE name = $1 AND value = $2";
}
