//! Implements [`LeaseQueue`] for [`PostgresStore`].

use std::sync::Arc;

use async_trait::async_trait;
use futures_util::future::BoxFuture;

use super::abandoned_places::DrawnPlaces;
use super::failure::Failure;
use super::queue_places::{self, Ahead};
use super::session::Session;
use super::transaction::{Effect, Lock};
use super::{PostgresStore, pending_turns};
use crate::error::StoreError;
use crate::ids::{ConversationId, Tenant};
use crate::records::QueuePlace;
use crate::store::LeaseQueue;

type Result<T> = std::result::Result<T, StoreError>;

#[async_trait]
impl LeaseQueue for PostgresStore {
    /// If the caller stops waiting, its place is given up, so that it does not block the queue.
    async fn join(&self, tenant: &Tenant, id: &ConversationId) -> Result<QueuePlace> {
        self.check_open()?;
        let drawn = DrawnPlaces::new(self.heartbeat.abandoned());
        let given = (tenant, id, &self.shared.holder, &drawn);
        let joined = self
            .shared
            .write(Effect::Unsynced, Lock::LeaseQueue(tenant, id), &given, |db, given| {
                let (tenant, id, holder, drawn) = given;
                Box::pin(queue_places::join(db, tenant, id, holder, drawn))
            })
            .await;
        joined.inspect(|place| drawn.keep(*place))
    }

    /// Settles the pending turns of dead processes before this place, then removes their places.
    async fn is_first(
        &self,
        tenant: &Tenant,
        id: &ConversationId,
        place: QueuePlace,
    ) -> Result<bool> {
        let shared = self.shared.clone();
        let given = (tenant.clone(), id.clone(), place, self.shared.holder.clone());
        self.call(async move {
            match shared.run(&given, ahead).await? {
                Ahead::Nobody => return Ok(true),
                Ahead::Living => return Ok(false),
                Ahead::Dead => {}
            }
            pending_turns::settle_in_tree(&shared, &given.0, given.1.shard()).await?;
            shared
                .run(&given, |db, (tenant, id, place, _)| {
                    Box::pin(queue_places::pass_over(db, tenant, id, *place))
                })
                .await?;
            Ok(shared.run(&given, ahead).await? == Ahead::Nobody)
        })
        .await
    }

    /// If the database cannot be reached, the place is deleted with a later heartbeat.
    async fn leave(&self, tenant: &Tenant, id: &ConversationId, place: QueuePlace) -> Result<()> {
        let (shared, abandoned) = (self.shared.clone(), Arc::clone(self.heartbeat.abandoned()));
        let given = (tenant.clone(), id.clone(), place, self.shared.holder.clone());
        self.call(async move {
            let left = shared.run(&given, |db, (tenant, id, place, holder)| {
                Box::pin(queue_places::leave(db, tenant, id, *place, holder))
            });
            left.await.inspect_err(|_| abandoned.add(place))
        })
        .await
    }
}

type PlaceKey = (Tenant, ConversationId, QueuePlace, String);

fn ahead<'a>(
    db: &'a Session,
    given: &'a PlaceKey,
) -> BoxFuture<'a, std::result::Result<Ahead, Failure>> {
    let (tenant, id, place, holder) = given;
    Box::pin(queue_places::ahead(db, tenant, id, *place, holder))
}
