//! Restores the objects of an export.

use std::collections::BTreeMap;

use antiphon::{HeldItem, ItemId};
use async_trait::async_trait;

use super::PostgresStore;
use super::calls::transact;
use super::failure::Failure;
use super::segments::{self, TurnResponse};
use super::session::Session;
use super::shared::Shared;
use super::transaction::{Effect, Lock, Transaction};
use super::{conversations, items, late_binding, ledger_names, responses, threads};
use crate::error::StoreError;
use crate::ids::{ShardedId as _, Tenant};
use crate::keys::ThreadKey;
use crate::ledger_records::{LedgerSubject, UpstreamId};
use crate::records::{Conversation, ResponseRange, Seq};
use crate::restore::{
    ItemFeed, Restored, RestoredObject, Restorer, ThreadRecord, other_conversation, other_ledger,
};

type Result<T> = std::result::Result<T, Failure>;

#[async_trait]
impl Restorer for PostgresStore {
    /// One attempt: the items of the feed exist once.
    async fn restore(
        &self,
        tenant: &Tenant,
        thread: ThreadRecord,
        object: RestoredObject,
        mut items: ItemFeed,
    ) -> std::result::Result<Restored, StoreError> {
        let (shared, tenant) = (self.shared.clone(), tenant.clone());
        self.call(async move {
            items.begin()?;
            Ok(restore_once(&shared, &tenant, &thread, &object, &mut items).await?)
        })
        .await
    }

    async fn restore_ledger(
        &self,
        tenant: &Tenant,
        named: UpstreamId,
        subject: LedgerSubject,
    ) -> std::result::Result<Restored, StoreError> {
        transact!(self, Synced, tree(tenant, subject.shard()), (named, subject), |db| {
            ledger(db, tenant, named, subject)
        })
    }
}

async fn restore_once(
    shared: &Shared,
    tenant: &Tenant,
    thread: &ThreadRecord,
    object: &RestoredObject,
    feed: &mut ItemFeed,
) -> Result<Restored> {
    let tree = Lock::Tree(tenant, thread.shard);
    let transaction = Transaction::new(shared.pool.borrow().await?);
    transaction.begin(Effect::Synced, tree).await?;
    match restore(&transaction, tenant, thread, object, feed).await {
        Ok(restored) => shared.conclude(transaction, restored).await,
        Err(failure) => {
            transaction.roll_back().await;
            Err(failure)
        }
    }
}

async fn restore(
    db: &Session,
    tenant: &Tenant,
    thread: &ThreadRecord,
    object: &RestoredObject,
    feed: &mut ItemFeed,
) -> Result<Restored> {
    if exists(db, tenant, thread, object).await? {
        return Ok(Restored::Exists);
    }
    let key = ThreadKey::new(tenant, thread.shard, thread.thread);
    let tip = threads::find(db, key).await?.map(|found| found.tip);
    if tip.is_none() {
        threads::create(db, key, thread).await?;
    }
    while let Some(batch) = feed.next().await? {
        let held = held_at(db, key, &batch).await?;
        let missing = thread.select_missing(batch, &held, tip)?;
        feed.count(&missing)?;
        append(db, key, &missing).await?;
    }
    create_object(db, tenant, key, object).await?;
    Ok(Restored::Created)
}

async fn exists(
    db: &Session,
    tenant: &Tenant,
    thread: &ThreadRecord,
    object: &RestoredObject,
) -> Result<bool> {
    match object {
        RestoredObject::Conversation { conversation, .. } => {
            match conversations::end(db, tenant, &conversation.id).await? {
                Some(end) if end.thread == thread.thread => Ok(true),
                // A resync moves a ledger to another thread.
                Some(_) if is_ledger(db, tenant, conversation).await? => Ok(true),
                Some(_) => Err(other_conversation().into()),
                None => Ok(false),
            }
        }
        RestoredObject::Response(record) => {
            Ok(responses::find(db, tenant, &record.response.id).await?.is_some())
        }
        RestoredObject::LooseItems => Ok(false),
    }
}

async fn is_ledger(db: &Session, tenant: &Tenant, conversation: &Conversation) -> Result<bool> {
    let subject = LedgerSubject::Conversation(conversation.id.clone());
    Ok(ledger_names::upstream_id(db, tenant, &subject).await?.is_some())
}

/// The ids of the items at the positions of a batch.
async fn held_at(
    db: &Session,
    key: ThreadKey<'_>,
    batch: &[(Seq, HeldItem)],
) -> Result<BTreeMap<Seq, ItemId>> {
    let ([(first, _), ..], [.., (last, _)]) = (batch, batch) else { return Ok(BTreeMap::new()) };
    let mut held = BTreeMap::new();
    for segment in segments::within(db, key, &(*first..last.saturating_add(1))).await? {
        held.extend(segment.items()?.map(|(seq, item)| (seq, item.id)));
    }
    Ok(held)
}

/// Appends items, one statement for each run of positions without a gap.
async fn append(db: &Session, key: ThreadKey<'_>, missing: &[(Seq, HeldItem)]) -> Result<()> {
    for run in missing.chunk_by(|(seq, _), (next, _)| seq.saturating_add(1) == *next) {
        items::append(db, key, run[0].0, run.iter().map(|(_, item)| item)).await?;
    }
    Ok(())
}

async fn create_object(
    db: &Session,
    tenant: &Tenant,
    key: ThreadKey<'_>,
    object: &RestoredObject,
) -> Result<()> {
    match object {
        RestoredObject::Conversation { conversation, binds_late } => {
            conversations::insert(db, tenant, conversation, key.id).await?;
            match binds_late {
                true => late_binding::mark(db, tenant, &conversation.id).await,
                false => Ok(()),
            }
        }
        RestoredObject::Response(record) => {
            let (response, range) = (&record.response, ResponseRange::from_record(record));
            let turn = TurnResponse { response, request: None, range };
            segments::append(db, key, range.input_from, std::iter::empty(), Some(turn)).await
        }
        RestoredObject::LooseItems => Ok(()),
    }
}

async fn ledger(
    db: &Session,
    tenant: &Tenant,
    named: &UpstreamId,
    subject: &LedgerSubject,
) -> Result<Restored> {
    match ledger_names::find(db, tenant, &named.id).await? {
        Some(entry) if entry.subject == *subject => Ok(Restored::Exists),
        Some(_) => Err(other_ledger().into()),
        None => match ledger_names::claim(db, tenant, named, subject, true).await? {
            entry if entry.subject == *subject => Ok(Restored::Created),
            _ => Err(other_ledger().into()),
        },
    }
}
