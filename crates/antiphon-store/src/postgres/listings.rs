//! Implements [`Listings`] for [`PostgresStore`], and for a snapshot of a database.

use antiphon::HeldItem;
use async_trait::async_trait;
use bytes::Bytes;
use tokio_postgres::Row;

use super::calls::read;
use super::failure::Failure;
use super::responses::{self, invalid_id};
use super::session::Session;
use super::statements::statements;
use super::{PostgresSnapshot, PostgresStore, ledger_names, pages, row, threads};
use crate::error::StoreError;
use crate::ids::{ConversationId, ResponseId, Shard, Tenant, ThreadId};
use crate::keys::{self, ThreadKey, seq_from_column, shard, thread_from_column};
use crate::ledger_records::LedgerEntry;
use crate::listings::{
    EXAMINED, ListedOpenTurn, ListedResponse, ListedSegment, ListedThread, ListedTurn, Listings,
    MAX_TREE, NewestPage, Recency, Tree,
};
use crate::records::{Conversation, ResponseRecord, Seq};
use crate::usage::Usage;

type Result<T> = std::result::Result<T, Failure>;

/// Runs a read of a snapshot, which has one connection.
macro_rules! read_snapshot {
    ($snapshot:expr, ($($given:ident),*), |$db:ident| $work:expr) => {{
        let ($db, ($($given,)*)) = (&$snapshot.db, ($(&$given,)*));
        $work.await.map_err(StoreError::from)
    }};
}

macro_rules! implement_listings {
    ($type:ty, $read:ident) => {
        #[async_trait]
        impl Listings for $type {
            async fn newest_responses(
                &self,
                tenant: &Tenant,
                before: Option<Recency>,
            ) -> std::result::Result<NewestPage<ListedResponse>, StoreError> {
                $read!(self, (tenant, before), |db| newest_responses(db, tenant, *before))
            }

            async fn newest_conversations(
                &self,
                tenant: &Tenant,
                before: Option<(i64, ConversationId)>,
                limit: usize,
            ) -> std::result::Result<Vec<Conversation>, StoreError> {
                $read!(self, (tenant, before, limit), |db| {
                    newest_conversations(db, tenant, before.as_ref(), *limit)
                })
            }

            async fn tree(
                &self,
                tenant: &Tenant,
                shard: Shard,
            ) -> std::result::Result<Tree, StoreError> {
                $read!(self, (tenant, shard), |db| tree(db, tenant, *shard))
            }

            async fn thread_responses(
                &self,
                tenant: &Tenant,
                of: (Shard, ThreadId),
                range: (Seq, Seq),
                limit: usize,
            ) -> std::result::Result<Vec<ResponseRecord>, StoreError> {
                $read!(self, (tenant, of, range, limit), |db| {
                    let (shard, thread) = *of;
                    let key = ThreadKey::new(tenant, shard, thread);
                    responses::find_in_thread(db, key, *range, *limit)
                })
            }

            async fn response_record(
                &self,
                tenant: &Tenant,
                id: &ResponseId,
            ) -> std::result::Result<Option<ResponseRecord>, StoreError> {
                $read!(self, (tenant, id), |db| responses::find(db, tenant, id))
            }

            async fn thread_items(
                &self,
                tenant: &Tenant,
                of: (Shard, ThreadId),
                range: (Seq, Seq),
            ) -> std::result::Result<Vec<(Seq, HeldItem)>, StoreError> {
                $read!(self, (tenant, of, range), |db| thread_items(db, tenant, *of, *range))
            }

            async fn ledgers_after(
                &self,
                tenant: &Tenant,
                after: Option<&str>,
            ) -> std::result::Result<Vec<(String, LedgerEntry)>, StoreError> {
                $read!(self, (tenant, after), |db| pages::ledgers(db, tenant, *after))
            }

            async fn ledger(
                &self,
                tenant: &Tenant,
                provider_id: &str,
            ) -> std::result::Result<Option<LedgerEntry>, StoreError> {
                $read!(self, (tenant, provider_id), |db| {
                    ledger_names::find(db, tenant, provider_id)
                })
            }
        }
    };
}

implement_listings!(PostgresStore, read);
implement_listings!(PostgresSnapshot, read_snapshot);

async fn thread_items(
    db: &Session,
    tenant: &Tenant,
    (shard, thread): (Shard, ThreadId),
    (from, end): (Seq, Seq),
) -> Result<Vec<(Seq, HeldItem)>> {
    pages::items(db, ThreadKey::new(tenant, shard, thread), &(from..end)).await
}

async fn newest_responses(
    db: &Session,
    tenant: &Tenant,
    before: Option<Recency>,
) -> Result<NewestPage<ListedResponse>> {
    let before = before.unwrap_or(Recency::LATEST);
    let given = (before.created_at, before.number, tenant.as_str());
    let rows = db.rows(&NEWEST_RESPONSES, &[&given.2, &given.0, &given.1, &EXAMINED]).await?;
    let recency = |row: &Row| Recency { created_at: row.get(2), number: row.get(3) };
    let is_full = keys::limit(rows.len()) == EXAMINED;
    let next = rows.last().map(recency).filter(|_| is_full);
    let own = rows.iter().filter(|row| row.get(4));
    let entries = own.map(|row| read_listed(row, 0, recency(row))).collect::<Result<_>>()?;
    Ok(NewestPage { entries, next })
}

/// Reads a response from the columns id and conversation.
fn read_listed(row: &Row, from: usize, recency: Recency) -> Result<ListedResponse> {
    let id = ResponseId::parse(row.get(from)).ok_or_else(invalid_id)?;
    Ok(ListedResponse { id, conversation: read_conversation_id(row, from + 1)?, recency })
}

fn read_conversation_id(row: &Row, at: usize) -> Result<Option<ConversationId>> {
    let id: Option<&str> = row.get(at);
    id.map(|id| ConversationId::parse(id).ok_or_else(invalid_id)).transpose()
}

async fn newest_conversations(
    db: &Session,
    tenant: &Tenant,
    before: Option<&(i64, ConversationId)>,
    limit: usize,
) -> Result<Vec<Conversation>> {
    let (created_at, id) = before.map_or((i64::MAX, ""), |(at, id)| (*at, id.as_str()));
    let given = (tenant.as_str(), created_at, id, keys::limit(limit));
    let rows = db.rows(&NEWEST_CONVERSATIONS, &[&given.0, &given.1, &given.2, &given.3]).await?;
    rows.iter().map(|row| read_conversation(row, 0)).collect()
}

/// Reads a conversation from the columns id, `created_at`, metadata.
fn read_conversation(row: &Row, from: usize) -> Result<Conversation> {
    let id = ConversationId::parse(row.get(from)).ok_or_else(invalid_id)?;
    let metadata = Bytes::copy_from_slice(row.get(from + 2));
    Ok(Conversation { id, created_at: row.get(from + 1), metadata })
}

async fn tree(db: &Session, tenant: &Tenant, in_shard: Shard) -> Result<Tree> {
    let threads = tree_threads(db, tenant, in_shard).await?;
    let segments = tree_segments(db, tenant, in_shard).await?;
    let (tenant, shard) = (tenant.as_str(), shard(in_shard));
    let limit = keys::limit(MAX_TREE);
    let ledgers = db.rows(&LEDGERS, &[&tenant, &shard, &limit]).await?;
    let open_turns = db.rows(&OPEN_TURNS, &[&tenant, &shard, &limit]).await?;
    let jobs = db.rows(&JOBS, &[&tenant, &shard, &limit]).await?;
    let queued = db.rows(&QUEUED, &[&tenant, &shard, &limit]).await?;
    Ok(Tree {
        is_whole: threads.len() < MAX_TREE && segments.len() < MAX_TREE,
        threads,
        segments,
        ledgers: ledgers.iter().map(read_ledger).collect::<Result<_>>()?,
        open_turns: open_turns.iter().map(read_open_turn).collect::<Result<_>>()?,
        jobs: jobs
            .iter()
            .map(|row| ResponseId::parse(row.get(0)).ok_or_else(invalid_id))
            .collect::<Result<_>>()?,
        queued: queued.iter().filter_map(read_queue).collect(),
    })
}

fn read_ledger(found: &Row) -> Result<(String, LedgerEntry)> {
    Ok((row::text(found.get(0))?.to_owned(), ledger_names::read(found, 1)?))
}

fn read_open_turn(row: &Row) -> Result<ListedOpenTurn> {
    Ok(ListedOpenTurn {
        response: ResponseId::parse(row.get(0)).ok_or_else(invalid_id)?,
        conversation: read_conversation_id(row, 1)?,
        thread: row.get::<_, Option<i64>>(2).map(thread_from_column),
        created_at: row.get(3),
    })
}

fn read_queue(row: &Row) -> Option<(ConversationId, usize)> {
    let places = usize::try_from(row.get::<_, i64>(1)).unwrap_or(usize::MAX);
    Some((ConversationId::parse(row.get(0))?, places))
}

async fn tree_threads(db: &Session, tenant: &Tenant, in_shard: Shard) -> Result<Vec<ListedThread>> {
    let given = (tenant.as_str(), shard(in_shard), keys::limit(MAX_TREE));
    let rows = db.rows(&THREADS, &[&given.0, &given.1, &given.2]).await?;
    let mut listed = Vec::with_capacity(rows.len());
    for row in rows {
        let key = ThreadKey::new(tenant, in_shard, thread_from_column(row.get(0)));
        let is_named = row.get::<_, Option<&str>>(5).is_some();
        listed.push(ListedThread {
            record: threads::read_record(&row, key, 1),
            conversation: is_named.then(|| read_conversation(&row, 5)).transpose()?,
        });
    }
    Ok(listed)
}

async fn tree_segments(
    db: &Session,
    tenant: &Tenant,
    in_shard: Shard,
) -> Result<Vec<ListedSegment>> {
    let given = (tenant.as_str(), shard(in_shard), keys::limit(MAX_TREE));
    let rows = db.rows(&SEGMENTS, &[&given.0, &given.1, &given.2]).await?;
    rows.iter().map(read_segment).collect()
}

fn read_segment(row: &Row) -> Result<ListedSegment> {
    let listed = |created_at| Recency { created_at, number: row.get(5) };
    let created_at: Option<i64> = row.get(8);
    let response = created_at.map(|created_at| {
        Ok::<_, Failure>(ListedTurn {
            listed: read_listed(row, 6, listed(created_at))?,
            output_from: seq_from_column(row.get(9)),
            end: seq_from_column(row.get(10)),
        })
    });
    Ok(ListedSegment {
        thread: thread_from_column(row.get(0)),
        first: seq_from_column(row.get(1)),
        held: seq_from_column(row.get(2)),
        live: Usage::from_columns(row.get(3), row.get(4)),
        response: response.transpose()?,
    })
}

statements! {
    /// The newest responses of all tenants. Of those of others, only the positions.
    NEWEST_RESPONSES = "
        SELECT CASE WHEN tenant = $1 THEN id END, CASE WHEN tenant = $1 THEN conversation END,
               created_at, number, tenant = $1
        FROM segments
        WHERE created_at IS NOT NULL AND created_at <= $2
          AND (created_at, number) < ($2::bigint, $3::bigint)
        ORDER BY created_at DESC, number DESC LIMIT $4";
    NEWEST_CONVERSATIONS = "
        SELECT id, created_at, metadata FROM conversations
        WHERE tenant = $1 AND created_at <= $2
          AND (created_at, id) < ($2::bigint, $3::text COLLATE \"C\")
        ORDER BY created_at DESC, id DESC LIMIT $4";
    THREADS = "
        SELECT threads.thread, lineage, uptos, tip, named, id, created_at, metadata
        FROM threads LEFT JOIN conversations USING (tenant, shard, thread)
        WHERE tenant = $1 AND shard = $2 ORDER BY threads.thread LIMIT $3";
    SEGMENTS = "
        SELECT thread, first, held, live, bytes, number, id, conversation, created_at,
               output_from, end_at
        FROM segments WHERE tenant = $1 AND shard = $2
        ORDER BY thread, first, number LIMIT $3";
    LEDGERS = "
        SELECT provider_id, upstream, kept, in_doubt FROM ledgers
        WHERE tenant = $1 AND shard = $2 ORDER BY kept LIMIT $3";
    OPEN_TURNS = "
        SELECT id, into_conversation, thread, created_at FROM pending_turns
        WHERE tenant = $1 AND shard = $2 ORDER BY ordinal LIMIT $3";
    JOBS = "
        SELECT id FROM jobs WHERE tenant = $1 AND shard = $2 AND expires_at IS NULL
        ORDER BY id LIMIT $3";
    QUEUED = "
        SELECT conversation, count(*) FROM leases WHERE tenant = $1 AND shard = $2
        GROUP BY conversation ORDER BY conversation LIMIT $3";
}
