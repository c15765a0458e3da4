//! Inspects a database before a gateway starts. Creates and migrates nothing.

use tokio_postgres::Client;

use super::failure::Failure;
use super::schema;
use super::snapshot::{PostgresSnapshot, connect};
use crate::error::StoreError;
use crate::inspect::StoreState;

/// Inspects the database that a `postgres://` URL names.
///
/// # Errors
/// Fails if a gateway could not start on the database: it cannot be reached, its user may not
/// create tables, or the schema holds tables of another application or of a newer release.
pub(crate) async fn inspect(url: &str) -> Result<StoreState, StoreError> {
    let client = connect(url).await?;
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

async fn check_creatable(client: &Client) -> Result<(), Failure> {
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
