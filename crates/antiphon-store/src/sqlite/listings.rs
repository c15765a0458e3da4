//! Implements [`Listings`] for [`SqliteStore`], and for a snapshot of a file.

use antiphon::HeldItem;
use async_trait::async_trait;
use bytes::Bytes;
use rusqlite::{Connection, Params, Row, params};
use tokio::sync::Mutex;

use super::keys::{self, ThreadKey, seq_from_column, shard, thread_from_column};
use super::responses::invalid_id;
use super::{SqliteSnapshot, SqliteStore, ledger_names, pages, pending_turns, responses, threads};
use crate::error::StoreError;
use crate::ids::{ConversationId, ResponseId, Shard, Tenant, ThreadId};
use crate::ledger_records::LedgerEntry;
use crate::listings::{
    EXAMINED, ListedOpenTurn, ListedResponse, ListedSegment, ListedThread, ListedTurn, Listings,
    MAX_TREE, NewestPage, Recency, Tree,
};
use crate::records::{Conversation, ResponseRecord, Seq};
use crate::usage::Usage;

type Result<T> = std::result::Result<T, StoreError>;

/// A snapshot of a file, for lists.
pub(crate) struct SqliteListings(Mutex<SqliteSnapshot>);

impl SqliteListings {
    pub(crate) fn new(snapshot: SqliteSnapshot) -> Self {
        Self(Mutex::new(snapshot))
    }

    async fn read<T, F>(&self, work: F) -> Result<T>
    where
        T: Send + 'static,
        F: FnOnce(&Connection) -> Result<T> + Send + 'static,
    {
        self.0.lock().await.read(work).await
    }
}

macro_rules! implement_listings {
    ($type:ty) => {
        #[async_trait]
        impl Listings for $type {
            async fn newest_responses(
                &self,
                tenant: &Tenant,
                before: Option<Recency>,
            ) -> Result<NewestPage<ListedResponse>> {
                let tenant = tenant.clone();
                self.read(move |db| newest_responses(db, &tenant, before)).await
            }

            async fn newest_conversations(
                &self,
                tenant: &Tenant,
                before: Option<(i64, ConversationId)>,
                limit: usize,
            ) -> Result<Vec<Conversation>> {
                let tenant = tenant.clone();
                self.read(move |db| newest_conversations(db, &tenant, before.as_ref(), limit)).await
            }

            async fn tree(&self, tenant: &Tenant, shard: Shard) -> Result<Tree> {
                let tenant = tenant.clone();
                self.read(move |db| tree(db, &tenant, shard)).await
            }

            async fn thread_responses(
                &self,
                tenant: &Tenant,
                (shard, thread): (Shard, ThreadId),
                range: (Seq, Seq),
                limit: usize,
            ) -> Result<Vec<ResponseRecord>> {
                let tenant = tenant.clone();
                self.read(move |db| {
                    let key = ThreadKey::new(&tenant, shard, thread);
                    responses::find_in_thread(db, key, range, limit)
                })
                .await
            }

            async fn response_record(
                &self,
                tenant: &Tenant,
                id: &ResponseId,
            ) -> Result<Option<ResponseRecord>> {
                let (tenant, id) = (tenant.clone(), id.clone());
                self.read(move |db| responses::find(db, &tenant, &id)).await
            }

            async fn thread_items(
                &self,
                tenant: &Tenant,
                (shard, thread): (Shard, ThreadId),
                (from, end): (Seq, Seq),
            ) -> Result<Vec<(Seq, HeldItem)>> {
                let tenant = tenant.clone();
                self.read(move |db| {
                    pages::items(db, ThreadKey::new(&tenant, shard, thread), &(from..end))
                })
                .await
            }

            async fn ledgers_after(
                &self,
                tenant: &Tenant,
                after: Option<&str>,
            ) -> Result<Vec<(String, LedgerEntry)>> {
                let (tenant, after) = (tenant.clone(), after.map(str::to_owned));
                self.read(move |db| pages::ledgers(db, &tenant, after.as_deref())).await
            }

            async fn ledger(
                &self,
                tenant: &Tenant,
                provider_id: &str,
            ) -> Result<Option<LedgerEntry>> {
                let (tenant, name) = (tenant.clone(), provider_id.to_owned());
                self.read(move |db| ledger_names::find(db, &tenant, &name)).await
            }
        }
    };
}

implement_listings!(SqliteStore);
implement_listings!(SqliteListings);

/// The newest responses, by the summary of their creations and the segments that it lacks.
fn newest_responses(
    db: &Connection,
    tenant: &Tenant,
    before: Option<Recency>,
) -> Result<NewestPage<ListedResponse>> {
    const SQL: &str = "
        SELECT found.created_at, number, owner, id, conversation FROM (
            SELECT created_at, segment FROM (
                SELECT created_at, segment FROM creations
                WHERE (created_at, segment) < (?1, ?2)
                ORDER BY created_at DESC, segment DESC LIMIT ?3
            )
            UNION ALL
            SELECT created_at, number FROM segments
            WHERE number > (SELECT segment FROM summarized) AND (created_at, number) < (?1, ?2)
        ) AS found CROSS JOIN segments ON number = found.segment
        ORDER BY found.created_at DESC, number DESC LIMIT ?3";
    let before = before.unwrap_or(Recency::LATEST);
    let mut statement = db.prepare_cached(SQL)?;
    let mut rows = statement.query(params![before.created_at, before.number, EXAMINED])?;
    let (mut entries, mut last, mut examined) = (Vec::new(), None, 0);
    while let Some(row) = rows.next()? {
        let recency = Recency { created_at: row.get(0)?, number: row.get(1)? };
        (last, examined) = (Some(recency), examined + 1);
        if row.get_ref(2)?.as_str().is_ok_and(|owner| owner == tenant.as_str()) {
            entries.push(read_listed(row, 3, recency)?);
        }
    }
    Ok(NewestPage { entries, next: last.filter(|_| examined == EXAMINED) })
}

/// Reads a response from the columns id and conversation.
fn read_listed(row: &Row<'_>, from: usize, recency: Recency) -> rusqlite::Result<ListedResponse> {
    let id = ResponseId::parse(row.get_ref(from)?.as_str()?).ok_or_else(|| invalid_id(from))?;
    Ok(ListedResponse { id, conversation: read_conversation_id(row, from + 1)?, recency })
}

fn read_conversation_id(row: &Row<'_>, at: usize) -> rusqlite::Result<Option<ConversationId>> {
    let id = row.get_ref(at)?.as_str_or_null()?;
    id.map(|id| ConversationId::parse(id).ok_or_else(|| invalid_id(at))).transpose()
}

fn newest_conversations(
    db: &Connection,
    tenant: &Tenant,
    before: Option<&(i64, ConversationId)>,
    limit: usize,
) -> Result<Vec<Conversation>> {
    const SQL: &str = "
        SELECT id, created_at, metadata FROM conversations
        WHERE tenant = ?1 AND (created_at, id) < (?2, ?3)
        ORDER BY created_at DESC, id DESC LIMIT ?4";
    let (created_at, id) = before.map_or((i64::MAX, ""), |(at, id)| (*at, id.as_str()));
    let given = params![tenant.as_str(), created_at, id, keys::limit(limit)];
    select(db, SQL, given, |row| read_conversation(row, 0))
}

/// Reads a conversation from the columns id, `created_at`, metadata.
fn read_conversation(row: &Row<'_>, from: usize) -> rusqlite::Result<Conversation> {
    let id = ConversationId::parse(row.get_ref(from)?.as_str()?).ok_or_else(|| invalid_id(from))?;
    let metadata = Bytes::from(row.get::<_, Vec<u8>>(from + 2)?);
    Ok(Conversation { id, created_at: row.get(from + 1)?, metadata })
}

fn select<T>(
    db: &Connection,
    sql: &str,
    given: impl Params,
    read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
) -> Result<Vec<T>> {
    Ok(db.prepare_cached(sql)?.query_map(given, read)?.collect::<rusqlite::Result<_>>()?)
}

fn tree(db: &Connection, tenant: &Tenant, in_shard: Shard) -> Result<Tree> {
    let threads = tree_threads(db, tenant, in_shard)?;
    let segments = tree_segments(db, tenant, in_shard)?;
    let is_whole = threads.len() < MAX_TREE && segments.len() < MAX_TREE;
    Ok(Tree {
        ledgers: tree_ledgers(db, tenant, in_shard)?,
        open_turns: tree_open_turns(db, tenant, in_shard)?,
        jobs: tree_jobs(db, tenant, in_shard)?,
        queued: Vec::new(),
        threads,
        segments,
        is_whole,
    })
}

fn tree_threads(db: &Connection, tenant: &Tenant, in_shard: Shard) -> Result<Vec<ListedThread>> {
    const THREADS: &str = "
        SELECT thread FROM threads
        WHERE tenant = ?1 AND shard = ?2 AND first = 0x7fffffffffffffff ORDER BY thread LIMIT ?3";
    const NAMES: &str = "
        SELECT thread, id, created_at, metadata FROM conversations
        WHERE tenant = ?1 AND shard = ?2 LIMIT ?3";
    let given = (tenant.as_str(), shard(in_shard), keys::limit(MAX_TREE));
    let names = select(db, NAMES, given, |row| {
        Ok((thread_from_column(row.get(0)?), read_conversation(row, 1)?))
    })?;
    let ids = select(db, THREADS, given, |row| Ok(thread_from_column(row.get(0)?)))?;
    let mut listed = Vec::with_capacity(ids.len());
    for id in ids {
        let name = names.iter().find(|(thread, _)| *thread == id);
        if let Some(record) = threads::record(db, ThreadKey::new(tenant, in_shard, id))? {
            let conversation = name.map(|(_, conversation)| conversation.clone());
            listed.push(ListedThread { record, conversation });
        }
    }
    Ok(listed)
}

fn tree_segments(db: &Connection, tenant: &Tenant, in_shard: Shard) -> Result<Vec<ListedSegment>> {
    const SQL: &str = "
        SELECT thread, threads.first, threads.held, threads.live, threads.bytes, number,
               id, conversation, created_at, output_from, segments.end_at
        FROM threads CROSS JOIN segments ON number = segment
        WHERE tenant = ?1 AND shard = ?2 AND tip IS NULL
        ORDER BY thread, threads.first, segment LIMIT ?3";
    let given = (tenant.as_str(), shard(in_shard), keys::limit(MAX_TREE));
    select(db, SQL, given, |row| {
        Ok(ListedSegment {
            thread: thread_from_column(row.get(0)?),
            first: seq_from_column(row.get(1)?),
            held: seq_from_column(row.get(2)?),
            live: Usage::from_columns(row.get(3)?, row.get(4)?),
            response: match row.get::<_, Option<i64>>(8)? {
                None => None,
                Some(created_at) => Some(ListedTurn {
                    listed: read_listed(row, 6, Recency { created_at, number: row.get(5)? })?,
                    output_from: seq_from_column(row.get(9)?),
                    end: seq_from_column(row.get(10)?),
                }),
            },
        })
    })
}

fn tree_ledgers(
    db: &Connection,
    tenant: &Tenant,
    in_shard: Shard,
) -> Result<Vec<(String, LedgerEntry)>> {
    const SQL: &str = "
        SELECT provider_id, upstream, kept, in_doubt FROM ledgers
        WHERE tenant = ?1 AND shard = ?2 ORDER BY kept LIMIT ?3";
    let given = (tenant.as_str(), shard(in_shard), keys::limit(MAX_TREE));
    select(db, SQL, given, |row| Ok((row.get(0)?, ledger_names::read(row, 1)?)))
}

fn tree_open_turns(
    db: &Connection,
    tenant: &Tenant,
    in_shard: Shard,
) -> Result<Vec<ListedOpenTurn>> {
    const SQL: &str = "
        SELECT id, into_conversation, thread, created_at FROM pending_turns
        WHERE place BETWEEN ?1 AND ?2 AND tenant = ?3 AND shard = ?4
        ORDER BY ordinal LIMIT ?5";
    let (first, last) = pending_turns::places(in_shard);
    let given = (first, last, tenant.as_str(), shard(in_shard), EXAMINED);
    select(db, SQL, given, |row| {
        let response = ResponseId::parse(row.get_ref(0)?.as_str()?).ok_or_else(|| invalid_id(0))?;
        Ok(ListedOpenTurn {
            response,
            conversation: read_conversation_id(row, 1)?,
            thread: row.get::<_, Option<i64>>(2)?.map(thread_from_column),
            created_at: row.get(3)?,
        })
    })
}

fn tree_jobs(db: &Connection, tenant: &Tenant, in_shard: Shard) -> Result<Vec<ResponseId>> {
    const SQL: &str = "
        SELECT id FROM jobs
        WHERE tenant = ?1 AND shard = ?2 AND expires_at IS NULL ORDER BY id LIMIT ?3";
    let given = (tenant.as_str(), shard(in_shard), EXAMINED);
    select(db, SQL, given, |row| {
        ResponseId::parse(row.get_ref(0)?.as_str()?).ok_or_else(|| invalid_id(0))
    })
}
