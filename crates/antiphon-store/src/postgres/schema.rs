//! The tables, and the migration of databases of earlier versions.

use tokio_postgres::Client;

use super::failure::Failure;
use super::move_items::move_items;
use crate::error::StoreError;

/// The steps from an empty schema to the current tables. The statements of a released step never
/// change.
const STEPS: &[&str] = &[
    include_str!("schema.sql"),
    include_str!("retention.sql"),
    include_str!("background.sql"),
    include_str!("webhooks.sql"),
    include_str!("ledgers.sql"),
    include_str!("late_binding.sql"),
    include_str!("usage.sql"),
    include_str!("watches.sql"),
    include_str!("copies.sql"),
    include_str!("segments.sql"),
    include_str!("moved.sql"),
    include_str!("listings.sql"),
];

/// The step after which the items move to its tables.
const SEGMENTS: &str = include_str!("segments.sql");

/// The lock admits one migration at a time in the whole database, in any of its schemas. Its number
/// is the application id of our SQLite files.
const BEGIN: &str = "
    BEGIN;
    SET LOCAL statement_timeout = '5min';
    SELECT pg_advisory_xact_lock(1097757808);";

/// The version of the schema. The table is missing if the schema holds none of our tables.
const VERSION: &str = "SELECT version FROM antiphon_schema";

const CREATE_VERSION: &str = "
    CREATE TABLE antiphon_schema (
        is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
        version integer NOT NULL
    );
    INSERT INTO antiphon_schema (version) VALUES (0);";

/// The current schema, whether it is marked as ours, and whether it has relations that belong to no
/// extension.
const OWNER: &str = "
    SELECT current_schema(),
           to_regclass(quote_ident(current_schema()) || '.antiphon_schema') IS NOT NULL,
           EXISTS (
               SELECT FROM pg_class
               WHERE relnamespace = to_regnamespace(quote_ident(current_schema()))
                 AND relkind IN ('r', 'p', 'v', 'm', 'f', 'S')
                 AND NOT EXISTS (SELECT FROM pg_depend
                                 WHERE objid = pg_class.oid AND deptype = 'e')
           )";

/// Migrates the tables of the connection's current schema. If several processes start at once, one
/// of them migrates. Rejects, without a change, a schema of a newer version or with another
/// application's tables.
pub(super) async fn migrate(client: &Client) -> Result<(), Failure> {
    client.batch_execute(BEGIN).await?;
    let migrated = step_up(client).await;
    let end = if migrated.is_ok() { "COMMIT" } else { "ROLLBACK" };
    let ended = client.batch_execute(end).await;
    migrated?;
    Ok(ended?)
}

/// Rejects a schema whose tables are not of the current version, or not ours.
pub(super) async fn check_current(client: &Client) -> Result<(), Failure> {
    let row = client.query_one(OWNER, &[]).await?;
    if !row.get::<_, bool>(1) {
        return Err(refused("the database holds no store of Antiphon's in its current schema"));
    }
    let version: i32 = client.query_one(VERSION, &[]).await?.get(0);
    let schema: String = row.get(0);
    if check_known(&schema, version)?.is_empty() {
        return Ok(());
    }
    Err(refused(format!(
        "the schema {schema} was written by an earlier version of Antiphon (version {version} of \
         its tables; this one, {}, needs {}). Start a gateway on it to migrate it",
        env!("CARGO_PKG_VERSION"),
        STEPS.len(),
    )))
}

/// The steps from `version` to the current tables. Rejects a version that only a newer release
/// knows.
fn check_known(schema: &str, version: i32) -> Result<&'static [&'static str], Failure> {
    let done = usize::try_from(version).unwrap_or(usize::MAX);
    let newer = || StoreError::newer_schema(&format!("the schema {schema}"), version, STEPS.len());
    STEPS.get(done..).ok_or_else(|| Failure::Refused(newer()))
}

/// The name of the current schema, and whether it has our tables in any version. Rejects a schema
/// that holds another application's tables.
pub(super) async fn has_tables(client: &Client) -> Result<(String, bool), Failure> {
    let row = client.query_one(OWNER, &[]).await?;
    let schema: Option<String> = row.get(0);
    let (is_ours, is_taken): (bool, bool) = (row.get(1), row.get(2));
    let schema = schema.ok_or_else(|| {
        refused("the database has no current schema: no schema of the search_path exists")
    })?;
    if is_taken && !is_ours {
        return Err(refused(format!("the schema {schema} holds another application's tables")));
    }
    Ok((schema, is_ours))
}

/// The version of the current tables.
pub(super) fn latest() -> usize {
    STEPS.len()
}

/// The version of the tables.
pub(super) async fn version(client: &Client) -> Result<Option<usize>, Failure> {
    let version: i32 = client.query_one(VERSION, &[]).await?.get(0);
    Ok(usize::try_from(version).ok())
}

/// Whether the tables are those of an earlier version.
pub(super) async fn is_outdated(client: &Client) -> Result<bool, Failure> {
    Ok(version(client).await?.is_some_and(|version| version < latest()))
}

async fn step_up(client: &Client) -> Result<(), Failure> {
    let (schema, has_tables) = has_tables(client).await?;
    if !has_tables {
        client.batch_execute(CREATE_VERSION).await?;
    }
    let version: i32 = client.query_one(VERSION, &[]).await?.get(0);
    for step in check_known(&schema, version)? {
        client.batch_execute(step).await?;
        if *step == SEGMENTS {
            move_items(client).await?;
        }
        client.execute("UPDATE antiphon_schema SET version = version + 1", &[]).await?;
    }
    Ok(())
}

fn refused(reason: impl Into<String>) -> Failure {
    Failure::Refused(StoreError::Unavailable(reason.into()))
}
