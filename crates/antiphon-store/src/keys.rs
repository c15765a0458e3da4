//! Converts keys and positions to the signed integers of a database.

use crate::ids::{ResponseId, Shard, ShardedId, Tenant, ThreadId};
use crate::records::{Cursor, RequestDigest, Seq};

/// The key of a thread.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ThreadKey<'a> {
    pub(crate) owner: &'a Tenant,
    pub(crate) in_shard: Shard,
    pub(crate) id: ThreadId,
}

impl<'a> ThreadKey<'a> {
    pub(crate) fn new(owner: &'a Tenant, in_shard: Shard, id: ThreadId) -> Self {
        Self { owner, in_shard, id }
    }

    pub(crate) fn from_cursor(owner: &'a Tenant, cursor: Cursor) -> Self {
        Self::new(owner, cursor.shard, cursor.thread)
    }

    /// The column `tenant`.
    pub(crate) fn tenant(&self) -> &'a str {
        self.owner.as_str()
    }

    /// The column `shard`.
    pub(crate) fn shard(self) -> i64 {
        shard(self.in_shard)
    }

    /// The column `thread`.
    pub(crate) fn thread(self) -> i64 {
        thread(self.id)
    }
}

/// The key columns of the rows of a conversation or response: tenant, shard, id.
pub(crate) fn row_key<'a>(tenant: &'a Tenant, id: &'a impl ShardedId) -> (&'a str, i64, &'a str) {
    (tenant.as_str(), shard(id.shard()), id.as_str())
}

pub(crate) fn shard(shard: Shard) -> i64 {
    shard.0.cast_signed()
}

pub(crate) fn thread(thread: ThreadId) -> i64 {
    thread.0.cast_signed()
}

pub(crate) fn thread_from_column(column: i64) -> ThreadId {
    ThreadId(column.cast_unsigned())
}

/// Positions must sort as numbers, so they are converted as numbers. None comes near the maximum.
pub(crate) fn position(seq: Seq) -> i64 {
    i64::try_from(seq).unwrap_or(i64::MAX)
}

pub(crate) fn seq_from_column(column: i64) -> Seq {
    column.cast_unsigned()
}

/// Converts the maximum number of rows that a statement returns.
pub(crate) fn limit(rows: usize) -> i64 {
    i64::try_from(rows).unwrap_or(i64::MAX)
}

/// The last 64 bits of a response's id.
pub(crate) fn response_number(id: &ResponseId) -> i64 {
    let (_, digits) = id.as_str().split_at(id.as_str().len() - 16);
    u64::from_str_radix(digits, 16).expect("the digits were checked").cast_signed()
}

/// The last 64 bits of a request's digest. The first 64 may be those of its shard.
pub(crate) fn request_number(request: &RequestDigest) -> i64 {
    let (_, half) = request.0.split_last_chunk().expect("a digest is longer than this");
    i64::from_be_bytes(*half)
}
