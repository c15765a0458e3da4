//! Converts keys and positions to the signed integers of a database.

use crate::ids::{Shard, Tenant, ThreadId};
use crate::records::{Cursor, Seq};

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
