//! Restores the objects of an export.

use std::collections::BTreeMap;

use antiphon::{HeldItem, ItemId};
use async_trait::async_trait;
use rusqlite::{Connection, params};

use super::SqliteStore;
use super::keys::{ThreadKey, position, thread};
use super::segments::{self, TurnResponse};
use super::writer::Effect;
use super::{conversations, late_binding, ledger_names, responses, threads};
use crate::error::StoreError;
use crate::ids::Tenant;
use crate::ledger_records::{LedgerSubject, UpstreamId};
use crate::records::{Conversation, ResponseRange, Seq};
use crate::restore::{
    ItemFeed, Restored, RestoredObject, Restorer, ThreadRecord, other_conversation, other_ledger,
};

type Result<T> = std::result::Result<T, StoreError>;

#[async_trait]
impl Restorer for SqliteStore {
    async fn restore(
        &self,
        tenant: &Tenant,
        thread: ThreadRecord,
        object: RestoredObject,
        mut items: ItemFeed,
    ) -> Result<Restored> {
        let tenant = tenant.clone();
        self.write(Effect::Restoring, move |db| {
            items.begin()?;
            restore(db, &tenant, &thread, &object, &mut items)
        })
        .await
    }

    async fn restore_ledger(
        &self,
        tenant: &Tenant,
        named: UpstreamId,
        subject: LedgerSubject,
    ) -> Result<Restored> {
        let tenant = tenant.clone();
        self.write(Effect::Synced, move |db| ledger(db, &tenant, &named, &subject)).await
    }
}

fn restore(
    db: &Connection,
    tenant: &Tenant,
    thread: &ThreadRecord,
    object: &RestoredObject,
    feed: &mut ItemFeed,
) -> Result<Restored> {
    if exists(db, tenant, thread, object)? {
        return Ok(Restored::Exists);
    }
    let key = ThreadKey::new(tenant, thread.shard, thread.thread);
    let tip = threads::find(db, key)?.map(|found| found.tip);
    if tip.is_none() {
        create_thread(db, key, thread)?;
    }
    while let Some(batch) = feed.blocking_next()? {
        let held = held_at(db, key, &batch)?;
        let missing = thread.select_missing(batch, &held, tip)?;
        feed.count(&missing)?;
        for run in missing.chunk_by(|(seq, _), (next, _)| seq + 1 == *next) {
            segments::append(db, key, run[0].0, run.iter().map(|(_, item)| item), None)?;
        }
    }
    create_object(db, tenant, key, object)?;
    Ok(Restored::Created)
}

fn exists(
    db: &Connection,
    tenant: &Tenant,
    thread: &ThreadRecord,
    object: &RestoredObject,
) -> Result<bool> {
    match object {
        RestoredObject::Conversation { conversation, .. } => {
            match conversations::end(db, tenant, &conversation.id)? {
                Some(end) if end.thread == thread.thread => Ok(true),
                // A resync moves a ledger to another thread.
                Some(_) if is_ledger(db, tenant, conversation)? => Ok(true),
                Some(_) => Err(other_conversation()),
                None => Ok(false),
            }
        }
        RestoredObject::Response(record) => {
            Ok(responses::find(db, tenant, &record.response.id)?.is_some())
        }
        RestoredObject::LooseItems => Ok(false),
    }
}

fn create_thread(db: &Connection, key: ThreadKey<'_>, record: &ThreadRecord) -> Result<()> {
    const SQL: &str = "
        INSERT INTO threads (tenant, shard, thread, first, segment, held, live, bytes,
                             lineage, parent, base, tip, named)
        VALUES (?1, ?2, ?3, 0x7fffffffffffffff, 0, 0, 0, 0, ?4, ?5, ?6, ?7, ?8)";
    let lineage: Vec<(i64, i64)> =
        record.lineage.iter().map(|(id, upto)| (thread(*id), position(*upto))).collect();
    let lineage = serde_json::to_string(&lineage).expect("numbers are always valid JSON");
    db.prepare_cached(SQL)?.execute(params![
        key.tenant(),
        key.shard(),
        key.thread(),
        lineage,
        record.parent().map(thread),
        position(record.base()),
        position(record.tip),
        record.is_named,
    ])?;
    Ok(())
}

fn is_ledger(db: &Connection, tenant: &Tenant, conversation: &Conversation) -> Result<bool> {
    let subject = LedgerSubject::Conversation(conversation.id.clone());
    Ok(ledger_names::upstream_id(db, tenant, &subject)?.is_some())
}

/// The ids of the items at the positions of a batch.
fn held_at(
    db: &Connection,
    key: ThreadKey<'_>,
    batch: &[(Seq, HeldItem)],
) -> Result<BTreeMap<Seq, ItemId>> {
    let ([(first, _), ..], [.., (last, _)]) = (batch, batch) else { return Ok(BTreeMap::new()) };
    let mut held = BTreeMap::new();
    for entry in segments::within(db, key, (*first, last.saturating_add(1)))? {
        held.extend(entry.items(db)?.map(|(seq, item)| (seq, item.id)));
    }
    Ok(held)
}

fn create_object(
    db: &Connection,
    tenant: &Tenant,
    key: ThreadKey<'_>,
    object: &RestoredObject,
) -> Result<()> {
    match object {
        RestoredObject::Conversation { conversation, binds_late } => {
            conversations::insert(db, tenant, conversation, key.id)?;
            match binds_late {
                true => late_binding::mark(db, tenant, &conversation.id),
                false => Ok(()),
            }
        }
        RestoredObject::Response(record) => {
            let (response, range) = (&record.response, ResponseRange::from_record(record));
            let turn = TurnResponse { response, request: None, range };
            segments::append(db, key, range.input_from, [], Some(turn)).map(drop)
        }
        RestoredObject::LooseItems => Ok(()),
    }
}

fn ledger(
    db: &Connection,
    tenant: &Tenant,
    named: &UpstreamId,
    subject: &LedgerSubject,
) -> Result<Restored> {
    match ledger_names::find(db, tenant, &named.id)? {
        Some(entry) if entry.subject == *subject => Ok(Restored::Exists),
        Some(_) => Err(other_ledger()),
        None => {
            ledger_names::enter(db, tenant, named, subject, true)?;
            Ok(Restored::Created)
        }
    }
}
