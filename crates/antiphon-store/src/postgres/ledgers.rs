//! Implements [`Ledgers`] for [`PostgresStore`].

use antiphon::{HeldItem, ItemId};
use async_trait::async_trait;

use super::failure::Failure;
use super::session::Session;
use super::transaction::{Effect, Lock};
use super::{PostgresStore, conversations, late_binding, line, names, places};
use crate::error::StoreError;
use crate::ids::{ConversationId, ResponseId, Tenant, ThreadId};
use crate::ledger_records::{Binding, Kept, LedgerEntry, Named};
use crate::ledgers::Ledgers;
use crate::records::{Conversation, Place};

type Result<T> = std::result::Result<T, StoreError>;

/// The number of attempts to delete a name that concurrent calls reassign.
const TRIES: usize = 8;

impl PostgresStore {
    async fn set_stale(
        &self,
        tenant: &Tenant,
        conversation: &ConversationId,
        is_stale: bool,
    ) -> Result<()> {
        let given = (tenant.clone(), conversation.clone(), is_stale);
        let shared = self.shared.clone();
        self.call(async move {
            let work = shared.write(
                Effect::Unsynced,
                Lock::Nothing,
                &given,
                |db, (tenant, id, is_stale)| Box::pin(names::set_stale(db, tenant, id, *is_stale)),
            );
            work.await.map(drop)
        })
        .await
    }
}

#[async_trait]
impl Ledgers for PostgresStore {
    async fn entry(&self, tenant: &Tenant, provider_id: &str) -> Result<Option<LedgerEntry>> {
        self.check_open()?;
        self.shared
            .run(&(tenant, provider_id), |db, (tenant, name)| {
                Box::pin(names::find(db, tenant, name))
            })
            .await
    }

    async fn name_of(&self, tenant: &Tenant, response: &ResponseId) -> Result<Option<Named>> {
        self.check_open()?;
        let kept = Kept::Response(response.clone());
        self.shared
            .run(&(tenant, kept), |db, (tenant, kept)| Box::pin(names::name_of(db, tenant, kept)))
            .await
    }

    async fn adopt(
        &self,
        tenant: &Tenant,
        named: Named,
        conversation: Conversation,
        thread: ThreadId,
    ) -> Result<LedgerEntry> {
        let shared = self.shared.clone();
        let given = (tenant.clone(), named, conversation, thread);
        self.call(async move {
            let tree = Lock::Tree(&given.0, given.2.id.shard());
            let work = shared.write(Effect::Synced, tree, &given, |db, given| {
                let (tenant, named, conversation, thread) = given;
                Box::pin(adopt(db, tenant, named, conversation, *thread))
            });
            work.await
        })
        .await
    }

    async fn announce(&self, tenant: &Tenant, named: Named, response: &ResponseId) -> Result<()> {
        let shared = self.shared.clone();
        let given = (tenant.clone(), named, Kept::Response(response.clone()));
        self.call(async move {
            let tree = Lock::Tree(&given.0, given.2.shard());
            let work = shared.write(Effect::Unsynced, tree, &given, |db, (tenant, named, kept)| {
                Box::pin(names::enter(db, tenant, named, kept, true))
            });
            let outlived = work.await?;
            names::delete_outlived(&shared, &given.0, outlived).await;
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

    async fn relearn(
        &self,
        tenant: &Tenant,
        conversation: &ConversationId,
        thread: ThreadId,
        items: Vec<HeldItem>,
        place: Option<Place>,
    ) -> Result<()> {
        let shared = self.shared.clone();
        let place = place.zip(Some(shared.holder.clone()));
        let given = (tenant.clone(), conversation.clone(), thread, items, place);
        self.call(async move {
            let tree = Lock::Tree(&given.0, given.1.shard());
            let work = shared.write(Effect::Synced, tree, &given, |db, given| {
                let (tenant, id, thread, items, place) = given;
                Box::pin(async move {
                    if let Some((place, holder)) = place {
                        line::check(db, tenant, id, *place, holder).await?;
                    }
                    relearn(db, tenant, id, *thread, items).await
                })
            });
            work.await
        })
        .await
    }

    async fn create_unbound(
        &self,
        tenant: &Tenant,
        conversation: Conversation,
        thread: ThreadId,
        items: Vec<HeldItem>,
    ) -> Result<()> {
        let shared = self.shared.clone();
        let given = (tenant.clone(), conversation, thread, items);
        self.call(async move {
            let tree = Lock::Tree(&given.0, given.1.id.shard());
            let work = shared.write(Effect::Synced, tree, &given, |db, given| {
                let (tenant, conversation, thread, items) = given;
                Box::pin(async move {
                    conversations::create(db, tenant, conversation, *thread, items).await?;
                    late_binding::mark(db, tenant, &conversation.id).await
                })
            });
            work.await
        })
        .await
    }

    async fn binding(
        &self,
        tenant: &Tenant,
        conversation: &ConversationId,
    ) -> Result<Option<Binding>> {
        self.check_open()?;
        self.shared
            .run(&(tenant, conversation), |db, (tenant, id)| {
                Box::pin(late_binding::find(db, tenant, id))
            })
            .await
    }

    async fn bind(
        &self,
        tenant: &Tenant,
        conversation: &ConversationId,
        named: Named,
        thread: ThreadId,
        place: Option<Place>,
    ) -> Result<bool> {
        let shared = self.shared.clone();
        let place = place.zip(Some(shared.holder.clone()));
        let given = (tenant.clone(), conversation.clone(), named, thread, place);
        self.call(async move {
            let tree = Lock::Tree(&given.0, given.1.shard());
            let work = shared.write(Effect::Synced, tree, &given, |db, given| {
                let (tenant, id, named, thread, place) = given;
                Box::pin(async move {
                    if let Some((place, holder)) = place {
                        line::check(db, tenant, id, *place, holder).await?;
                    }
                    late_binding::bind(db, tenant, id, named, *thread).await
                })
            });
            let (is_bound, outlived) = work.await?;
            names::delete_outlived(&shared, &given.0, outlived).await;
            Ok(is_bound)
        })
        .await
    }

    async fn keep_here(&self, tenant: &Tenant, conversation: &ConversationId) -> Result<bool> {
        let shared = self.shared.clone();
        let given = (tenant.clone(), conversation.clone());
        self.call(async move {
            let tree = Lock::Tree(&given.0, given.1.shard());
            let work = shared.write(Effect::Synced, tree, &given, |db, (tenant, id)| {
                Box::pin(late_binding::keep_here(db, tenant, id))
            });
            work.await
        })
        .await
    }

    async fn any(&self) -> Result<bool> {
        self.check_open()?;
        self.shared.run(&(), |db, ()| Box::pin(names::any(db))).await
    }

    async fn is_ledger(&self, tenant: &Tenant, kept: &Kept) -> Result<bool> {
        self.check_open()?;
        self.shared
            .run(&(tenant, kept), |db, (tenant, kept)| Box::pin(names::is_named(db, tenant, kept)))
            .await
    }

    async fn made(&self, tenant: &Tenant, ids: &[ItemId]) -> Result<Vec<ItemId>> {
        self.check_open()?;
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        self.shared
            .run(&(tenant, ids), |db, (tenant, ids)| Box::pin(places::made(db, tenant, ids)))
            .await
    }

    async fn forget(&self, tenant: &Tenant, provider_id: &str) -> Result<bool> {
        let (shared, tenant, name) = (self.shared.clone(), tenant.clone(), provider_id.to_owned());
        self.call(async move {
            for _ in 0..TRIES {
                let asked = (tenant.clone(), name.clone());
                let entry = shared
                    .run(&asked, |db, (tenant, name)| Box::pin(names::find(db, tenant, name)))
                    .await?;
                let Some(entry) = entry else { return Ok(false) };
                let given = (asked, entry.kept);
                let tree = Lock::Tree(&tenant, given.1.shard());
                let work = shared.write(Effect::Synced, tree, &given, |db, (asked, kept)| {
                    Box::pin(names::forget(db, &asked.0, &asked.1, kept))
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
}

async fn adopt(
    db: &Session,
    tenant: &Tenant,
    named: &Named,
    conversation: &Conversation,
    thread: ThreadId,
) -> std::result::Result<LedgerEntry, Failure> {
    let kept = Kept::Conversation(conversation.id.clone());
    let entry = names::claim(db, tenant, named, &kept, true).await?;
    if entry.kept == kept {
        conversations::create(db, tenant, conversation, thread, &[]).await?;
    }
    Ok(entry)
}

async fn relearn(
    db: &Session,
    tenant: &Tenant,
    id: &ConversationId,
    thread: ThreadId,
    items: &[HeldItem],
) -> std::result::Result<(), Failure> {
    if !names::set_stale(db, tenant, id, false).await? {
        return Err(StoreError::ConversationNotFound.into());
    }
    conversations::rebase(db, tenant, id, thread, items).await
}
