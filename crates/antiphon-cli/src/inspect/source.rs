//! The places that values come from: a store, or a running gateway.

use antiphon_gateway::inspect::model::{ConversationPage, ConversationView};
use antiphon_gateway::inspect::{Inspector, ListQuery, PageQuery};
use antiphon_gateway::settings::Prices;
use antiphon_store::{Listings, Snapshot, StoreError, Tenant};

use super::remote::Remote;
use crate::failure::Failure;
use crate::settings::Access;

/// Reads the values of a tenant.
pub(super) enum Source {
    /// From a store, as of the moment of each call.
    Store { access: Access, tenant: Tenant },
    /// From a gateway, for the tenant of the key.
    Gateway(Box<Remote>),
}

impl Source {
    /// Selects the tenant of a store. Without a name, the store must have exactly one.
    pub(super) async fn from_store(access: Access, name: Option<String>) -> Result<Self, Failure> {
        let mut snapshot = antiphon_store::snapshot(&access.store)
            .await
            .map_err(|error| Failure::store_not_opened(&error))?;
        let tenant = match name {
            Some(name) => Tenant::new(name),
            None => only_tenant(&mut *snapshot).await?,
        };
        Ok(Self::Store { access, tenant })
    }

    /// A page of conversations.
    pub(super) async fn conversations(
        &self,
        query: &ListQuery,
    ) -> Result<ConversationPage, Failure> {
        match self {
            Self::Gateway(remote) => remote.conversations(query).await,
            Self::Store { access, tenant } => {
                let listings = listings(access).await?;
                let prices = Prices::default();
                let inspector = Inspector::new(&*listings, tenant, &prices);
                inspector.conversations(query).await.map_err(|error| failure(&error))
            }
        }
    }

    /// A conversation with a page of turns; `None` if the tenant has none with this id.
    pub(super) async fn conversation(
        &self,
        id: &str,
        page: &PageQuery,
    ) -> Result<Option<ConversationView>, Failure> {
        match self {
            Self::Gateway(remote) => remote.conversation(id, page).await,
            Self::Store { access, tenant } => {
                let listings = listings(access).await?;
                let prices = Prices::default();
                let inspector = Inspector::new(&*listings, tenant, &prices);
                inspector.conversation(id, page).await.map_err(|error| failure(&error))
            }
        }
    }

    /// A conversation with its newest turns, at most `limit`, oldest first.
    pub(super) async fn newest_turns(
        &self,
        id: &str,
        limit: usize,
    ) -> Result<Option<ConversationView>, Failure> {
        let first = PageQuery { after: None, limit: Some(1) };
        let Some(mut view) = self.conversation(id, &first).await? else { return Ok(None) };
        view.turns.clear();
        let mut next = Some(view.summary.turns.saturating_sub(limit).to_string());
        while let Some(after) = next.filter(|_| view.turns.len() < limit) {
            let left = limit - view.turns.len();
            let query = PageQuery { after: Some(after), limit: Some(left) };
            let Some(page) = self.conversation(id, &query).await? else { return Ok(None) };
            let turns = std::mem::take(&mut view.turns);
            next = page.next.clone();
            view = page;
            view.turns.splice(0..0, turns);
        }
        Ok(Some(view))
    }
}

/// The data of a store, as of now.
async fn listings(access: &Access) -> Result<Box<dyn Listings>, Failure> {
    let opened = antiphon_store::listings(&access.store).await;
    opened.map_err(|error| Failure::store_not_opened(&error))
}

async fn only_tenant(snapshot: &mut dyn Snapshot) -> Result<Tenant, Failure> {
    let first = snapshot.next_tenant(None).await.map_err(|error| failure(&error))?;
    let first = first.ok_or_else(|| Failure::runtime("the store has no data of any tenant"))?;
    match snapshot.next_tenant(Some(&first)).await.map_err(|error| failure(&error))? {
        None => Ok(first),
        Some(_) => Err(Failure::usage(
            "the store has data of several tenants: give --tenant NAME; antiphon tenants lists \
             them",
        )),
    }
}

fn failure(error: &StoreError) -> Failure {
    Failure::runtime(error.to_string())
}
