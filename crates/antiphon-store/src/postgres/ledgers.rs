//! Implements [`Ledgers`] for [`PostgresStore`].

use antiphon::{HeldItem, ItemId};
use async_trait::async_trait;

use super::calls::{read, transact};
use super::failure::Failure;
use super::session::Session;
use super::transaction::{Effect, Lock};
use super::{
    PostgresStore, conversations, item_ids, late_binding, ledger_names, queue_places, responses,
};
use crate::error::StoreError;
use crate::ids::{ConversationId, ResponseId, ShardedId as _, Tenant, ThreadId};
use crate::ledger_records::{Binding, LedgerEntry, LedgerSubject, UpstreamId};
use crate::ledgers::Ledgers;
use crate::records::{Conversation, QueuePlace};

type Result<T> = std::result::Result<T, StoreError>;

/// The number of attempts to delete a name that concurrent calls reassign.
const TRIES: usize = 8;

#[async_trait]
impl Ledgers for PostgresStore {
    async fn entry(&self, tenant: &Tenant, provider_id: &str) -> Result<Option<LedgerEntry>> {
        read!(self, (tenant, provider_id), |db| ledger_names::find(db, tenant, provider_id))
    }

    async fn upstream_id(
        &self,
        tenant: &Tenant,
        response: &ResponseId,
    ) -> Result<Option<UpstreamId>> {
        let subject = &LedgerSubject::Response(response.clone());
        read!(self, (tenant, subject), |db| ledger_names::upstream_id(db, tenant, subject))
    }

    async fn adopt(
        &self,
        tenant: &Tenant,
        named: UpstreamId,
        conversation: Conversation,
        thread: ThreadId,
    ) -> Result<LedgerEntry> {
        transact!(
            self,
            Synced,
            tree(tenant, conversation.id.shard()),
            (named, conversation, thread),
            |db| adopt(db, tenant, named, conversation, *thread)
        )
    }

    async fn announce(
        &self,
        tenant: &Tenant,
        named: UpstreamId,
        response: &ResponseId,
    ) -> Result<()> {
        let shared = self.shared.clone();
        let given = (tenant.clone(), named, LedgerSubject::Response(response.clone()));
        self.call(async move {
            let tree = Lock::Tree(&given.0, given.2.shard());
            let work =
                shared.write(Effect::Unsynced, tree, &given, |db, (tenant, named, subject)| {
                    Box::pin(ledger_names::enter(db, tenant, named, subject, true))
                });
            let outlived = work.await?;
            ledger_names::delete_outlived(&shared, &given.0, outlived).await;
            Ok(())
        })
        .await
    }

    async fn mark_stale(&self, tenant: &Tenant, conversation: &ConversationId) -> Result<()> {
        self.set_stale(tenant, conversation, true).await
    }

    async fn mark_fresh(&self, tenant: &Tenant, conversation: &ConversationId) -> Result<()> {
        self.set_stale(tenant, conversation, false).await
    }

    async fn resync(
        &self,
        tenant: &Tenant,
        conversation: &ConversationId,
        thread: ThreadId,
        items: Vec<HeldItem>,
        place: Option<QueuePlace>,
    ) -> Result<()> {
        let place = place.zip(Some(self.holder()));
        transact!(
            self,
            Synced,
            tree(tenant, conversation.shard()),
            (id = conversation.clone(), thread, items, place),
            |db| async move {
                if let Some((place, holder)) = place {
                    queue_places::check(db, tenant, id, *place, holder).await?;
                }
                resync(db, tenant, id, *thread, items).await
            }
        )
    }

    async fn create_unbound(
        &self,
        tenant: &Tenant,
        conversation: Conversation,
        thread: ThreadId,
        items: Vec<HeldItem>,
    ) -> Result<()> {
        transact!(
            self,
            Synced,
            tree(tenant, conversation.id.shard()),
            (conversation, thread, items),
            |db| async move {
                conversations::create(db, tenant, conversation, *thread, items).await?;
                late_binding::mark(db, tenant, &conversation.id).await
            }
        )
    }

    async fn binding(
        &self,
        tenant: &Tenant,
        conversation: &ConversationId,
    ) -> Result<Option<Binding>> {
        read!(self, (tenant, conversation), |db| late_binding::find(db, tenant, conversation))
    }

    async fn bind(
        &self,
        tenant: &Tenant,
        conversation: &ConversationId,
        named: UpstreamId,
        thread: ThreadId,
        place: Option<QueuePlace>,
    ) -> Result<bool> {
        let shared = self.shared.clone();
        let place = place.zip(Some(self.holder()));
        let given = (tenant.clone(), conversation.clone(), named, thread, place);
        self.call(async move {
            let tree = Lock::Tree(&given.0, given.1.shard());
            let work = shared.write(Effect::Synced, tree, &given, |db, given| {
                let (tenant, id, named, thread, place) = given;
                Box::pin(async move {
                    if let Some((place, holder)) = place {
                        queue_places::check(db, tenant, id, *place, holder).await?;
                    }
                    late_binding::bind(db, tenant, id, named, *thread).await
                })
            });
            let (is_bound, outlived) = work.await?;
            ledger_names::delete_outlived(&shared, &given.0, outlived).await;
            Ok(is_bound)
        })
        .await
    }

    async fn bind_locally(&self, tenant: &Tenant, conversation: &ConversationId) -> Result<bool> {
        let id = conversation.clone();
        transact!(self, Synced, tree(tenant, id.shard()), (id), |db| {
            late_binding::bind_locally(db, tenant, id)
        })
    }

    async fn has_any(&self) -> Result<bool> {
        read!(self, (), |db| ledger_names::any(db))
    }

    async fn is_ledger(&self, tenant: &Tenant, subject: &LedgerSubject) -> Result<bool> {
        read!(self, (tenant, subject), |db| ledger_names::is_named(db, tenant, subject))
    }

    async fn find_generated(&self, tenant: &Tenant, ids: &[ItemId]) -> Result<Vec<ItemId>> {
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        read!(self, (tenant, ids), |db| item_ids::find_generated(db, tenant, ids))
    }

    async fn forget(&self, tenant: &Tenant, provider_id: &str) -> Result<bool> {
        let (shared, tenant, name) = (self.shared.clone(), tenant.clone(), provider_id.to_owned());
        self.call(async move {
            for _ in 0..TRIES {
                let asked = (tenant.clone(), name.clone());
                let entry = shared
                    .run(&asked, |db, (tenant, name)| {
                        Box::pin(ledger_names::find(db, tenant, name))
                    })
                    .await?;
                let Some(entry) = entry else { return Ok(false) };
                let given = (asked, entry.subject);
                let tree = Lock::Tree(&tenant, given.1.shard());
                let work = shared.write(Effect::Synced, tree, &given, |db, (asked, subject)| {
                    Box::pin(ledger_names::forget(db, &asked.0, &asked.1, subject))
                });
                if work.await? {
                    return Ok(true);
                }
            }
            Err(StoreError::Unavailable(
                "a provider's id was reassigned during every attempt to delete it".into(),
            ))
        })
        .await
    }

    async fn expire_copies(&self, now: i64, max_bytes: u64) -> Result<usize> {
        transact!(self, Synced, unlocked, (now, max_bytes), |db| responses::expire_copies(
            db, *now, *max_bytes
        ))
    }
}

impl PostgresStore {
    async fn set_stale(
        &self,
        tenant: &Tenant,
        conversation: &ConversationId,
        is_stale: bool,
    ) -> Result<()> {
        let (tenant, id) = (tenant.clone(), conversation.clone());
        let set: Result<bool> = transact!(self, Unsynced, unlocked, (tenant, id, is_stale), |db| {
            ledger_names::set_stale(db, tenant, id, *is_stale)
        });
        set.map(drop)
    }
}

async fn adopt(
    db: &Session,
    tenant: &Tenant,
    named: &UpstreamId,
    conversation: &Conversation,
    thread: ThreadId,
) -> std::result::Result<LedgerEntry, Failure> {
    let subject = LedgerSubject::Conversation(conversation.id.clone());
    let entry = ledger_names::claim(db, tenant, named, &subject, true).await?;
    if entry.subject == subject {
        conversations::create(db, tenant, conversation, thread, &[]).await?;
    }
    Ok(entry)
}

async fn resync(
    db: &Session,
    tenant: &Tenant,
    id: &ConversationId,
    thread: ThreadId,
    items: &[HeldItem],
) -> std::result::Result<(), Failure> {
    if !ledger_names::set_stale(db, tenant, id, false).await? {
        return Err(StoreError::ConversationNotFound.into());
    }
    conversations::rebase(db, tenant, id, thread, items).await
}
