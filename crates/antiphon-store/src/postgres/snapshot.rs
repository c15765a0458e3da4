//! A consistent read of a whole database: one reading transaction on its own connection.

use std::ops::Range;

use antiphon::HeldItem;
use async_trait::async_trait;
use bytes::Bytes;
use tokio_postgres::Client;

use super::failure::{Failure, describe};
use super::pool::Connector;
use super::session::Session;
use super::settings::Settings;
use super::{data_counts, named_values, pages, pending_turns, responses, schema, threads, tls};
use crate::description::StoreDescription;
use crate::error::StoreError;
use crate::ids::{ConversationId, ResponseId, Shard, Tenant, ThreadId};
use crate::keys::ThreadKey;
use crate::ledger_records::LedgerEntry;
use crate::records::{ResponseRecord, Seq, TurnRecord};
use crate::restore::ThreadRecord;
use crate::snapshot::{
    DataCounts, ItemPlace, ListedConversation, LooseItems, Snapshot, StoreState,
};
use crate::usage::Usage;

type Result<T> = std::result::Result<T, StoreError>;

/// A [`Snapshot`] of a database.
pub(crate) struct PostgresSnapshot {
    pub(super) db: Session,
}

/// The first query fixes the moment that the transaction sees. The transaction has no idle timeout,
/// because the reader may process a page for any length of time.
const BEGIN: &str = "
    BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY;
    SET LOCAL idle_in_transaction_session_timeout = 0;
    SELECT 1";

impl PostgresSnapshot {
    /// Takes a snapshot of the database that a `postgres://` URL names. It does not count as a
    /// process that has the store open. Rejects tables of another version without changing them.
    pub(crate) async fn take(url: &str) -> Result<Self> {
        let client = connect(url).await?;
        schema::check_current(&client).await?;
        let db = Session::reading(client).await.map_err(Failure::from)?;
        db.command(BEGIN).await?;
        Ok(Self { db })
    }
}

/// Inspects the database that a `postgres://` URL names.
///
/// # Errors
/// Fails if a gateway could not start on the database: it cannot be reached, its user may not
/// create tables, it accepts no writes, or the schema holds tables of another application or of a
/// newer release.
pub(crate) async fn inspect(url: &str) -> Result<StoreState> {
    let client = connect(url).await?;
    check_writable(&client).await?;
    if !schema::has_tables(&client).await?.1 {
        check_creatable(&client).await?;
        return Ok(StoreState::Absent);
    }
    if schema::is_outdated(&client).await? {
        return Ok(StoreState::Outdated);
    }
    drop(client);
    Ok(StoreState::Current(Box::new(PostgresSnapshot::take(url).await?)))
}

/// Describes the database that a `postgres://` URL names.
pub(crate) async fn describe_database(url: &str) -> Result<StoreDescription> {
    let client = connect(url).await?;
    let row = client.query_one("SHOW server_version", &[]).await.map_err(Failure::from)?;
    let tables = match schema::has_tables(&client).await?.1 {
        true => schema::version(&client).await?,
        false => None,
    };
    Ok(StoreDescription {
        software: format!("PostgreSQL {}", row.get::<_, &str>(0)),
        tables,
        latest_tables: schema::latest(),
        ..StoreDescription::default()
    })
}

/// A standby accepts no writes, and neither does a database or a user that is set to read only.
async fn check_writable(client: &Client) -> std::result::Result<(), Failure> {
    let is_read_only = "SELECT current_setting('transaction_read_only')::boolean";
    match client.query_one(is_read_only, &[]).await?.get(0) {
        false => Ok(()),
        true => Err(Failure::Refused(StoreError::Unavailable(
            "the database accepts no writes: it is a standby, or set to read only".to_owned(),
        ))),
    }
}

async fn check_creatable(client: &Client) -> std::result::Result<(), Failure> {
    let may_create = "SELECT has_schema_privilege(current_schema(), 'CREATE'), current_user";
    let row = client.query_one(may_create, &[]).await?;
    match row.get(0) {
        true => Ok(()),
        false => Err(Failure::Refused(StoreError::Unavailable(format!(
            "the user {} may not create tables in the database; grant CREATE on its schema",
            row.get::<_, &str>(1)
        )))),
    }
}

/// Opens a connection outside the pool of a store.
async fn connect(url: &str) -> Result<Client> {
    let settings = Settings::parse(url).map_err(StoreError::Unavailable)?;
    let tls = tls::connector(&settings.trust).map_err(StoreError::Unavailable)?;
    Connector::new(settings.config, tls).connect().await.map_err(|error| {
        let reason = describe(&error);
        StoreError::Unavailable(format!("PostgreSQL cannot be reached: {reason}"))
    })
}

#[async_trait]
impl Snapshot for PostgresSnapshot {
    async fn next_tenant(&mut self, after: Option<&Tenant>) -> Result<Option<Tenant>> {
        Ok(data_counts::next_tenant(&self.db, after).await?)
    }

    async fn count_data(&mut self, tenant: &Tenant) -> Result<DataCounts> {
        Ok(data_counts::count(&self.db, tenant).await?)
    }

    async fn usage(&mut self, tenant: &Tenant) -> Result<Usage> {
        Ok(data_counts::tenant_usage(&self.db, tenant).await?)
    }

    async fn value(&mut self, name: &'static str) -> Result<Option<Bytes>> {
        Ok(named_values::find(&self.db, name).await?)
    }

    async fn conversations(
        &mut self,
        tenant: &Tenant,
        after: Option<&ConversationId>,
    ) -> Result<Vec<ListedConversation>> {
        Ok(pages::conversations(&self.db, tenant, after).await?)
    }

    async fn responses(
        &mut self,
        tenant: &Tenant,
        after: Option<&ResponseId>,
    ) -> Result<Vec<ResponseId>> {
        Ok(pages::responses(&self.db, tenant, after).await?)
    }

    async fn response(
        &mut self,
        tenant: &Tenant,
        id: &ResponseId,
    ) -> Result<Option<ResponseRecord>> {
        Ok(responses::find(&self.db, tenant, id).await?)
    }

    async fn ledgers(
        &mut self,
        tenant: &Tenant,
        after: Option<&str>,
    ) -> Result<Vec<(String, LedgerEntry)>> {
        Ok(pages::ledgers(&self.db, tenant, after).await?)
    }

    async fn pending_turns(
        &mut self,
        tenant: &Tenant,
        after: Option<&ResponseId>,
    ) -> Result<Vec<ResponseId>> {
        Ok(pages::pending_turns(&self.db, tenant, after).await?)
    }

    async fn pending_turn(
        &mut self,
        tenant: &Tenant,
        id: &ResponseId,
    ) -> Result<Option<TurnRecord>> {
        Ok(pending_turns::read(&self.db, tenant, id).await?)
    }

    async fn thread(
        &mut self,
        tenant: &Tenant,
        (shard, thread): (Shard, ThreadId),
    ) -> Result<Option<ThreadRecord>> {
        Ok(threads::record(&self.db, ThreadKey::new(tenant, shard, thread)).await?)
    }

    async fn items(
        &mut self,
        tenant: &Tenant,
        (shard, thread): (Shard, ThreadId),
        range: Range<Seq>,
    ) -> Result<Vec<(Seq, HeldItem)>> {
        let key = ThreadKey::new(tenant, shard, thread);
        Ok(pages::items(&self.db, key, &range).await?)
    }

    async fn loose_items(
        &mut self,
        tenant: &Tenant,
        after: Option<ItemPlace>,
    ) -> Result<LooseItems> {
        Ok(pages::loose_items(&self.db, tenant, after).await?)
    }
}
