//! Keys and positions as SQLite's integers.

use crate::ids::{Shard, Tenant, ThreadId};
use crate::records::{Cursor, Seq};

/// Which thread.
#[derive(Clone, Copy, Debug)]
pub(super) struct ThreadKey<'a> {
    pub(super) owner: &'a Tenant,
    pub(super) in_shard: Shard,
    pub(super) id: ThreadId,
}

impl<'a> ThreadKey<'a> {
    pub(super) fn new(owner: &'a Tenant, in_shard: Shard, id: ThreadId) -> Self {
        Self { owner, in_shard, id }
    }

    pub(super) fn of(owner: &'a Tenant, cursor: Cursor) -> Self {
        Self::new(owner, cursor.shard, cursor.thread)
    }

    /// The column `tenant`.
    pub(super) fn tenant(&self) -> &'a str {
        self.owner.as_str()
    }

    /// The column `shard`.
    pub(super) fn shard(self) -> i64 {
        shard(self.in_shard)
    }

    /// The column `thread`.
    pub(super) fn thread(self) -> i64 {
        thread(self.id)
    }
}

pub(super) fn shard(shard: Shard) -> i64 {
    shard.0.cast_signed()
}

pub(super) fn thread(thread: ThreadId) -> i64 {
    thread.0.cast_signed()
}

pub(super) fn thread_of(column: i64) -> ThreadId {
    ThreadId(column.cast_unsigned())
}

/// Positions order as numbers, so they are kept as such; none comes near the greatest.
pub(super) fn position(seq: Seq) -> i64 {
    i64::try_from(seq).unwrap_or(i64::MAX)
}

pub(super) fn seq_of(column: i64) -> Seq {
    column.cast_unsigned()
}
